//go:build !windows

package install

func shortPath(path string) string { return path } // only Windows keeps short names
