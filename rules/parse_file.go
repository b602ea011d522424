package rules

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	stdpath "path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// file is a policy, or a file that it includes or names.
type file struct {
	name string // as diagnostics show it
	path string // within its file system
	src  []byte
	fs   includeFS
}

// at returns a position in the file for diagnostics.
func (f *file) at(p yamltree.Pos) Pos { return Pos{File: f.name, Line: p.Line, Col: p.Col} }

// add adds a finding about a part of a file, unless there are too many.
func (ds *Diagnostics) add(f *file, from, to yamltree.Pos, sev Severity, check, message, help string) {
	if !ds.full(sev) {
		*ds = append(*ds, Diagnostic{
			Pos: f.at(from), End: f.at(to), Severity: sev, Check: check, Message: message, Help: help, Line: yamltree.Line(f.src, from.Line),
		})
	}
}

// includeFS is where to look up the includes and schemas of a file.
type includeFS struct {
	fsys   fs.FS
	prefix string // "ralph:" for shipped files
}

// loading is one call of Load: what the policy may use, and what it has spent.
type loading struct {
	ctx    context.Context
	cfg    Config
	kinds  []SourceKind // that the policy may use
	limits LoadLimits   // with defaults

	bytes, files int          // spent
	nodes        atomic.Int64 // spent; rules compile in parallel
}

func newLoading(ctx context.Context, cfg Config) *loading {
	if ctx == nil {
		ctx = context.Background()
	}
	return &loading{ctx: ctx, cfg: cfg, kinds: slices.Concat(ownSources(), cfg.Sources), limits: cfg.Limits.filled()}
}

// again returns a copy of the call with nothing spent.
func (l *loading) again(ctx context.Context) *loading {
	return &loading{ctx: ctx, cfg: l.cfg, kinds: l.kinds, limits: l.limits}
}

// events returns all events that the policy may list.
func (l *loading) events() []string { return slices.Concat(vocab.Events(), l.cfg.Events) }

// verb returns the declaration of an effect of the embedding program.
func (l *loading) verb(name string) *EffectDecl {
	for i := range l.cfg.Effects {
		if l.cfg.Effects[i].Name == name {
			return &l.cfg.Effects[i]
		}
	}
	return nil
}

// fileError is why a file cannot be used.
type fileError struct {
	message string
	cause   error
	check   string // that reports it; "" is the reader's
}

func (e *fileError) Error() string { return e.message }
func (e *fileError) Unwrap() error { return e.cause }

// foundBy returns the check that reports why a file cannot be used.
func foundBy(err error, otherwise string) string {
	if f := (*fileError)(nil); errors.As(err, &f) {
		return cmp.Or(f.check, otherwise)
	}
	return otherwise
}

// read reads a file of at most the maximum size of a policy.
func (l *loading) read(at includeFS, name string) (*file, error) {
	if err := context.Cause(l.ctx); err != nil {
		return nil, &fileError{message: "loading was interrupted: " + err.Error(), cause: err}
	}
	shown := at.prefix + name
	if !l.affords(0) {
		return nil, &fileError{message: shown + " is not read: the policy is too large already", check: "too-big"}
	}
	if at.fsys == nil {
		return nil, &fileError{message: "there is no file " + shown + ": only shipped files, ralph:NAME, are known here", cause: fs.ErrNotExist}
	}
	src, err := readCapped(at.fsys, name)
	if err == nil {
		return l.file(&file{name: shown, path: name, src: src, fs: at})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fileError{message: "there is no file " + shown, cause: err}
	}
	if errors.Is(err, errTooLarge) {
		return nil, &fileError{message: shown + " " + err.Error(), cause: err, check: "too-big"}
	}
	cause := err
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return nil, &fileError{message: shown + " cannot be read: " + err.Error(), cause: cause}
}

// affords counts nodes, and reports whether they are within the limit.
func (l *loading) affords(nodes int) bool {
	return l.nodes.Add(int64(nodes)) <= int64(l.limits.Nodes)
}

// file counts a file.
func (l *loading) file(f *file) (*file, error) {
	if l.bytes += len(f.src); l.bytes > l.limits.Bytes {
		return nil, &fileError{message: fmt.Sprintf("%s is too large: the policy and its files have more than %d bytes", f.name, l.limits.Bytes), check: "too-big"}
	}
	return f, nil
}

var errTooLarge = errors.New("is too large")

// readCapped reads a regular file up to the maximum size. If it grows while it is read, the parser reports it.
func readCapped(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before it is opened: a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > yamltree.MaxSize {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d; split it with include", errTooLarge, info.Size(), yamltree.MaxSize)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = src.ReadFrom(io.LimitReader(f, yamltree.MaxSize+1))
	return src.Bytes(), err
}

// beside returns the name of a file relative to the file that names it.
func beside(f *file, name string) (string, error) {
	at := stdpath.Join(stdpath.Dir(f.path), name)
	switch {
	case strings.HasPrefix(name, "/"), strings.Contains(name, `\`), len(name) > 1 && name[1] == ':' && isLetter(name[0]):
		return "", fmt.Errorf("%s must be relative to the file that names it, with slashes", name)
	case strings.HasPrefix(name, "~"):
		return "", fmt.Errorf("%s begins with ~; name a file beside this one", name)
	case at == "..", strings.HasPrefix(at, "../"):
		return "", fmt.Errorf("%s leads out of the directory that policies are read from", name)
	}
	return at, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
