package client

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"

	"kiro-learn/internal/config"
)

// maxSocketPath is the longest path that every system takes for a unix socket: 104 bytes on macOS, its end included.
const maxSocketPath = 103

// ListenAddress is where a collector of these directories listens when nothing is in its way: its own socket file, or a
// short one in a private directory of this user where the path would be too long for the system.
func ListenAddress(d config.Dirs) string {
	if s := d.Socket(); len(s) <= maxSocketPath {
		return s
	}
	sum := sha256.Sum256([]byte(d.State))
	return filepath.Join(shortDir(), hex.EncodeToString(sum[:8])+".sock")
}

func shortDir() string {
	base := os.TempDir()
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		base = "/tmp" // macOS's own temp directory is long
	}
	return filepath.Join(base, "kiro-learn-"+strconv.Itoa(os.Getuid()))
}
