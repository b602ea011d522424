package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// runTime is how long the program of an effect may take.
const runTime = 30 * time.Second

// Start makes the changes of the policy's start, where the name text is words. It refuses where a file that it sets exists, and a policy that
// has no start is an error.
func (l *Loop) Start(ctx context.Context, words string) error {
	return l.within(ctx, Event{Dir: cmp.Or(l.root, ".")}, func(ctx context.Context, w *work) error {
		if ctx.Err() != nil {
			return l.fault(w.key, context.Cause(ctx))
		}
		effects, err := l.policy.Start(ctx, w.input(0), words)
		if err != nil {
			return err
		}
		if len(effects) == 0 {
			says := strings.TrimSuffix("; it says: "+text.Line(l.policy.Description), "; it says: ")
			return misuse("the policy %s has no start: what it is for, such as a plugin, begins its loop%s", l.policy.Name, says)
		}
		if err := w.apply(effects); err != nil {
			return &Fault{"files", errors.Is(err, state.ErrChanged), err}
		}
		w.verdict.Effects = effects
		w.after(ctx)
		return w.answer.Err
	})
}

// apply makes the changes of files: all are compared with what was read before the first is written.
func (w *work) apply(effects []rules.Effect) error {
	var changes []state.Change
	for _, e := range effects {
		var err error
		if changes, err = withEffect(changes, e); err != nil {
			return fmt.Errorf("%s %s: %w", e.Kind, e.Fact.Name, err)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	root, _, err := w.files("")
	if err != nil {
		return err
	}
	return root.Apply(changes, w.now)
}

// withEffect adds what an effect changes to the changes of those before, one for each file.
func withEffect(changes []state.Change, e rules.Effect) ([]state.Change, error) {
	file, _ := e.Found.Version.(*state.File)
	switch {
	case e.Kind != "set" && e.Kind != "archive", e.Kind == "archive" && file == nil:
		return changes, nil
	case e.Found.Path == "" && e.Found.OK:
		return nil, errors.New("the program gave its value, so there is no file to change")
	case e.Found.Path == "": // a placeholder is missing
		return changes, nil
	case strings.HasPrefix(e.Found.Path, homePrefix):
		return nil, fmt.Errorf("%s is outside of the project", e.Found.Path)
	}
	i := slices.IndexFunc(changes, func(c state.Change) bool { return c.Path == e.Found.Path })
	if i < 0 {
		i = len(changes)
		changes = append(changes, state.Change{Path: e.Found.Path, Old: file})
		if file != nil {
			changes[i].New = file.Bytes
		}
	}
	c := &changes[i]
	if e.Kind == "archive" {
		c.New = nil
		return changes, nil
	}
	var err error
	if c.Old == nil && c.New == nil && len(e.Path) > 0 && e.Found.Value != nil { // the default, which the file replaces
		if c.New, err = set(e.Fact.Source, nil, nil, e.Found.Value); err != nil {
			return nil, err
		}
	}
	c.New, err = set(e.Fact.Source, c.New, e.Path, e.Value)
	return changes, err
}

// set sets a value in a file of a source.
func set(source string, b []byte, path []any, value any) ([]byte, error) {
	switch source {
	case "json":
		return state.SetJSON(b, path, value)
	case "frontmatter":
		return state.SetFrontMatter(b, path, value)
	case "text":
		return fmt.Appendln(nil, value), nil
	}
	return nil, fmt.Errorf("a fact of %s cannot be set", source)
}

// after makes the effects that follow a saved verdict. What fails is a line of the log, and in the decision's error.
func (w *work) after(ctx context.Context) {
	for _, e := range w.verdict.Effects {
		if err := w.effect(ctx, e); err != nil {
			err = fmt.Errorf("effect %s: %w", e.Kind, err)
			w.answer.Log = append(w.answer.Log, text.Line(err.Error()))
			w.answer.Err = errors.Join(w.answer.Err, err)
		}
	}
}

func (w *work) effect(ctx context.Context, e rules.Effect) (err error) {
	defer caught(&err)
	own := w.effects[e.Kind]
	switch {
	case e.Kind == "set", e.Kind == "archive":
		return nil // made before
	case e.Kind == "prune":
		root, _, err := w.files("")
		if err == nil {
			_, err = root.Prune(ctx, e.Args[0], w.now.Add(-e.Older))
		}
		return err
	case own != nil:
		return own(ctx, w.ev, strings.Join(e.Args, " "))
	case e.Kind == "run":
		ctx, cancel := context.WithTimeoutCause(ctx, runTime, tooLate(runTime))
		defer cancel()
		_, err := w.program(ctx, "run", e.Args, "")
		return err
	}
	return errors.New("the loop has none of that name: add loop.WithEffect")
}

// program runs a program of the policy, if that is allowed.
func (w *work) program(ctx context.Context, class string, args []string, dir string) (process.Result, error) {
	if err := w.may(class); err != nil {
		return process.Result{}, err
	}
	path, err := w.find(args[0])
	if err != nil {
		return process.Result{}, err
	}
	dir, err = w.root.Below(dir) // find opened it
	if err != nil {
		return process.Result{}, err
	}
	return process.Run(ctx, process.Command{Path: path, Args: args[1:], Dir: dir})
}

// find returns the path of a program. One that PATH finds inside the project is what an agent may have written, so it needs approval.
func (w *work) find(program string) (string, error) {
	root, _, err := w.files("")
	if err != nil {
		return "", err
	}
	dir := root.Dir()
	path, err := process.Find(program, dir)
	real, _ := filepath.EvalSymlinks(path)
	if err != nil || strings.ContainsAny(program, `/\`) || !state.Contains(dir, path) && !state.Contains(dir, real) {
		return path, err
	}
	if err := w.approved("a program that PATH finds inside the project"); err != nil {
		return "", fmt.Errorf("PATH finds %s inside the project: %w", path, err)
	}
	return path, nil
}
