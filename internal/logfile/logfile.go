// Package logfile is the log of hooks and collector: JSON lines in one private file of bounded size. A cause logs at most
// once a minute, over all processes, so that a fault in every one of ten thousand hooks does not fill the disk. Logging
// never fails its caller and never blocks for long. What may be logged is narrow on purpose: a constant cause, an
// error, numbers and short strings. No text of a payload belongs here.
package logfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"
)

// Limits of the log.
const (
	MaxSize  = 5 << 20     // size in bytes at which the file becomes <name>.1, whose old content is dropped; never twice this
	MaxValue = 200         // characters of a string in a line; the rest is cut
	Every    = time.Minute // how often one cause may log
)

// Log writes to one file. Its methods may be called from several goroutines, and several processes may write to the
// same file. A nil Log drops everything.
type Log struct {
	path      string
	marks     string
	component string
	now       func() time.Time
	dropped   atomic.Int64
}

// New gives a Log for the file path, which nothing touches before the first line. component names the role of this
// process in each line. marksDir is where processes agree on who logged what when; without one nothing is limited. A
// nil now is time.Now.
func New(path, marksDir, component string, now func() time.Time) *Log {
	if now == nil {
		now = time.Now
	}
	return &Log{path: path, marks: marksDir, component: component, now: now}
}

// Field is one key with a number or a short string.
type Field struct {
	key, text string
	number    int64
	isNumber  bool
}

// Str is a short string: a name, a path, a version. Never text of a payload.
func Str(key, value string) Field { return Field{key: key, text: value} }

// Int is a number.
func Int(key string, value int64) Field { return Field{key: key, number: value, isNumber: true} }

// Info logs what is worth knowing. cause is a constant; err may be nil.
func (l *Log) Info(cause string, err error, fields ...Field) {
	l.line(zerolog.InfoLevel, cause, err, fields)
}

// Warn logs what went wrong and was coped with. cause is a constant; err may be nil.
func (l *Log) Warn(cause string, err error, fields ...Field) {
	l.line(zerolog.WarnLevel, cause, err, fields)
}

// Error logs what the user should do something about. cause is a constant; err may be nil.
func (l *Log) Error(cause string, err error, fields ...Field) {
	l.line(zerolog.ErrorLevel, cause, err, fields)
}

// Dropped counts the lines of this process that could not be written, not those that were held back by the limit.
func (l *Log) Dropped() int64 {
	if l == nil {
		return 0
	}
	return l.dropped.Load()
}

func (l *Log) line(level zerolog.Level, cause string, err error, fields []Field) {
	if l == nil || l.marks != "" && !l.Once(cause, Every) {
		return
	}
	var line bytes.Buffer
	logger := zerolog.New(&line)
	e := logger.WithLevel(level).Str("time", l.now().UTC().Format("2006-01-02T15:04:05.000Z07:00")).
		Str("component", clean(l.component)).Int("pid", os.Getpid()).Str("cause", clean(cause))
	if err != nil {
		e = e.Str("error", clean(err.Error()))
	}
	for _, f := range fields {
		if f.isNumber {
			e = e.Int64(clean(f.key), f.number)
		} else {
			e = e.Str(clean(f.key), clean(f.text))
		}
	}
	e.Send()
	if l.append(line.Bytes()) != nil {
		l.dropped.Add(1)
	}
}

// clean makes a value one short line of visible characters.
func clean(s string) string {
	if len(s) > MaxValue*utf8.UTFMax {
		s = s[:MaxValue*utf8.UTFMax]
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	n := 0
	for i := range s {
		if n++; n > MaxValue {
			return s[:i]
		}
	}
	return s
}

// append writes one line with one call. The file is opened for it alone: a process that holds no log open can neither
// write to one that was rotated away nor keep another from rotating it.
func (l *Log) append(line []byte) error {
	switch info, err := os.Stat(l.path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // a pipe would block, a directory cannot be written
		return fs.ErrInvalid
	case info.Size()+int64(len(line)) > MaxSize:
		l.rotate(int64(len(line)))
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode().Perm() != 0o600 {
		_ = f.Chmod(0o600) // an odd umask, or a file that someone else made; some systems have no modes
	}
	if info.Size() > 2*MaxSize { // it can be neither renamed nor emptied
		return errors.New("log is full")
	}
	_, err = f.Write(line)
	return err
}

// rotate makes room in the log. Under the lock the size is looked at again, since another process may have rotated
// meanwhile and its fresh log must not replace the one just put aside. Without the lock the log grows a little more.
func (l *Log) rotate(more int64) {
	lock := flock.New(l.path+".lock", flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return
	}
	defer func() { _ = lock.Close() }()
	info, err := os.Stat(l.path)
	if err != nil || info.Size()+more <= MaxSize {
		return
	}
	// On Windows a log cannot be renamed while another process writes to it; the next line tries again.
	if os.Rename(l.path, l.path+".1") != nil && info.Size() > 2*MaxSize {
		_ = os.Truncate(l.path, 0) // better an empty log than an endless one
	}
}
