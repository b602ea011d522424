package state

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/ralph-sdk/ralph/internal/home"
)

// A Root is a project directory. Links in its own path are resolved once, when it is opened. Every access goes through
// [os.Root] after the links of the target were resolved, so that no path or link leads out of the directory; links
// within it work.
//
// Its methods accept slash-separated paths relative to the root. Absolute paths must be below the root. A path that
// begins with "~/" is below the home directory and can only be read. An empty path, "..", and a NUL byte are a
// [*PathError].
//
// A Root is safe for concurrent use.
type Root struct {
	dir   string // resolved, absolute
	given string // absolute as given, for absolute paths through a link
	local bool   // on a disk that does not block
	home  string // the directory of "~/", "" is the user's home directory
	root  *os.Root

	budget *Budget // nil is unlimited
}

// OpenRoot opens a project directory. It returns a [*PathError] if dir is not a directory or cannot be opened. The
// caller must close it.
func OpenRoot(dir string) (*Root, error) {
	if dir == "" {
		return nil, &PathError{Path: dir, Message: "is empty: name the project directory"}
	}
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, &PathError{Path: dir, Message: reason(err)}
	}
	resolved, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, &PathError{Path: dir, Message: "cannot be used as the project directory: " + reason(err)}
	}
	root, err := os.OpenRoot(resolved + asDir)
	if err != nil {
		return nil, &PathError{Path: dir, Message: "cannot be used as the project directory: " + reason(err)}
	}
	return &Root{dir: resolved, given: given, local: onLocalDisk(resolved), root: root}, nil
}

// SetHome sets the directory of "~/"; the default is the user's home directory. Call it before other methods.
func (r *Root) SetHome(dir string) { r.home = dir }

// SetBudget sets a limit on what Read, ReadAll, Exists, IsDir, AnyFile and Prune read. Without one only the limits on
// each file and walk apply. Call it while no other method runs.
func (r *Root) SetBudget(b *Budget) { r.budget = b }

// homeDir returns the directory of "~/", with links resolved.
func (r *Root) homeDir() (string, error) {
	dir := cmp.Or(r.home, home.OfProcess())
	if dir == "" {
		return "", errors.New("the environment names none")
	}
	return filepath.EvalSymlinks(dir)
}

// Dir returns the absolute path of the project directory, with links resolved.
func (r *Root) Dir() string { return r.dir }

// Close closes the directory. Later calls of other methods report that the project was closed.
func (r *Root) Close() error { return r.root.Close() }

// Exists reports whether a file, a directory or anything else exists at path, following links, below the root. What
// cannot be accessed does not exist.
func (r *Root) Exists(path string) bool {
	_, ok := r.stat(path)
	return ok
}

// IsDir reports whether path is a directory, following links, below the root.
func (r *Root) IsDir(path string) bool {
	info, ok := r.stat(path)
	return ok && info.IsDir()
}

// Target returns the absolute path with all links resolved, as far as it exists. Two paths of one file have one target,
// which is the name to lock. The error is a [*PathError].
func (r *Root) Target(path string) (string, error) {
	loc, err := r.locate(path)
	if err != nil {
		return "", err
	}
	base := r.dir
	if loc.home {
		if base, err = r.homeDir(); err != nil {
			return "", &PathError{Path: path, Message: "there is no home directory: " + reason(err)}
		}
	}
	rel, err := follow(base, loc.rel)
	switch {
	case errors.Is(err, errOutside):
		return "", &PathError{Path: path, Message: errOutside.Error()}
	case err != nil:
		rel = loc.rel
		if entry, err := entry(base, loc); err == nil {
			rel = entry
		}
	}
	return filepath.Join(base, filepath.FromSlash(rel)), nil
}

// stat describes the target of a path, within the remaining time.
func (r *Root) stat(path string) (fs.FileInfo, bool) {
	loc, err := r.locate(path)
	if err != nil {
		return nil, false
	}
	ctx, done := r.budget.within(context.Background(), 0)
	defer done()
	info, _ := await(ctx, r.local && !loc.home, func() fs.FileInfo {
		at, err := r.resolve(loc)
		if err != nil {
			return nil
		}
		defer at.close()
		info, _ := at.root.Lstat(at.rel) // nil if nothing exists
		return info
	})
	return info, info != nil
}

// A place is a location with all links resolved.
type place struct {
	root *os.Root
	rel  string // slash-separated, without links, relative to root
	id   string // rel, with "~/" in front in the home directory
	own  bool   // root was opened only for this place
}

func (p place) close() {
	if p.own {
		p.root.Close()
	}
}

// errOutside reports a link that leads out of the directory.
var errOutside = errors.New("a link leads outside the project")

// resolve follows the links of a location. It returns [errOutside] if they lead out, an error that is fs.ErrNotExist if
// nothing exists, and syscall.ELOOP for a cycle. The caller must close the place.
func (r *Root) resolve(loc location) (place, error) {
	base := r.dir
	if loc.home {
		home, err := r.homeDir()
		if err != nil {
			return place{}, err
		}
		base = home
	}
	rel, err := follow(base, loc.rel)
	if err != nil {
		return place{}, err
	}
	if !loc.home {
		return place{root: r.root, rel: rel, id: rel}, nil
	}
	root, err := os.OpenRoot(base + asDir)
	if err != nil {
		return place{}, err
	}
	return place{root: root, rel: rel, id: "~/" + rel, own: true}, nil
}

// entry returns the directory entry itself: links in its directories are resolved, the entry itself may be a link.
func entry(base string, loc location) (string, error) {
	dir, err := follow(base, path.Dir(loc.rel))
	if err != nil {
		return "", err
	}
	return path.Join(dir, path.Base(loc.rel)), nil
}

// look returns the directory entry of a location in the project, and whether it is a link.
func (r *Root) look(loc location) (at string, link bool, err error) {
	if loc.home {
		return "", false, nil
	}
	if at, err = entry(r.dir, loc); err != nil {
		return "", false, err
	}
	info, err := r.root.Lstat(at)
	return at, err == nil && info.Mode()&fs.ModeSymlink != 0, nil
}

// follow resolves the links of rel below base.
func follow(base, rel string) (string, error) {
	abs, err := filepath.EvalSymlinks(filepath.Join(base, filepath.FromSlash(rel)))
	var system *fs.PathError
	switch {
	case err == nil:
	case errors.Is(err, syscall.ENOTDIR):
		return "", fs.ErrNotExist // a file instead of a directory
	case errors.As(err, &system):
		return "", err
	default:
		return "", syscall.ELOOP // EvalSymlinks' only error that is not the system's
	}
	resolved, ok := beneath(base, abs)
	if !ok {
		return "", errOutside
	}
	return resolved, nil
}
