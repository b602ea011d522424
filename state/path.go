package state

import (
	"path"
	"path/filepath"
	"strings"
)

// A location is a valid path, before it is looked up on disk.
type location struct {
	shown string // for users and archives: cleaned, slash-separated, with "~/" in front in the home directory
	rel   string // the same relative to its base
	home  bool   // in the home directory, hence read-only
}

// locate validates a path: slash-separated and relative to the root; "~/" in front for the home directory; absolute
// only if below the root. It does not access the disk.
func (r *Root) locate(given string) (location, error) {
	refuse := func(message string) (location, error) {
		return location{}, &PathError{Path: given, Message: message}
	}
	p := filepath.ToSlash(given)
	switch {
	case p == "":
		return refuse("is empty")
	case strings.IndexByte(p, 0) >= 0:
		return refuse("contains a NUL byte")
	case climbs(p):
		return refuse(`contains "..": name the file relative to the project`)
	}

	var loc location
	if p == "~" || strings.HasPrefix(p, "~/") {
		loc.home = true
		p = strings.TrimLeft(strings.TrimPrefix(p, "~"), "/")
	} else if abs := filepath.FromSlash(p); filepath.IsAbs(abs) {
		rel, ok := beneath(r.dir, abs)
		if !ok {
			rel, ok = beneath(r.given, abs)
		}
		if !ok {
			return refuse("is outside the project")
		}
		p = rel
	} else if strings.HasPrefix(p, "/") {
		return refuse("is outside the project")
	}

	loc.rel = path.Clean("./" + p)
	if !filepath.IsLocal(filepath.FromSlash(loc.rel)) {
		return refuse("is not a name that this system allows inside a project")
	}
	loc.shown = loc.rel
	if loc.home {
		loc.shown = "~/" + loc.rel
		if loc.rel == "." {
			loc.shown = "~"
		}
	}
	return loc, nil
}

// climbs reports whether a slash-separated path contains "..".
func climbs(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// beneath returns abs relative to base, slash-separated; ok is false if it is not below base.
func beneath(base, abs string) (string, bool) {
	rel, err := filepath.Rel(base, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
