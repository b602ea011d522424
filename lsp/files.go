package lsp

import (
	"bytes"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// location is a file: a root, and the name below it.
type location struct{ root, name string }

// uri returns the URI of a location that the editor did not name.
func (l location) uri() string {
	scheme, dir, _ := strings.Cut(l.root, ":")
	at := path.Join(dir, l.name)
	if !strings.HasPrefix(at, "/") {
		at = "/" + at
	}
	return (&url.URL{Scheme: scheme, Path: at}).String()
}

// dir returns the directory of a root, for a system of files; ok is false if the root is none.
func dirOf(root string) (dir string, ok bool) {
	dir, ok = strings.CutPrefix(root, "file:")
	if len(dir) > 2 && dir[0] == '/' && dir[2] == ':' { // /C:/project
		dir = dir[1:]
	}
	return dir, ok
}

// locate returns the location of a URI. Its root is the project, with .ralph in it, otherwise the innermost directory of the
// workspace, otherwise its directory.
func locate(uri string, folders []string) location {
	u, err := url.Parse(uri)
	if err != nil {
		return location{"invalid:/", "file"}
	}
	at := path.Clean("/" + u.Path)
	if u.Opaque != "" { // untitled:Untitled-1
		at = path.Clean("/" + u.Opaque)
	}
	root := path.Dir(at)
	if i := strings.LastIndex(at, "/.ralph/"); i >= 0 {
		root = path.Clean("/" + at[:i])
	} else {
		inner := ""
		for _, folder := range folders {
			if f, err := url.Parse(folder); err == nil && f.Scheme == u.Scheme && strings.HasPrefix(at, strings.TrimSuffix(path.Clean("/"+f.Path), "/")+"/") && len(f.Path) > len(inner) {
				inner = path.Clean("/" + f.Path)
				root = inner
			}
		}
	}
	return location{u.Scheme + ":" + root, strings.TrimPrefix(strings.TrimPrefix(at, root), "/")}
}

// overlay is the files of a root, with the texts of the editor in place of what is saved. It notes what is read.
type overlay struct {
	saved fs.FS // nil has no file
	open  map[string]*text

	mu   sync.Mutex
	read map[string]*text // nil for what is not open
}

func (o *overlay) note(name string, t *text) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.read == nil {
		o.read = map[string]*text{}
	}
	o.read[name] = t
}

// Open opens a file.
func (o *overlay) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	t := o.open[name]
	o.note(name, t)
	if t != nil {
		return &opened{Reader: bytes.NewReader([]byte(t.src)), name: path.Base(name), size: int64(len(t.src))}, nil
	}
	if o.saved == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return o.saved.Open(name)
}

// beside returns the YAML files of a directory.
func (o *overlay) beside(dir string) (names []string) {
	if o.saved != nil {
		entries, _ := fs.ReadDir(o.saved, dir) // what cannot be read has none
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	for name := range o.open {
		if path.Dir(name) == dir {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" })
	slices.Sort(names)
	return slices.Compact(names)
}

// opened is a file that the editor has open.
type opened struct {
	*bytes.Reader
	name string
	size int64
}

func (o *opened) Stat() (fs.FileInfo, error) { return o, nil }
func (o *opened) Close() error               { return nil }
func (o *opened) Name() string               { return o.name }
func (o *opened) Size() int64                { return o.size }
func (o *opened) Mode() fs.FileMode          { return 0o444 }
func (o *opened) ModTime() time.Time         { return time.Time{} }
func (o *opened) IsDir() bool                { return false }
func (o *opened) Sys() any                   { return nil }

var _ io.Reader = (*opened)(nil)
