package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

const (
	homePrefix  = "~/"
	filesTime   = 2 * time.Second   // of files and git
	programTime = 10 * time.Second  // of programs, and sources of the program
	settleTime  = time.Second       // in which young files of a glob are read again
	maxGlob     = 4 * state.MaxFile // bytes of its files together
)

// builtin are the sources that a loop has, with the time of a fact that has no timeout of its own. The judge asks one of the program.
var builtin = map[string]struct {
	time   time.Duration
	gather func(*work, context.Context, rules.Query, *rules.Found) (any, error)
}{
	"text": {filesTime, (*work).read}, "json": {filesTime, (*work).read}, "frontmatter": {filesTime, (*work).read},
	"checklist": {filesTime, (*work).read}, "junit": {filesTime, (*work).read}, "glob": {filesTime, (*work).glob},
	"git": {filesTime, (*work).git}, "tasks": {filesTime, (*work).tasks}, "exec": {programTime, (*work).exec},
	"judge": {8 * time.Second, (*work).judge}, "value": {},
}

// tooLate is why a source or effect was ended.
type tooLate time.Duration

func (t tooLate) Error() string { return fmt.Sprintf("it took longer than %v", time.Duration(t)) }

// Is makes it a timeout for those who ask.
func (t tooLate) Is(target error) bool { return target == context.DeadlineExceeded }

// Fact gathers a fact. It never fails the decision: what cannot be gathered is missing or invalid.
func (w *work) Fact(ctx context.Context, q rules.Query) (f rules.Found) {
	limit := cmp.Or(q.Fact.Timeout, builtin[q.Fact.Source].time, programTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLate(limit))
	defer cancel()
	v, err := w.gather(ctx, q, &f)
	late := context.Cause(ctx)
	switch {
	case err == nil:
		f.OK, f.Value = true, v
	case late != nil:
		f.Err = late
	case errors.Is(err, fs.ErrNotExist) && q.Fact.Source != "exec":
		f.Problem = reason(err).Error()
	default:
		f.Err = reason(err)
	}
	return f
}

// reason says what is wrong, without the path, which is shown beside it.
func reason(err error) error {
	if file := new(fs.PathError); errors.As(err, &file) && err == error(file) {
		return file.Err
	}
	return err
}

// gather returns the value of a fact. An error that is fs.ErrNotExist means missing.
func (w *work) gather(ctx context.Context, q rules.Query, f *rules.Found) (v any, err error) {
	defer caught(&err)
	gather := builtin[q.Fact.Source].gather
	if own := w.sources[q.Fact.Source]; own != nil && q.Fact.Source != "judge" {
		return own(ctx, w.ev, q)
	} else if gather == nil {
		return nil, fmt.Errorf("the loop has no source %s", q.Fact.Source)
	}
	return gather(w, ctx, q, f)
}

// parser reads a file of a source, or of the parse of a glob, as far as the policy can use it.
func parser(kind string, q rules.Query) func([]byte) (any, error) {
	return func(b []byte) (v any, err error) {
		switch kind {
		case "text":
			v, err = state.ParseText(b)
		case "json":
			v, err = state.ParseJSON(b)
		case "frontmatter":
			v, err = state.ParseFrontMatter(b)
		case "checklist":
			v, err = state.ParseChecklist(b)
		case "junit":
			v, err = readJUnit(b)
		}
		if err != nil {
			return nil, err
		}
		return v, q.Usable(v)
	}
}

// read reads the file of a fact.
func (w *work) read(ctx context.Context, q rules.Query, f *rules.Found) (any, error) {
	f.Path = q.Args[0]
	root, path, err := w.files(q.Args[0])
	if err != nil {
		return nil, err
	}
	file, v, err := root.ReadSettled(ctx, path, parser(q.Fact.Source, q))
	if file == nil {
		return nil, err
	}
	f.Time = file.Time
	if root == w.root {
		f.Path, f.Version = file.Path, file
	}
	return v, err
}

// glob lists paths, or reads the files there. Those that cannot be used are left out and named.
func (w *work) glob(ctx context.Context, q rules.Query, f *rules.Found) (any, error) {
	f.Path = q.Args[0]
	root, pattern, err := w.files(q.Args[0])
	if err != nil {
		return nil, err
	}
	paths, err := root.Glob(ctx, pattern)
	if err != nil {
		return nil, err
	}
	settle, cancel := context.WithTimeout(ctx, settleTime) // for all together
	defer cancel()
	list, bad, size := make([]any, 0, len(paths)), []string{}, 0
	for _, path := range paths {
		if q.Fact.Parse == "" {
			list = append(list, path)
			continue
		}
		file, v, err := root.ReadSettled(settle, path, parser(q.Fact.Parse, q))
		if file != nil {
			size += len(file.Bytes)
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case size > maxGlob:
			return nil, fmt.Errorf("the files have more than %d MiB together: write a narrower pattern", maxGlob>>20)
		case err != nil:
			bad = append(bad, path+": "+reason(err).Error())
			continue
		}
		list = append(list, map[string]any{"path": path, "value": v})
	}
	f.Problem = strings.Join(bad, "\n")
	return list, nil
}

func (w *work) tasks(ctx context.Context, _ rules.Query, f *rules.Found) (any, error) {
	if w.ev.Tasks == nil {
		return nil, fmt.Errorf("the host has no task list: %w", fs.ErrNotExist)
	}
	list, err := w.ev.Tasks(ctx)
	if len(list) > 0 && err != nil { // as of a glob, what cannot be used is left out and named
		f.Problem, err = reason(err).Error(), nil
	}
	return list, err
}

func (w *work) judge(ctx context.Context, q rules.Query, _ *rules.Found) (any, error) {
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
	return w.sources["judge"](ctx, w.ev, q)
}

func (w *work) exec(ctx context.Context, q rules.Query, _ *rules.Found) (any, error) {
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

func (w *work) git(ctx context.Context, q rules.Query, _ *rules.Found) (any, error) {
	root, _, err := w.files("")
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
