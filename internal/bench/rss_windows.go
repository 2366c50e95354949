package bench

import "os"

func maxRSS(*os.ProcessState) int64 { return 0 }

func residentMB(int) int { return 0 }
