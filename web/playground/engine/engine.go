// Package engine answers what the playground asks: it decides a situation by a policy, draws the policy and runs its tests.
// What ralph check finds comes from package lsp. It reads no file of the machine, runs no program and asks no model; facts
// that would are values, as in a test. It may change in any version.
package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// Files are the texts of a policy, its tests and what it includes, by path. The policy is called Policy.
type Files struct {
	Policy string            `json:"policy"`
	Files  map[string]string `json:"files"`
}

// Situation is what the policy decides.
type Situation struct {
	State   string `json:"state"` // YAML, as given in a test
	Event   string `json:"event"`
	Message string `json:"message"` // the last one of the assistant
}

// Loaded has what a situation of a policy can have.
type Loaded struct {
	Events []string `json:"events"`
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

// Tests are the tests of a policy.
type Tests struct {
	Names []string `json:"names,omitempty"`
	Bad   bool     `json:"bad,omitempty"` // they are not valid, or the policy is not
}

// Engine keeps the policy, so that another situation costs only a decision. Its zero value has none.
type Engine struct {
	files   Files
	cfg     rules.Config
	program *rules.Program
	bad     error // instead of a program
	last    *loop.Record
	suite   *policytest.Suite
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

// Load keeps a policy, for the decisions that follow.
func (e *Engine) Load(f Files) Loaded {
	*e = Engine{files: f, cfg: loop.Config(Options()...)}
	return Loaded{vocab.Events()}
}

// compile compiles the policy with params, unless it is.
func (e *Engine) compile(ctx context.Context, set map[string]string) {
	if (e.program != nil || e.bad != nil) && maps.Equal(e.cfg.Set, set) {
		return
	}
	e.cfg.Set = set
	program, diags := rules.Load(ctx, e.files.FS(), e.files.Policy, e.cfg)
	e.program, e.bad = program, diags.Err()
}

// Decide decides a situation by the policy that was loaded.
func (e *Engine) Decide(ctx context.Context, s Situation) Decision {
	e.last = nil
	file, diags := policytest.Parse("state", s.file())
	var set map[string]string
	if file != nil {
		set = file.Tests[0].Given.Set
	}
	e.compile(ctx, set)
	if e.program == nil {
		return Decision{Problem: "the policy has errors:\n" + e.bad.Error()}
	}
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
	e.suite = nil
	if strings.TrimSpace(src) == "" {
		return Tests{}
	}
	if e.suite, _ = policytest.LoadSource(ctx, e.files.FS(), name, []byte(src), loop.Config(Options()...)); e.suite == nil {
		return Tests{Bad: true}
	}
	var t Tests
	for _, one := range e.suite.Tests() {
		t.Names = append(t.Names, one.Name)
	}
	return t
}

// Test runs a test by its index.
func (e *Engine) Test(ctx context.Context, i int) (Test, error) {
	one, err := e.test(i)
	if err != nil {
		return Test{}, err
	}
	r := e.suite.Run(ctx, func(name string) bool { return name == one.Name })[0]
	t := Test{Name: one.Name, Line: r.Pos.Line, Rule: r.Record.Rule}
	for _, f := range r.Failures {
		t.Failures = append(t.Failures, f.String())
	}
	return t, nil
}

func (e *Engine) test(i int) (policytest.Test, error) {
	if e.suite == nil || i < 0 || i >= len(e.suite.Tests()) {
		return policytest.Test{}, errors.New("there is no such test")
	}
	return e.suite.Tests()[i], nil
}

// Situation returns the situation of a test, to change it.
func (e *Engine) Situation(i int) (Situation, error) {
	t, err := e.test(i)
	if err != nil {
		return Situation{}, err
	}
	return SituationOf(t)
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
	var answer any
	var err error
	read := func(to any) bool { err = json.Unmarshal(question, to); return err == nil }
	var f Files
	var s Situation
	var i int
	switch {
	case name == "load" && read(&f):
		answer = e.Load(f)
	case name == "decide" && read(&s):
		answer = e.Decide(ctx, s)
	case name == "draw":
		answer = e.Draw()
	case name == "tests":
		answer = e.Tests(ctx)
	case name == "test" && read(&i):
		answer, err = e.Test(ctx, i)
	case name == "situation" && read(&i):
		answer, err = e.Situation(i)
	case err == nil:
		err = fmt.Errorf("there is no question %q", name)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
