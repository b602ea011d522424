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

// Source gathers the values of facts of one kind. Absent and invalid are values,
// not errors. The loop converts a value as [rules.ValueOf] does, unless that made it: what
// is of a wrong type is unusable. If Gather panics, the fact is missing and its problem says so.
//
// The context ends at the fact's timeout. A source that ignores it holds up the
// decision: nothing else can end it.
//
// For each fact a loop asks a source of a kind that is [rules.SourceKind.Once] at most
// once an event; others are asked again when a decision is made again after a conflict.
// It must be safe for concurrent use.
type Source interface {
	Kind() rules.SourceKind
	Gather(ctx context.Context, q Query) rules.Value
}

// Writer is a [Source] that also changes its facts: Write makes all effects or
// none, those of one decision on facts of its kind, in order. Each has the Version that
// the source returned with the value. A Writer must be safe for concurrent use. If something is no longer of that version, Write
// changes nothing and returns [ErrConflict]; the loop then decides again. Any other
// error, such as that of a context that is done, lets the agent stop, and nothing is
// changed either.
type Writer interface {
	Write(ctx context.Context, effects []rules.Effect) error
}

// ErrConflict says that something changed since the decision was made. It may be wrapped.
var ErrConflict = errors.New("changed since it was read")

// Query is what a source is asked.
type Query struct {
	Fact *rules.Fact // its declaration
	Args []string    // its argument, rendered: one text, the words of a list, or paths of which the first that is there counts
	// Options are its options that have holes, rendered, by name; those without
	// holes stand in Fact.Options.
	Options map[string]string
	Event   host.Event
	Root    *state.Root // files beneath the project; nil if there is no project. Not to be kept
	Env     func(string) string
	Now     time.Time // of the event

	session func(context.Context) *host.Session
	budget  *state.Budget // of all files
}

// Session gives the session file of the event, which is opened at the first need of
// it; nil if there is none.
func (q Query) Session(ctx context.Context) *host.Session {
	if q.session == nil {
		return nil
	}
	return q.session(ctx)
}

// Read reads the file of the project that the argument names. The Value has its state,
// and lacks only V, which is made from the Doc. Without a project the file is missing.
func (q Query) Read(ctx context.Context, format state.Format) (state.Doc, rules.Value) {
	if q.Root == nil {
		return state.Doc{Status: state.Missing, Quiet: true}, noProject()
	}
	if len(q.Args) == 0 {
		return state.Doc{Status: state.Missing}, missing("the query has no argument that names a file")
	}
	doc := q.Root.Read(ctx, state.File{
		Path: q.Args[0], Format: format, Schema: q.Fact.Schema, Settle: q.Fact.Settle, Timeout: q.Fact.Timeout,
		Now: func() time.Time { return q.Now },
	})
	v := rules.Value{Problem: doc.Problem, Quiet: doc.Quiet, Path: doc.Path, Version: doc.Version, ModTime: doc.ModTime}
	switch doc.Status {
	case state.Missing:
		v.Status = rules.Missing
	case state.Invalid:
		v.Status = rules.Invalid
	}
	return doc, v
}

// schemaOf is the schema of a fact; one that it has none only normalises numbers.
func schemaOf(f *rules.Fact) *schema.Schema { return cmp.Or(f.Schema, &schema.Schema{}) }

// ownSource is the table of ralph's own sources: it returns that of a kind, nil if ralph
// has none.
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

// own is one of ralph's own sources: its facts are of a project.
type own struct {
	kind   rules.SourceKind
	gather func(context.Context, Query) rules.Value
	files  *files // changes its facts, if they are files
}

func (s own) Kind() rules.SourceKind { return s.kind }

func (s own) Gather(ctx context.Context, q Query) rules.Value {
	if q.Root == nil {
		return noProject()
	}
	return s.gather(ctx, q)
}

// formatOf is how the file of a fact is understood.
func formatOf(f *rules.Fact) state.Format {
	if f.Source.Name == "frontmatter" && f.Options["lenient"] == true {
		return state.LenientFrontMatter
	}
	return fileFormat(f.Source.Name)
}

// fileFormat is how the files of a kind are understood; glob names the same forms.
func fileFormat(kind string) state.Format {
	return map[string]state.Format{"text": state.Text, "json": state.JSON, "frontmatter": state.FrontMatter, "checklist": state.Checklist}[kind]
}

// source gives the source of a kind for one event, nil if the loop has none.
func (l *Loop) source(kind rules.SourceKind, f *files) Source {
	if s := l.sources[kind.Name]; s != nil {
		return s
	}
	return ownSource(kind, f)
}

// writerOf gives the Writer of a source, nil if it has none, and its name. All file
// sources share one Writer.
func writerOf(s Source) (name string, w Writer) {
	if f, ok := s.(own); ok && f.kind.File {
		return "files", f.files
	}
	if w, ok := s.(Writer); ok {
		return "source " + s.Kind().Name, w
	}
	return "", nil
}

// fits reports why the loop cannot run a program: a fact without a source, or a rule
// whose effects no Writer can make, or not one alone. With [WithFacts] nothing is
// checked: it may provide any fact itself.
func (l *Loop) fits(p *rules.Program) error {
	if l.around != nil {
		return nil
	}
	for _, f := range p.Facts() {
		if _, given := l.values[f.Name]; !given && !f.Source.Given && l.source(f.Source, nil) == nil {
			return fmt.Errorf("%s: the fact %s comes from the source %s, which the loop does not have: pass it with loop.WithSource", f.Pos, f.Name, f.Source.Name)
		}
	}
	for _, r := range p.Rules() {
		for _, v := range r.Verbs {
			if _, ok := l.verbs[v.Name]; !ok {
				return fmt.Errorf("%s: nothing carries out %s: pass what does with loop.WithVerb", v.Pos, v.Name)
			}
		}
		first := ""
		for _, f := range r.Changes {
			name, w := writerOf(l.source(f.Source, nil))
			switch {
			case w == nil:
				return fmt.Errorf("%s: the rule %s changes the fact %s, and the source %s is no loop.Writer", r.Pos, r.Name, f.Name, f.Source.Name)
			case first == "":
				first = name
			case first != name:
				return fmt.Errorf("%s: the rule %s changes the %s and the %s, which cannot be done at once: write two rules", r.Pos, r.Name, first, name)
			}
		}
	}
	return nil
}

// missing is a fact that is missing, which is reported to the user.
func missing(why string) rules.Value { return rules.Value{Status: rules.Missing, Problem: why} }

// absent is a fact that is missing, which is not reported.
func absent(why string) rules.Value {
	return rules.Value{Status: rules.Missing, Quiet: true, Problem: why}
}

// noProject is what facts of a project are without one.
func noProject() rules.Value { return absent("there is no project") }

// timeoutOf is how long a fact may take.
func timeoutOf(f *rules.Fact) time.Duration { return cmp.Or(f.Timeout, f.Source.Timeout) }
