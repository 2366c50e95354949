package outbox

import (
	"io/fs"
	"os"
)

// closeToRename says whether an open file cannot be renamed.
const closeToRename = true

func chmod(*os.File, fs.FileMode) error { return nil } // the directory's access rules are inherited

// truncate goes by the name, since a file opened for appending may not be cut.
func truncate(f *os.File, size int64) error { return os.Truncate(f.Name(), size) }

func syncDir(string) error { return nil } // NTFS journals names
