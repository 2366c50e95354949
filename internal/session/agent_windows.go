package session

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// newLookup takes one snapshot of the process table. Command lines are not in it, so a shell counts as a wrapper by its
// name alone.
func newLookup() func(int) (process, bool) {
	table := map[int]process{}
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err == nil {
		defer func() { _ = windows.CloseHandle(snapshot) }()
		entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
		for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
			table[int(entry.ProcessID)] = process{
				parent: int(entry.ParentProcessID),
				name:   programName(windows.UTF16ToString(entry.ExeFile[:])),
			}
		}
	}
	return func(pid int) (process, bool) {
		p, ok := table[pid]
		if !ok {
			return process{}, false
		}
		started := startTime(pid)
		if parent := startTime(p.parent); parent == 0 || started != 0 && parent > started {
			p.parent = 0 // the parent has left and its pid may mean another process by now
		}
		if started != 0 {
			p.start = strconv.FormatInt(started, 10)
		}
		return p, true
	}
}

// startTime gives when a process was created, in ns since 1970; 0 if it cannot be asked.
func startTime(pid int) int64 {
	if pid <= 0 {
		return 0
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return created.Nanoseconds()
}
