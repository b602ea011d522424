// Package engine answers what the playground asks: it checks a policy, decides a situation by it, draws it and runs its
// tests. It reads no file of the machine, runs no program and asks no model; facts that would are given by value, as in a
// test. It may change in any version.
package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// Files are the texts of a policy, its tests and what it includes, by path. The policy is called Policy.
type Files struct {
	Policy string            `json:"policy"`
	Files  map[string]string `json:"files"`
	State  string            `json:"state"` // for the params that it sets
}

// Situation is what the policy decides.
type Situation struct {
	State   string `json:"state"` // YAML, as given in a test
	Event   string `json:"event"`
	Message string `json:"message"` // the last one of the assistant
}

// Findings are what ralph check finds.
type Findings struct {
	Diagnostics rules.Diagnostics `json:"diagnostics"`
	Usable      bool              `json:"usable"`
	Events      []string          `json:"events"` // that a situation can have
}

// Decision is how the policy decided, or why the situation is not one.
type Decision struct {
	Record  *loop.Record `json:"record,omitempty"`
	Outcome loop.Outcome `json:"outcome,omitempty"`
	Problem string       `json:"problem,omitempty"`
}

// Drawing is the graph of a policy, with the way of the last decision.
type Drawing struct {
	SVG string `json:"svg"`
}

// Test is the result of one test.
type Test struct {
	Name     string   `json:"name"`
	Line     int      `json:"line"`
	Rule     string   `json:"rule,omitempty"`
	Failures []string `json:"failures,omitempty"`
}

// Tests are the tests of a policy, or what is wrong with their file.
type Tests struct {
	Diagnostics rules.Diagnostics `json:"diagnostics,omitempty"`
	Names       []string          `json:"names,omitempty"`
}

// Engine keeps the policy, so that another situation costs only a decision. Its zero value has none.
type Engine struct {
	files   Files
	cfg     rules.Config
	program *rules.Program
	last    *loop.Record
	suite   *policytest.Suite
	tests   []policytest.Test
}

// Options returns the options of the loops of the playground: the policies that ship with ralph, and all sources that the
// command has.
func Options() []loop.Option {
	options := []loop.Option{loop.WithShipped(examples.FS)}
	known := map[string]bool{}
	for _, k := range loop.Config().Sources {
		known[k.Name] = true
	}
	for _, k := range rules.SourceKinds() {
		if !known[k.Name] {
			options = append(options, loop.WithSource(byValue{k}))
		}
	}
	return options
}

// byValue is a source whose facts a situation gives.
type byValue struct{ kind rules.SourceKind }

func (s byValue) Kind() rules.SourceKind { return s.kind }

func (byValue) Gather(context.Context, loop.Query) rules.Value {
	return rules.Value{Status: rules.Missing, Quiet: true, Problem: "is not given"}
}

// FS returns the files as a file system.
func (f Files) FS() fs.FS {
	files := fstest.MapFS{}
	for name, text := range f.Files {
		files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return files
}

// file returns a test file whose only test has the situation, and expects nothing. Its first line is not of the state, and
// neither are the first two columns.
func (s Situation) file() []byte {
	var b strings.Builder
	b.WriteString("given:\n")
	for line := range strings.Lines(s.State) {
		b.WriteString("  " + line)
	}
	quoted := func(s string) []byte { b, _ := json.Marshal(s); return b } // as YAML
	given := "{}"
	if s.Message != "" {
		given = fmt.Sprintf("{%s: %s}", vocab.LastAssistantMessage, quoted(s.Message))
	}
	fmt.Fprintf(&b, "\ntests:\n  - name: a situation\n    given: %s\n    expect: {reason: /^/}\n", given)
	if s.Event != "" {
		fmt.Fprintf(&b, "    event: %s\n", quoted(s.Event))
	}
	return []byte(b.String())
}

// problem returns the first finding of a file as a problem of the state.
func problem(diags rules.Diagnostics) string {
	d := diags[0]
	place := ""
	if d.Pos.Line > 1 && d.Pos.Col > 2 {
		place = fmt.Sprintf("state:%d:%d: ", d.Pos.Line-1, d.Pos.Col-2)
	}
	if d.Help != "" {
		d.Message += "; " + d.Help
	}
	return place + d.Message
}

// params returns the params that a state sets.
func params(state string) map[string]string {
	set := map[string]string{}
	if root, _ := yamltree.Parse([]byte(state)); root != nil && root.Get("set") != nil {
		values, _ := root.Get("set").Decode().(map[string]any)
		for name, v := range values {
			set[name] = fmt.Sprint(v)
		}
	}
	return set
}

// Load checks a policy and keeps it.
func (e *Engine) Load(ctx context.Context, f Files) Findings {
	cfg := loop.Config(Options()...)
	cfg.Set = params(f.State)
	*e = Engine{files: f, cfg: cfg}
	program, diags := rules.Check(ctx, f.FS(), f.Policy, cfg)
	e.program = program
	return Findings{diags, program != nil, vocab.Events()}
}

// Decide decides a situation by the policy that was loaded.
func (e *Engine) Decide(ctx context.Context, s Situation) Decision {
	e.last = nil
	if e.program == nil {
		return Decision{Problem: "the policy has errors"}
	}
	file, diags := policytest.Parse("state", s.file())
	if file != nil {
		diags = file.Check(e.program)
	}
	if len(diags) > 0 {
		return Decision{Problem: problem(diags)}
	}
	r, err := file.Decide(ctx, e.program, e.cfg)
	if err != nil {
		return Decision{Problem: err.Error()}
	}
	r.Digest = "" // there is no log to look it up in
	e.last = &r
	return Decision{Record: &r, Outcome: r.Outcome()}
}

// Draw draws the policy, with the way of the last decision.
func (e *Engine) Draw() Drawing {
	if e.program == nil {
		return Drawing{}
	}
	var marks graph.Marks
	if e.last != nil {
		marks.Way = &graph.Way{Steps: e.last.Trace.Steps, Decided: e.last.Rule}
	}
	before, rest, _ := bytes.Cut(graph.New(e.program, marks).SVG(), []byte("<style>"))
	_, after, _ := bytes.Cut(rest, []byte("</style>\n")) // the page has it
	return Drawing{string(before) + string(after)}
}

// Tests reads the tests beside the policy.
func (e *Engine) Tests(ctx context.Context) Tests {
	name := strings.TrimSuffix(e.files.Policy, ".yaml") + policytest.Suffix
	src := e.files.Files[name]
	e.suite, e.tests = nil, nil
	if e.program == nil || strings.TrimSpace(src) == "" {
		return Tests{}
	}
	suite, diags := policytest.LoadSource(ctx, e.files.FS(), name, []byte(src), loop.Config(Options()...))
	if suite == nil {
		return Tests{Diagnostics: diags}
	}
	file, _ := policytest.Parse(name, []byte(src)) // the suite has read it
	e.suite, e.tests = suite, file.Tests
	var t Tests
	for _, one := range file.Tests {
		t.Names = append(t.Names, one.Name)
	}
	return t
}

// Test runs a test by its index.
func (e *Engine) Test(ctx context.Context, i int) Test {
	if i < 0 || i >= len(e.tests) {
		return Test{}
	}
	name := e.tests[i].Name
	r := e.suite.Run(ctx, func(other string) bool { return other == name })[0]
	t := Test{Name: name, Line: r.Pos.Line, Rule: r.Record.Rule}
	for _, f := range r.Failures {
		t.Failures = append(t.Failures, f.String())
	}
	return t
}

// Situation returns the situation of a test, to change it.
func (e *Engine) Situation(i int) (Situation, error) {
	if i < 0 || i >= len(e.tests) {
		return Situation{}, errors.New("there is no such test")
	}
	return SituationOf(e.tests[i])
}

// SituationOf returns the situation of a test.
func SituationOf(t policytest.Test) (Situation, error) {
	s := Situation{Event: t.Event}
	g := t.Situation()
	input, _ := g["input"].(map[string]any)
	if words, ok := input[vocab.LastAssistantMessage].(string); ok {
		s.Message = words
		delete(input, vocab.LastAssistantMessage)
	}
	if len(input) == 0 {
		delete(g, "input")
	}
	if len(g) == 0 {
		return s, nil
	}
	text, err := yaml.Marshal(g)
	s.State = string(text)
	return s, err
}

// Answer answers a question by its name, in JSON.
func (e *Engine) Answer(ctx context.Context, name string, question []byte) ([]byte, error) {
	read := func(to any) error { return json.Unmarshal(question, to) }
	var answer any
	switch name {
	case "load":
		var f Files
		if err := read(&f); err != nil {
			return nil, err
		}
		answer = e.Load(ctx, f)
	case "decide":
		var s Situation
		if err := read(&s); err != nil {
			return nil, err
		}
		answer = e.Decide(ctx, s)
	case "draw":
		answer = e.Draw()
	case "tests":
		answer = e.Tests(ctx)
	case "test":
		var i int
		if err := read(&i); err != nil {
			return nil, err
		}
		answer = e.Test(ctx, i)
	case "situation":
		var i int
		if err := read(&i); err != nil {
			return nil, err
		}
		s, err := e.Situation(i)
		if err != nil {
			return nil, err
		}
		answer = s
	default:
		return nil, fmt.Errorf("there is no question %q", name)
	}
	return json.Marshal(answer)
}
