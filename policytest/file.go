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
	Tests []test
}

// test is one test: decisions one after the other in the same project and session. As it is read, a test without turns has what its
// only turn has.
type test struct {
	Name   string
	Given  situation
	Expect expectation
	Turns  []turn

	file string
	at   *yaml.Node
}

// turn is one decision.
type turn struct {
	Given  situation
	Expect expectation

	at *yaml.Node
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
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: a file has one of text, json and absent", n.Line)}}
	}
	return nil
}

// tests completes the tests of a file: each has turns, with the given of the file and of the test below their own.
func (r *reader) tests(root *yaml.Node, all []test) {
	if len(all) == 0 {
		r.report(root, "there are no tests", "write tests: with name, given and expect")
	}
	r.given(field(root, "given"))
	names := map[string]bool{"": true}
	for i := range all {
		t, n := &all[i], field(root, "tests").Content[i]
		t.file, t.at = r.file, n
		if names[t.Name] {
			r.report(n, fmt.Sprintf("a test needs a name of its own, and this one has %q", t.Name), "write name: and what the policy does here")
		}
		names[t.Name] = true
		base, turns := merge(field(root, "given"), field(n, "given")), []*yaml.Node{n}
		if list := field(n, "turns"); list == nil {
			t.Turns = []turn{{Given: t.Given, Expect: t.Expect}}
		} else if turns = list.Content; field(n, "expect") != nil || len(turns) == 0 {
			r.report(list, "a test has expect, or a list of turns with one each", "write expect in each turn")
		} else {
			r.given(field(n, "given"))
		}
		for j, at := range turns {
			t.Turns[j].at = at
			r.turn(&t.Turns[j], base, j == 0)
		}
	}
}

// turn completes a turn.
func (r *reader) turn(t *turn, base *yaml.Node, first bool) {
	own, node := t.Given, field(t.at, "given")
	r.given(node)
	t.Given = situation{}
	r.decode(merge(base, node), &t.Given)
	if !first { // the test began with it
		if t.Given.Files, t.Given.Memory = own.Files, nil; own.Memory != nil || own.Params != nil {
			r.report(node, "memory and params are those of the whole test", "write them in the given of the test")
		}
	}
	if expect := field(t.at, "expect"); expect == nil || len(expect.Content) == 0 {
		r.report(t.at, "nothing is expected", "write for example expect: {rule: NAME}")
	}
	r.expectation(&t.Expect)
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
