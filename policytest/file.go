package policytest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
)

// suite is a test file. In the keys of these types everything is optional for YAML; tests says what is required.
type suite struct {
	Given situation
	Tests []struct {
		Name   string
		Given  situation
		Expect expectation
		Turns  []turn
	}
}

type turn struct {
	Given  situation
	Expect expectation
}

// situation is what a decision finds.
type situation struct {
	Files      map[string]*file
	Facts      map[string]any
	Invalid    map[string]string
	Event      event
	Env        map[string]string
	Params     map[string]string
	Memory     *memory
	Transcript []loop.Turn // a tool may be its name alone
	Tasks      []any
	Now        time.Time
}

// event is what a test says of an event. The fields say which names there are, and their types.
type event struct {
	Name     string `yaml:"hook_event_name"`
	Session  string `yaml:"session_id"`
	Message  string `yaml:"last_assistant_message"`
	Prompt   string
	Mode     string `yaml:"permission_mode"`
	Agent    string `yaml:"agent_id"`
	Type     string `yaml:"agent_type"`
	Failed   string
	Active   bool `yaml:"stop_hook_active"`
	Busy     bool
	YourTurn bool `yaml:"your_turn"`
	Asked    bool
	Tasks    []any `yaml:"background_tasks"`
	Crons    []any `yaml:"session_crons"`
	Run      map[string]any

	names map[string]any // what is given
}

func (e *event) UnmarshalYAML(n *yaml.Node) error {
	type plain event
	if err := n.Decode((*plain)(e)); err != nil {
		return err
	}
	return n.Decode(&e.names)
}

// memory is what a session has counted before.
type memory struct {
	Continuations, Repeats, Total int
	Elapsed                       time.Duration
	Progress                      any
	Applied                       map[string]int
	Seen                          []string
}

// file is a file of a project, as it is written or expected: a text, or these keys, or a list of texts that occur in it.
type file struct {
	Text   string
	JSON   any
	Absent bool
	Age    time.Duration

	at *yaml.Node
}

func (f *file) UnmarshalYAML(n *yaml.Node) error {
	type plain file
	f.at, f.Age = n, defaultAge
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Decode(&f.Text)
	case yaml.SequenceNode:
		return nil
	}
	if err := n.Decode((*plain)(f)); err != nil {
		return err
	}
	if f.JSON == nil && !f.Absent {
		f.at = field(n, "text")
	}
	if f.at == nil || f.JSON != nil && field(n, "text") != nil {
		return wrong(n, "a file has one of text, json and absent")
	}
	return nil
}

// test is one test: decisions one after the other in the same project and session.
type test struct {
	name, file string
	at         *yaml.Node
	steps      []step
}

// step is one decision.
type step struct {
	at     *yaml.Node
	given  situation
	expect expectation
}

// tests reads the tests of a file, each with the given of the file below its own.
func (r *reader) tests(root *yaml.Node) (tests []test) {
	list := field(root, "tests")
	if list == nil || len(list.Content) == 0 {
		r.report(root, "there are no tests", "write tests: with name, given and expect")
		return nil
	}
	r.given(field(root, "given"))
	names := map[string]bool{"": true}
	for _, n := range list.Content {
		t := test{file: r.file, at: n}
		r.decode(field(n, "name"), &t.name)
		if names[t.name] {
			r.report(n, fmt.Sprintf("a test needs a name of its own, and this one has %q", t.name), "write name: and what the policy does here")
		}
		names[t.name] = true
		base, turns := merge(field(root, "given"), field(n, "given")), []*yaml.Node{n}
		if list := field(n, "turns"); list != nil {
			if turns = list.Content; field(n, "expect") != nil || len(turns) == 0 {
				r.report(list, "a test has expect, or a list of turns with one each", "write expect in each turn")
			}
			r.given(field(n, "given"))
		}
		for _, turn := range turns {
			t.steps = append(t.steps, r.step(turn, base, len(t.steps) == 0))
		}
		tests = append(tests, t)
	}
	return tests
}

// step reads a turn, or a test without turns.
func (r *reader) step(n, base *yaml.Node, first bool) step {
	s := step{at: n}
	own, expect := field(n, "given"), field(n, "expect")
	r.given(own)
	r.decode(merge(base, own), &s.given)
	if !first { // the test began with it
		var now situation
		r.decode(own, &now)
		if s.given.Files, s.given.Memory = now.Files, nil; now.Memory != nil || now.Params != nil {
			r.report(own, "memory and params are those of the whole test", "write them in the given of the test")
		}
	}
	if expect == nil || len(expect.Content) == 0 {
		r.report(n, "nothing is expected", "write for example expect: {rule: NAME}")
	}
	r.decode(expect, &s.expect)
	r.expectation(&s.expect)
	return s
}

// word reports a word that is not one of those known.
func (r *reader) word(n *yaml.Node, what string, known []string) {
	if !slices.Contains(known, n.Value) {
		r.report(n, fmt.Sprintf("there is no %s %q", what, n.Value), text.Nearest(n.Value, known))
	}
}

func (r *reader) ruleNames() []string {
	known := []string{"limits.continuations", "limits.repeats", "limits.elapsed", "limits.total"}
	for _, rule := range r.policy.Rules {
		known = append(known, rule.Name)
	}
	return known
}

// given reports names that the policy does not have.
func (r *reader) given(n *yaml.Node) {
	var facts, asked []string
	for _, f := range r.policy.Facts {
		if facts = append(facts, f.Name); slices.Contains(replaced, f.Source) {
			asked = append(asked, f.Name)
		}
	}
	if !r.open {
		r.words(field(n, "facts"), "fact", facts)
	}
	r.words(field(n, "invalid"), "fact of exec, git or judge", asked)
	r.words(field(n, "params"), "param", slices.Sorted(maps.Keys(r.policy.Params)))
	r.words(field(field(n, "memory"), "applied"), "rule", r.ruleNames())
	if transcript := field(n, "transcript"); transcript != nil {
		for _, turn := range transcript.Content {
			r.word(cmp.Or(field(turn, "role"), turn), "role", []string{"user", "assistant"})
		}
	}
}

// words reports keys of a map that are not known.
func (r *reader) words(n *yaml.Node, what string, known []string) {
	for key := range fields(n) {
		r.word(key, what, known)
	}
}
