package client

import "syscall"

const detachedProcess = 0x00000008 // DETACHED_PROCESS: no console

func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, NoInheritHandles: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

func keepDescriptors() {} // NoInheritHandles does it
