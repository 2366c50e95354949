//go:build unix

package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// maxRSS is the most memory a process had, in bytes.
func maxRSS(s *os.ProcessState) int64 {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return r.Maxrss // bytes there, kilobytes elsewhere
	}
	return r.Maxrss << 10
}

// residentMB is the memory that a process has now, in megabytes; 0 where the system does not say.
func residentMB(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		var kb int
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kb); err == nil {
			return kb >> 10
		}
	}
	return 0
}
