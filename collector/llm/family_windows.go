package llm

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A family is a job object: ending it ends the child and its descendants, and it ends with the collector, whose
// handle is the last. What a child starts before it is assigned, in its first instants, is outside.
type family struct {
	job windows.Handle
	pid int
}

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

func newFamily(pid int, _ string) *family {
	f := &family{pid: pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return f
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return f
	}
	f.job = job
	return f
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

// terminate does nothing: a program without a console cannot be asked here. It has its grace all the same, since its
// input ends, and is killed afterwards.
func (f *family) terminate() {}

func (f *family) close() {
	if f.job != 0 {
		_ = windows.CloseHandle(f.job)
	}
}

func (f *family) kill() {
	if f.job != 0 {
		_ = windows.TerminateJobObject(f.job, 1)
		return
	}
	if p, err := os.FindProcess(f.pid); err == nil {
		_ = p.Kill()
	}
}

func killMarked(string) int { return 0 }
