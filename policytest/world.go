package policytest

import (
	"context"
	"fmt"
	slashpath "path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// world is what the rules of a test see: literals of the test, and for the rest the real files of its project.
type world struct {
	rules.Facts
	given    situation
	literals map[string]rules.Value
	exists   []string        // paths for which exists() and anyfile() are true, in addition to the project's
	listed   int             // number of the test's tasks
	asked    map[string]bool // facts that were requested, so their arguments could be evaluated
}

func newWorld(g situation, p *rules.Program, now time.Time) (*world, error) {
	w := &world{given: g, literals: map[string]rules.Value{}, exists: slices.Clone(g.Exists), asked: map[string]bool{}}
	for _, decl := range p.Facts() {
		v, ok := g.Facts[decl.Name]
		if ok {
			value, err := literal(decl, v)
			if err != nil {
				return nil, fmt.Errorf("the fact %s: %w", decl.Name, err)
			}
			w.literals[decl.Name] = value
		}
		if _, invalid := g.Invalid[decl.Name]; ok || invalid {
			w.provideFile(decl)
		}
	}
	return w, nil
}

// provideFile makes the file of a fact exist that the test gives as a literal, so that a policy with a top-level when
// applies to the test.
func (w *world) provideFile(decl *rules.Fact) {
	if path := decl.File; path != "" {
		w.exists = append(w.exists, slashpath.Clean(path))
	}
	list, _ := w.literals[decl.Name].V.([]any)
	switch kind := decl.Source; {
	case kind.Argument == "pattern":
		for _, file := range list {
			if path, _ := file.(map[string]any)["path"].(string); path != "" {
				w.exists = append(w.exists, slashpath.Clean(path))
			}
		}
	case kind.Session && !kind.Value.Returns:
		w.listed = len(list)
	}
}

func (w *world) around(_ host.Event, real rules.Facts) rules.Facts {
	w.Facts = real
	return w
}

// Fact returns the literal of a fact, or reads its file. Anything else is missing: a test must not depend on programs,
// services and repositories.
func (w *world) Fact(ctx context.Context, decl *rules.Fact, args []string) rules.Value {
	w.asked[decl.Name] = true
	path := ""
	if arguments, _ := decl.Split(args); (decl.Source.Argument == "path" || decl.Source.Argument == "pattern") && len(arguments) > 0 {
		path = slashpath.Clean(arguments[len(arguments)-1]) // as file sources show it
	}
	if why, ok := w.given.Missing[decl.Name]; ok {
		v := rules.Value{Status: rules.Missing, Problem: why, Path: path}
		if why == "" {
			v.Problem, v.Quiet = "is set to missing", true
		}
		return v
	}
	if why, ok := w.given.Invalid[decl.Name]; ok {
		if why == "" {
			why = "is set to invalid"
		}
		return rules.Value{Status: rules.Invalid, Problem: why, Path: path}
	}
	if v, ok := w.literals[decl.Name]; ok {
		v.Path = path
		if problem := w.given.Problem[decl.Name]; problem != "" {
			v.Problem = problem
		}
		return v
	}
	if decl.Source.File || decl.Source.Argument == "pattern" {
		return w.Facts.Fact(ctx, decl, args)
	}
	return rules.Value{Status: rules.Missing, Quiet: true, Problem: "is not set by the test"}
}

// Name returns one of ralph's own names.
func (w *world) Name(ctx context.Context, name string) any {
	if variable, ok := strings.CutPrefix(name, "env."); ok {
		return w.given.Env[variable]
	}
	if v, ok := w.given.Names[name]; ok {
		return v
	}
	v := w.Facts.Name(ctx, name)
	switch name {
	case vocab.Answer:
		return w.given.Answer
	case vocab.TranscriptFailed: // a session file cannot represent every kind
		if all := w.given.Transcript; v != nil && len(all) > 0 && all[len(all)-1].Key == "failed" {
			return map[string]any{"kind": all[len(all)-1].Text, "text": "API Error"}
		}
	case vocab.Exists:
		return eitherPath(v, slices.Concat(w.exists, w.given.IsDir))
	case vocab.IsDir:
		return eitherPath(v, w.given.IsDir)
	case vocab.AnyFile:
		return func(pattern string) bool {
			return slices.ContainsFunc(w.exists, func(path string) bool { return path == pattern || state.Match(pattern, path) }) ||
				eitherPath(v, nil)(pattern)
		}
	case vocab.TranscriptPath:
		if path, ok := w.given.Input[name]; ok {
			return path
		}
	case vocab.TranscriptTasks:
		if w.listed > 0 {
			return w.listed
		}
	case vocab.Which:
		return func(program string) string {
			if slices.Contains(w.given.Which, program) {
				return "/usr/bin/" + program
			}
			return ""
		}
	}
	return v
}

// eitherPath returns a function that tests the real project and the paths of the test.
func eitherPath(real any, paths []string) func(string) bool {
	return func(path string) bool {
		if slices.Contains(paths, path) || slices.Contains(paths, slashpath.Clean(path)) {
			return true
		}
		ask, ok := real.(func(string) bool)
		return ok && ask(path)
	}
}
