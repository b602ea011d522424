package state

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// IgnoreFile keeps ralph's own files out of the repository of a project. [Root.Apply]
// writes it with the first archived file; one that it makes ignores itself too, so that
// a clean tree stays clean.
const IgnoreFile = ".ralph/.gitignore"

// maxIgnore is how large an ignore file may be that lines are added to.
const maxIgnore = 1 << 20

// IgnoreOwn makes git ignore what ralph writes below .ralph, by adding lines to [IgnoreFile]. It is best
// effort: a tree that is not clean must not keep a loop from ending.
func (r *Root) IgnoreOwn(ctx context.Context) {
	info, err := r.root.Lstat(IgnoreFile)
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent || err == nil && (!info.Mode().IsRegular() || info.Size() > maxIgnore) {
		return
	}
	ctx = context.WithoutCancel(ctx) // the archived file is in place already
	const tries = 3                  // of another process that writes it too
	for range tries {
		old, version, err := r.ReadBytes(ctx, IgnoreFile)
		if err != nil {
			return
		}
		added := withIgnored(string(old), version == "")
		if added == string(old) || !errors.Is(r.Write(ctx, IgnoreFile, []byte(added), version), ErrChanged) {
			return
		}
	}
}

// withIgnored adds the lines that an ignore file lacks. A line of the user that says
// otherwise stands.
func withIgnored(old string, absent bool) string {
	have := map[string]bool{}
	for line := range strings.Lines(old) {
		have[strings.Trim(strings.TrimSpace(line), "!/")] = true
	}
	if have["*"] {
		return old
	}
	lines := []string{"archive/", "runs/"}
	if absent {
		lines = append(lines, ".gitignore")
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return have[strings.Trim(line, "/")] })
	if len(lines) > 0 && old != "" && !strings.HasSuffix(old, "\n") {
		old += "\n"
	}
	for _, line := range lines {
		old += line + "\n"
	}
	return old
}
