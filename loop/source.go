package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// Source gathers facts of one kind. Report missing or invalid data as a [rules.Value], not an error. Rules read
// V as with [rules.ValueOf]: what a rule reads is converted and checked then, so V must stay as it is until the decision
// is made. If Gather panics, the fact is missing, and its problem reports the panic.
//
// The context ends at the fact's timeout. A source that ignores it delays the decision: nothing else can end it.
//
// A Source must be safe for concurrent use. If its kind is [rules.SourceKind.Once], a loop gathers each fact at most
// once an event; other sources are asked again after a conflict.
type Source interface {
	Kind() rules.SourceKind
	Gather(ctx context.Context, q Query) rules.Value
}

// Writer is a [Source] that also changes its facts. Write makes all of the effects or none; they are those of one
// decision on facts of its kind, in order. Each has the Version that the source returned with the value: if something
// has another version by now, Write must change nothing and return [ErrConflict], and the loop decides again. On any
// other error, such as that of a done context, the agent may stop, and nothing must have changed either. A Writer must
// be safe for concurrent use.
type Writer interface {
	Write(ctx context.Context, effects []rules.Effect) error
}

// ErrConflict reports that something changed since the decision was made. It may be wrapped.
var ErrConflict = errors.New("changed since it was read")

// Query is the request for a fact.
type Query struct {
	Fact *rules.Fact // its declaration
	Args []string    // its argument with placeholders filled in: one string, the words of a list, or paths of which the first that exists counts
	// Options are its options that have placeholders, filled in, by name; the others are in Fact.Options.
	Options map[string]string
	Event   host.Event
	Root    *state.Root // the project's files; nil without a project. Do not keep it
	Env     func(string) string
	Now     time.Time // of the event

	allowed func() error // why the program of the fact may not start, asked right before its start
	session func(context.Context) (*host.Session, error)
	budget  *state.Budget // of all files
}

// Session returns the session file of the event, which it opens when first called: nil if there is none, and an error if
// there is one that cannot be read.
func (q Query) Session(ctx context.Context) (*host.Session, error) {
	if q.session == nil {
		return nil, nil
	}
	return q.session(ctx)
}

// Read reads the file of the project that the argument names. Only V is missing from the Value; make it from the Doc.
// Without a project the file is missing.
func (q Query) Read(ctx context.Context, format state.Format) (state.Doc, rules.Value) {
	return q.read(ctx, state.File{Format: format})
}

// read is Read with a file of which the rest is filled in.
func (q Query) read(ctx context.Context, f state.File) (state.Doc, rules.Value) {
	if q.Root == nil {
		return state.Doc{Status: state.Missing, Quiet: true}, noProject()
	}
	if len(q.Args) == 0 {
		return state.Doc{Status: state.Missing}, missing("the query has no argument that names a file")
	}
	doc := q.Root.Read(ctx, state.File{
		Path: q.Args[0], Format: f.Format, Check: f.Check, Schema: q.Fact.Schema, Timeout: q.Fact.Timeout,
		Now: func() time.Time { return q.Now },
	})
	v := rules.Value{Problem: doc.Problem, Quiet: doc.Quiet, Found: doc.Found, Path: doc.Path, Version: doc.Version, ModTime: doc.ModTime}
	switch doc.Status {
	case state.Missing:
		v.Status = rules.Missing
	case state.Invalid:
		v.Status = rules.Invalid
	}
	return doc, v
}

// schemaOf returns the schema of a fact; a fact without one only has its numbers normalized.
func schemaOf(f *rules.Fact) *schema.Schema { return cmp.Or(f.Schema, &schema.Schema{}) }

// ownSource returns ralph's own source of a kind, nil if there is none.
func ownSource(kind rules.SourceKind, f *files) Source {
	gather := map[string]func(context.Context, Query) rules.Value{
		"text": gatherFile, "json": gatherFile, "frontmatter": gatherFile, "checklist": gatherFile,
		"glob": gatherGlob, "git": gatherGit, "exec": gatherExec, "junit": gatherJUnit, "tasks": gatherTasks,
	}[kind.Name]
	if gather == nil {
		return nil
	}
	return own{kind, gather, f}
}

// own is one of ralph's own sources, whose facts belong to a project.
type own struct {
	kind   rules.SourceKind
	gather func(context.Context, Query) rules.Value
	files  *files // writes its facts, if they are files
}

func (s own) Kind() rules.SourceKind { return s.kind }

func (s own) Gather(ctx context.Context, q Query) rules.Value {
	if q.Root == nil {
		return noProject()
	}
	return s.gather(ctx, q)
}

// formatOf returns the format of a fact's file.
func formatOf(f *rules.Fact) state.Format {
	if f.Source.Name == "frontmatter" && f.Options["lenient"] == true {
		return state.LenientFrontMatter
	}
	return fileFormat(f.Source.Name)
}

// fileFormat returns the format of a kind's files; glob uses the same names.
func fileFormat(kind string) state.Format {
	return map[string]state.Format{"text": state.Text, "json": state.JSON, "frontmatter": state.FrontMatter, "checklist": state.Checklist}[kind]
}

// source returns the source of a kind for one event, nil if the loop has none.
func (l *Loop) source(kind rules.SourceKind, f *files) Source {
	if s := l.extensions.sources[kind.Name]; s != nil {
		return s
	}
	return ownSource(kind, f)
}

// writerOf returns the Writer of a source, nil if it has none, and its name. All file sources share one Writer.
func writerOf(s Source) (name string, w Writer) {
	if f, ok := s.(own); ok && f.kind.File {
		return "files", f.files
	}
	if w, ok := s.(Writer); ok {
		return "source " + s.Kind().Name, w
	}
	return "", nil
}

// fits returns why the loop cannot run a program: a fact without a source, or a rule whose effects have no Writer or
// more than one. With [WithFacts] it checks nothing, because that may supply any fact.
func (l *Loop) fits(p *rules.Program) error {
	if len(l.extensions.around) > 0 {
		return nil
	}
	for _, f := range p.Facts() {
		if _, given := l.extensions.values[f.Name]; !given && f.Source.Argument != "schema" && l.source(f.Source, nil) == nil {
			return fmt.Errorf("%s: the fact %s comes from the source %s, which the loop does not have: pass it with loop.WithSource", f.Pos, f.Name, f.Source.Name)
		}
	}
	for _, r := range p.Rules() {
		for _, v := range r.Effects {
			if _, ok := l.extensions.effects[v.Name]; !ok {
				return fmt.Errorf("%s: nothing carries out %s: pass a function with loop.WithEffect", v.Pos, v.Name)
			}
		}
		first := ""
		for _, f := range r.Changes {
			name, w := writerOf(l.source(f.Source, nil))
			switch {
			case w == nil:
				return fmt.Errorf("%s: the rule %s changes the fact %s, and the source %s is not a loop.Writer", r.Pos, r.Name, f.Name, f.Source.Name)
			case first == "":
				first = name
			case first != name:
				return fmt.Errorf("%s: the rule %s changes the %s and the %s, which cannot be done in one step: write two rules", r.Pos, r.Name, first, name)
			}
		}
	}
	return nil
}

// missing returns a missing fact that is reported to the user.
func missing(why string) rules.Value { return rules.Value{Status: rules.Missing, Problem: why} }

// withheld returns a fact that a person has not approved.
func withheld(why error) rules.Value {
	return rules.Value{Status: rules.Withheld, Problem: why.Error()}
}

// absent returns a missing fact that is not reported.
func absent(why string) rules.Value {
	return rules.Value{Status: rules.Missing, Quiet: true, Problem: why}
}

// noProject returns the fact of a project when there is none.
func noProject() rules.Value { return absent("there is no project") }

// timeoutOf returns how long gathering a fact may take.
func timeoutOf(f *rules.Fact) time.Duration { return cmp.Or(f.Timeout, f.Source.Timeout) }
