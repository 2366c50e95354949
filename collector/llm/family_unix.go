//go:build unix

package llm

import "syscall"

// A family is a process group, and on Linux also whoever left it but carries the mark of its call.
type family struct {
	group int
	mark  string
}

func newFamily(pid int, mark string) *family { return &family{pid, mark} }

func (f *family) terminate() { _ = syscall.Kill(-f.group, syscall.SIGTERM) }

// kill may come just after the program was waited for: as long as the group has a member its number is not used
// again, and a number that was free a moment ago is not used again before all others were.
func (f *family) kill() {
	_ = syscall.Kill(-f.group, syscall.SIGKILL)
	killMarked(f.mark + "\x00")
}

func (f *family) close() {}
