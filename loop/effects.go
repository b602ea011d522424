package loop

import (
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

// apply makes the changes of files: all are compared with what was read before the first is written.
func (w *work) apply(effects []rules.Effect) error {
	var changes []state.Change
	for _, e := range effects {
		var err error
		switch e.Kind {
		case "set":
			changes, err = set(changes, e)
		case "archive":
			changes, err = archive(changes, e)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", e.Kind, e.Fact.Name, err)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	root, err := w.files()
	if err != nil {
		return err
	}
	return root.Apply(changes, w.now)
}

// changeOf returns the place of a file among the changes, added if it is new, or -1 for a fact without a path.
func changeOf(changes []state.Change, found rules.Found) ([]state.Change, int, error) {
	switch {
	case found.Path == "" && found.OK:
		return changes, -1, errors.New("the program gave its value, so there is no file to change")
	case found.Path == "":
		return changes, -1, nil // no path, since a placeholder is missing
	case strings.HasPrefix(found.Path, homePrefix):
		return changes, -1, fmt.Errorf("%s is outside of the project", found.Path)
	}
	i := slices.IndexFunc(changes, func(c state.Change) bool { return c.Path == found.Path })
	if i >= 0 {
		return changes, i, nil
	}
	c := state.Change{Path: found.Path}
	if c.Old, _ = found.Version.(*state.File); c.Old != nil {
		c.New = c.Old.Bytes
	}
	return append(changes, c), len(changes), nil
}

// setters set a value in the files of a source.
var setters = map[string]func(b []byte, path []any, value any) ([]byte, error){
	"json":        state.SetJSON,
	"frontmatter": state.SetFrontMatter,
	"text":        func(_ []byte, _ []any, value any) ([]byte, error) { return fmt.Appendln(nil, value), nil },
}

func set(changes []state.Change, e rules.Effect) ([]state.Change, error) {
	changes, i, err := changeOf(changes, e.Found)
	if err != nil || i < 0 {
		return changes, err
	}
	put := setters[e.Fact.Source]
	if put == nil {
		return changes, fmt.Errorf("a fact of %s cannot be set", e.Fact.Source)
	}
	c := &changes[i]
	if c.Old == nil && c.New == nil && len(e.Path) > 0 && e.Found.Value != nil { // the default, which the file replaces
		if c.New, err = put(nil, nil, e.Found.Value); err != nil {
			return changes, err
		}
	}
	c.New, err = put(c.New, e.Path, e.Value)
	return changes, err
}

func archive(changes []state.Change, e rules.Effect) ([]state.Change, error) {
	if e.Found.Version == nil {
		return changes, nil // there is no file
	}
	changes, i, err := changeOf(changes, e.Found)
	if err == nil && i >= 0 {
		changes[i].New = nil
	}
	return changes, err
}

// after makes the effects that follow a saved verdict. What fails is a line of the log, and in the decision's error.
func (w *work) after(ctx context.Context, d *made) {
	for _, e := range d.verdict.Effects {
		if err := w.effect(ctx, e); err != nil {
			err = fmt.Errorf("effect %s: %w", e.Kind, err)
			d.Log = append(d.Log, text.Line(err.Error()))
			d.Err = errors.Join(d.Err, err)
		}
	}
}

func (w *work) effect(ctx context.Context, e rules.Effect) error {
	f := w.effects[e.Kind]
	switch e.Kind {
	case "set", "archive":
		return nil // made before
	case "prune":
		root, err := w.files()
		if err == nil {
			_, err = root.Prune(ctx, e.Args[0], w.now.Add(-e.Older))
		}
		return err
	case "run":
		if f != nil {
			break
		}
		ctx, cancel := context.WithTimeoutCause(ctx, runTime, tooLate(runTime))
		defer cancel()
		_, err := w.program(ctx, "run", e.Args, "")
		return err
	}
	if f == nil {
		return errors.New("the loop has none of that name: add loop.WithEffect")
	}
	_, err := guarded(func() (any, error) { return nil, f(ctx, w.ev, strings.Join(e.Args, " ")) })
	return err
}

// program runs a program of the policy, if that is allowed.
func (w *work) program(ctx context.Context, class string, args []string, dir string) (process.Result, error) {
	if err := w.may(class); err != nil {
		return process.Result{}, err
	}
	root, err := w.files()
	if err != nil {
		return process.Result{}, err
	}
	at, err := root.Below(dir)
	if err != nil {
		return process.Result{}, err
	}
	path, err := w.find(args[0])
	if err != nil {
		return process.Result{}, err
	}
	return process.Run(ctx, process.Command{Path: path, Args: args[1:], Dir: at})
}

// find returns the path of a program. One that PATH finds inside the project is what an agent may have written, so it needs approval.
func (w *work) find(program string) (string, error) {
	root, err := w.files()
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
