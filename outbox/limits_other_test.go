//go:build !linux

package outbox

func limitedChild(*Queue) int { return 1 }
