//go:build unix

package llm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// alive does not count a zombie: whose child it is by now is not our concern.
func alive(pid int) bool {
	if runtime.GOOS != "linux" {
		return syscall.Kill(pid, 0) == nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return err == nil && len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}
