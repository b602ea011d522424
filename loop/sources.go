package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// builtin are the sources that a loop has. A judge is added as a source.
var builtin = []string{"text", "json", "frontmatter", "checklist", "glob", "exec", "git", "tasks", "junit", "value"}

const (
	homePrefix = "~/"
	filesTime  = 2 * time.Second // of files and git
	settleTime = time.Second     // in which young files of a glob are read again
)

// timeout returns how long a fact may take.
func timeout(f *rules.Fact) time.Duration {
	switch {
	case f.Timeout > 0:
		return f.Timeout
	case f.Source == "judge":
		return 8 * time.Second
	case f.Source != "exec" && slices.Contains(builtin, f.Source):
		return filesTime
	}
	return 10 * time.Second // of a program
}

// tooLate is why a source or effect was ended.
type tooLate time.Duration

func (t tooLate) Error() string { return fmt.Sprintf("it took longer than %v", time.Duration(t)) }

// Is makes it a timeout for those who ask.
func (t tooLate) Is(target error) bool { return target == context.DeadlineExceeded }

// Fact gathers a fact. It never fails the decision: what cannot be gathered is missing or invalid.
func (w *work) Fact(ctx context.Context, q rules.Query) rules.Found {
	limit := timeout(q.Fact)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLate(limit))
	defer cancel()
	var f rules.Found
	v, err := guarded(func() (any, error) { return w.gather(ctx, q, &f) })
	if late := context.Cause(ctx); err != nil && late != nil {
		err = late
	}
	switch {
	case err == nil:
		f.OK, f.Value = true, v
	case errors.Is(err, fs.ErrNotExist) && context.Cause(ctx) == nil && q.Fact.Source != "exec":
		f.Problem = reason(err).Error()
	default:
		f.Err = reason(err)
	}
	return f
}

// caught makes an error of what panics in code of the program, for defer.
func caught(err *error) {
	if r := recover(); r != nil {
		cause, ok := r.(error)
		if !ok {
			cause = fmt.Errorf("%v", r)
		}
		*err = misuse("it panicked: %w", cause)
	}
}

// guarded calls code of the program.
func guarded(f func() (any, error)) (v any, err error) {
	defer caught(&err)
	return f()
}

// reason says what is wrong, without the path, which is shown beside it.
func reason(err error) error {
	if file := new(fs.PathError); errors.As(err, &file) && err == error(file) {
		return file.Err
	}
	return err
}

// gather returns the value of a fact. An error that is fs.ErrNotExist means missing.
func (w *work) gather(ctx context.Context, q rules.Query, f *rules.Found) (any, error) {
	source := w.sources[q.Fact.Source]
	if source != nil && q.Fact.Source != "judge" {
		return source(ctx, w.ev, q)
	}
	switch q.Fact.Source {
	case "text", "json", "frontmatter", "checklist", "junit":
		return w.read(ctx, q, f)
	case "glob":
		return w.glob(ctx, q, f)
	case "exec":
		return w.exec(ctx, q)
	case "git":
		return w.git(ctx, q)
	case "tasks":
		if w.ev.Tasks == nil {
			return nil, fmt.Errorf("the host has no task list: %w", fs.ErrNotExist)
		}
		list, err := w.ev.Tasks(ctx)
		if len(list) > 0 && err != nil { // as of a glob, what cannot be used is left out and named
			f.Problem, err = reason(err).Error(), nil
		}
		return list, err
	case "judge":
		if err := w.may("judge"); err != nil {
			return nil, err
		}
		if len(q.Command) > 0 {
			path, err := w.find(q.Command[0])
			if err != nil && !errors.Is(err, exec.ErrNotFound) { // the judge says that there is none
				return nil, err
			}
			q.Command = append([]string{cmp.Or(path, q.Command[0])}, q.Command[1:]...)
		}
	}
	if source == nil {
		return nil, fmt.Errorf("the loop has no source %s", q.Fact.Source)
	}
	return source(ctx, w.ev, q)
}

// parsers read the file of a source, or of the parse of a glob.
var parsers = map[string]func([]byte) (any, error){
	"text":        asAny(state.ParseText),
	"json":        state.ParseJSON,
	"frontmatter": asAny(state.ParseFrontMatter),
	"checklist":   asAny(state.ParseChecklist),
	"junit":       readJUnit,
}

func asAny[T any](parse func([]byte) (T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return parse(b) }
}

// read reads the file of a fact.
func (w *work) read(ctx context.Context, q rules.Query, f *rules.Found) (any, error) {
	f.Path = q.Args[0]
	root, path, err := w.locate(q.Args[0])
	if err != nil {
		return nil, err
	}
	file, v, err := root.ReadSettled(ctx, path, usable(q, parsers[q.Fact.Source]))
	if file == nil {
		return nil, err
	}
	f.Time = file.Time
	if root == w.root {
		f.Path, f.Version = file.Path, file
	}
	return v, err
}

// usable adds to a parser whether the policy can use what it returns.
func usable(q rules.Query, parse func([]byte) (any, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		v, err := parse(b)
		if err == nil && q.Usable != nil {
			v, err = q.Usable(v)
		}
		return v, err
	}
}

// glob lists paths, or reads the files there. Those that cannot be used are left out and named.
func (w *work) glob(ctx context.Context, q rules.Query, f *rules.Found) (any, error) {
	f.Path = q.Args[0]
	root, pattern, err := w.locate(q.Args[0])
	if err != nil {
		return nil, err
	}
	paths, err := root.Glob(ctx, pattern)
	if err != nil {
		return nil, err
	}
	settle, cancel := context.WithTimeout(ctx, settleTime) // for all together
	defer cancel()
	list, bad := make([]any, 0, len(paths)), []string{}
	parse := parsers[q.Fact.Parse]
	for _, path := range paths {
		if parse == nil {
			list = append(list, path)
			continue
		}
		_, v, err := root.ReadSettled(settle, path, usable(q, parse))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			bad = append(bad, path+": "+reason(err).Error())
			continue
		}
		list = append(list, map[string]any{"path": path, "value": v})
	}
	f.Problem = strings.Join(bad, "\n")
	return list, nil
}

func (w *work) exec(ctx context.Context, q rules.Query) (any, error) {
	r, err := w.program(ctx, "exec", q.Args, q.Options["dir"])
	if err != nil {
		return nil, err
	}
	stdout := strings.ToValidUTF8(string(r.Stdout), "\ufffd")
	lines := []any{}
	for line := range strings.Lines(strings.TrimRight(stdout, "\r\n")) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return map[string]any{
		"code": r.Code, "stdout": stdout, "lines": lines,
		"stderr": strings.ToValidUTF8(string(r.Stderr), "\ufffd"), "output": strings.ToValidUTF8(string(r.Output), "\ufffd"),
	}, nil
}

func (w *work) git(ctx context.Context, q rules.Query) (any, error) {
	root, err := w.files()
	if err != nil {
		return nil, err
	}
	s, err := git.Read(ctx, root.Dir(), q.Args[0])
	if err != nil {
		return nil, err
	}
	changed := make([]any, len(s.Changed))
	for i, path := range s.Changed {
		changed[i] = path
	}
	return map[string]any{"dirty": s.Dirty, "changed": changed, "branch": s.Branch, "ahead": s.Ahead}, nil
}
