//go:build !linux

package outbox

import "os"

// syncData on macOS also empties the cache of the drive, which fsync alone does not.
func syncData(f *os.File) error { return f.Sync() }
