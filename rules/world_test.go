package rules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// world is an in-memory [rules.Facts]: what is not in it is missing, absent or zero.
// It notes what it is asked for, and knows what its loop remembers.
type world struct {
	facts map[string]rules.Value // by the name of the fact
	names map[string]any
	asked []string // facts with their arguments, and names, in order

	memory rules.Memory
	given  map[string]int // in how many verdicts rules were, by their names
}

// today is when the events of these tests are.
func today() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// options are those of an event of this world.
func (w *world) options() rules.Options {
	o := rules.Options{Time: today(), Memory: w.memory}
	for name, times := range w.given {
		if o.Memory.Said == nil {
			o.Memory.Said = map[string][]rules.Said{}
		}
		o.Memory.Said[name] = slices.Repeat([]rules.Said{{At: today()}}, times)
	}
	return o
}

// eval evaluates a policy over the world, explain with a full trace.
func (w *world) eval(p *rules.Program) *rules.Verdict {
	return p.Eval(context.Background(), w, w.options())
}

func (w *world) explain(p *rules.Program) *rules.Verdict {
	o := w.options()
	o.Trace = rules.TraceFull
	return p.Eval(context.Background(), w, o)
}

func (w *world) Fact(_ context.Context, f *rules.Fact, args []string) rules.Value {
	w.asked = append(w.asked, f.Name+"("+strings.Join(args, ", ")+")")
	v, ok := w.facts[f.Name]
	if !ok {
		return rules.Value{Status: rules.Missing, Problem: "there is no file", Quiet: true, Path: args[0]}
	}
	if v.Path == "" {
		v.Path = args[0]
	}
	if v.Status == rules.OK && v.Version == "" {
		v.Version = "v1"
	}
	return v
}

func (w *world) Name(_ context.Context, name string) any {
	if name != "session_id" { // the engine itself asks for it where it reports something
		w.asked = append(w.asked, name)
	}
	return w.names[name]
}

// is returns a fact with this value.
func is(v any) rules.Value { return rules.Value{V: v} }

// object is the value of a JSON or front-matter fact.
type object = map[string]any

var (
	missing = rules.Value{Status: rules.Missing, Problem: "there is no file", Quiet: true}
	invalid = rules.Value{Status: rules.Invalid, Problem: "it is not JSON"}
)

// with returns a fact some of whose fields are unusable, by their JSON pointers.
func with(v rules.Value, unusable ...string) rules.Value {
	for _, p := range unusable {
		v.Unusable = append(v.Unusable, schema.Violation{Pointer: p, Message: "expected integer, got string"})
	}
	return v
}

// files are the files that policies of these tests include and read.
type files map[string]string

func (f files) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range f {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// load loads policy.yaml and fails the test on any error.
func load(t testing.TB, f files) *rules.Program {
	t.Helper()
	return loadWith(t, f, rules.Config{Shipped: examples.FS})
}

func loadWith(t testing.TB, f files, cfg rules.Config) *rules.Program {
	t.Helper()
	p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", cfg)
	if diags.Err() != nil {
		t.Fatalf("the policy does not load:\n%s", diags.Format())
	}
	return p
}

// policy is a file set that holds one policy.
func policy(text string) files { return files{"policy.yaml": "ralph: 1\n" + text} }

// decide loads a policy and evaluates it over a world.
func decide(t testing.TB, text string, w *world) *rules.Verdict {
	t.Helper()
	return w.explain(load(t, policy(text)))
}

// decided is a verdict without where it was reached, how, at what cost and with what
// memory.
func decided(v *rules.Verdict) *rules.Verdict {
	d := *v
	d.Pos, d.Trace, d.Cost, d.Limits = rules.Pos{}, rules.Trace{}, rules.Budget{}, nil
	d.Memory, d.Project, d.Session = rules.Memory{}, rules.Memory{}, rules.Memory{}
	d.Changed, d.ProjectChanged, d.SessionChanged = false, false, false
	d.Problems = problems(reported(v)...)
	return &d
}

// outcomes lists what became of each rule that was tried, as "name: outcome".
func outcomes(v *rules.Verdict) []string {
	var out []string
	for _, s := range v.Trace.Steps {
		out = append(out, s.Rule+": "+string(s.Outcome))
	}
	return out
}

// said is a verdict in one line: "continue RULE: REASON" or "stop RULE: REASON".
func said(v *rules.Verdict) string {
	s := v.Action.String()
	if v.Rule != "" {
		s += " " + v.Rule
	}
	if v.Reason != "" {
		s += ": " + v.Reason
	}
	return s
}

// reported lists what a verdict reports, and masked the same as a log may keep it.
func reported(v *rules.Verdict) (texts []string) {
	for _, p := range v.Problems {
		texts = append(texts, p.Text)
	}
	return texts
}

func masked(v *rules.Verdict) (texts []string) {
	for _, p := range v.Problems {
		if p.Private {
			p.Text = fmt.Sprintf("(%d bytes)", len(p.Text))
		}
		texts = append(texts, p.Text)
	}
	return texts
}

// problems are those of which only the text is compared.
func problems(texts ...string) (all []rules.Problem) {
	for _, text := range texts {
		all = append(all, rules.Problem{Text: text})
	}
	return all
}

// bad is a violation of one field.
func bad(pointer string, value any, keyword, message string) []schema.Violation {
	return []schema.Violation{{Pointer: pointer, Value: value, Keyword: keyword, Message: message}}
}
