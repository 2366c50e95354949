//go:build !darwin

package project

// onDisk gives dir, which is resolved, as its name is spelled on disk. Resolving links does that on Windows, and
// elsewhere names that differ in case are different names.
func onDisk(dir string) string { return dir }
