package bench

import (
	"os"
	"time"
)

func maxRSS(*os.ProcessState) int64 { return 0 }

func residentMB(int) int { return 0 }

func processorTime(int) time.Duration { return 0 }
