package state

import (
	"context"
	"io/fs"
	"time"
)

// Root is a directory below which files are read and changed. Nothing outside of it is opened, whatever links say. It is safe for
// concurrent use.
type Root struct{}

// Open opens a directory. The caller closes it.
func Open(dir string) (*Root, error) { panic("later") }

// Close releases the directory.
func (r *Root) Close() error { panic("later") }

// Dir returns the directory, absolute and without links.
func (r *Root) Dir() string { panic("later") }

// File is a file as it was read.
type File struct {
	Path  string // from the root, with slashes
	Bytes []byte
	Time  time.Time // of its last change
	Mode  fs.FileMode
}

// Read reads a regular file, opened once and without waiting, of at most 16 MiB. An error that is fs.ErrNotExist says that nothing is
// there; any other that it cannot be read: no regular file, a link that leaves the root, too large, not permitted.
func (r *Root) Read(path string) (*File, error) { panic("later") }

// ReadSettled reads a file until parse accepts it, for a file that was changed in the last two seconds: again for up to a second. It
// returns the last reading and what parse made of it.
func (r *Root) ReadSettled(ctx context.Context, path string, parse func([]byte) (any, error)) (*File, any, error) {
	panic("later")
}

// Glob returns the paths of files and directories that match a pattern with *, ?, [ ], { } and **, sorted; only directories if it ends with a slash.
// What lies behind links that leave the root is left out. More than 10,000 matches, or a walk over 100,000 entries, is an error.
func (r *Root) Glob(ctx context.Context, pattern string) ([]string, error) { panic("later") }

// ParseText returns a text without BOM and surrounding space.
func ParseText(b []byte) (string, error) { panic("later") }

// ParseJSON reads one JSON value; see schema.ParseJSON. It names UTF-16.
func ParseJSON(b []byte) (any, error) { panic("later") }

// ParseFrontMatter returns the fields of front matter, and the text below it as body. Without front matter the error is fs.ErrNotExist.
func ParseFrontMatter(b []byte) (map[string]any, error) { panic("later") }

// ParseChecklist returns the items of a Markdown checklist as a list of objects with
// text, mark, done, depth, line, section, tags and source.
func ParseChecklist(b []byte) ([]any, error) { panic("later") }

// ErrChanged is the error of Apply when a file is no longer as it was read.
var ErrChanged error

// Change is a change of one file.
type Change struct {
	Old  *File // as it was read; nil: there was no file, and there must be none
	Path string
	New  []byte // nil: archive it
}

// SetJSON sets the value at a path of fields and indices in a JSON text and keeps every other byte. A field that is not there is added
// in the style of the text; an empty path sets the whole. Duplicate keys on the way are an error.
func SetJSON(b []byte, path []any, value any) ([]byte, error) { panic("later") }

// SetFrontMatter does the same in front matter; the path is one field.
func SetFrontMatter(b []byte, path []any, value any) ([]byte, error) { panic("later") }

// Apply makes changes: it compares all files with what was read before it writes the first, each atomically. Archived files go below
// .ralph/local/archive/TIME/. Nothing is written in .git, .ralph, .vscode, or a file that configures a host.
func (r *Root) Apply(changes []Change, now time.Time) error { panic("later") }

// Prune removes regular files that match a pattern and were last changed before a time; it returns their paths.
func (r *Root) Prune(ctx context.Context, pattern string, before time.Time) ([]string, error) {
	panic("later")
}

// EscapeGlob makes a value match only itself within a pattern.
func EscapeGlob(s string) string { panic("later") }
