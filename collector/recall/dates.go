package recall

import "time"

// dateRange is a stretch of days that a prompt names.
type dateRange struct{ from, to time.Time }

func findDates(string) []dateRange { return nil }
