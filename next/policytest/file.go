package policytest

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/loop"
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
	Transcript []said
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

// said is an item of a transcript.
type said struct {
	Role, Text string
	Tokens     int
	Tools      []tool
}

// tool is the use of a tool, also by its name alone.
type tool loop.Tool

func (t *tool) UnmarshalYAML(n *yaml.Node) error {
	type plain tool
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&t.Name)
	}
	return n.Decode((*plain)(t))
}

// file is a file of a project, as it is written or expected: a text, or these keys, or a list of texts that occur in it.
type file struct {
	Text   string
	JSON   any
	Absent bool
	Age    time.Duration

	at    *yaml.Node
	parts []word
}

func (f *file) UnmarshalYAML(n *yaml.Node) error {
	type plain file
	f.at, f.Age = n, defaultAge
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Decode(&f.Text)
	case yaml.SequenceNode:
		return n.Decode(&f.parts)
	}
	if err := n.Decode((*plain)(f)); err != nil {
		return err
	}
	if len(n.Content) == 0 || f.JSON != nil && field(n, "text") != nil {
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
	names := map[string]bool{}
	for _, n := range list.Content {
		t := test{file: r.file, at: n}
		if name := field(n, "name"); name != nil {
			t.name = name.Value
		}
		if t.name == "" || names[t.name] {
			r.report(n, fmt.Sprintf("a test needs a name of its own, and this one has %q", t.name), "write name: and what the policy does here")
		}
		names[t.name] = true
		base, turns := merge(field(root, "given"), field(n, "given")), field(n, "turns")
		r.given(field(n, "given"))
		if turns == nil {
			t.steps = []step{r.step(n, base)}
			tests = append(tests, t)
			continue
		}
		if field(n, "expect") != nil || len(turns.Content) == 0 {
			r.report(turns, "a test has expect, or a list of turns with one each", "write expect in each turn")
		}
		for i, turn := range turns.Content {
			own := field(turn, "given")
			r.given(own)
			s := r.step(turn, merge(base, own))
			if i > 0 { // what the test began with is there already
				var now situation
				if own != nil {
					r.decode(own, &now)
				}
				if s.given.Files, s.given.Memory = now.Files, nil; now.Memory != nil || now.Params != nil {
					r.report(own, "memory and params are those of the whole test", "write them in the given of the test")
				}
			}
			t.steps = append(t.steps, s)
		}
		tests = append(tests, t)
	}
	return tests
}

func (r *reader) step(n, given *yaml.Node) step {
	s := step{at: n}
	expect := field(n, "expect")
	if expect == nil || len(expect.Content) == 0 {
		r.report(n, "nothing is expected", "write for example expect: {rule: NAME}")
		return s
	}
	r.decode(expect, &s.expect)
	if w := s.expect.Outcome; w != nil {
		r.word(w.at, "outcome", outcomes)
	}
	if w := s.expect.Rule; w != nil && w.text != "" {
		r.word(w.at, "rule", r.ruleNames())
	}
	if given != nil {
		r.decode(given, &s.given)
	}
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

// given reports names that neither the policy nor an event has.
func (r *reader) given(n *yaml.Node) {
	var facts, params []string
	for _, f := range r.policy.Facts {
		facts = append(facts, f.Name)
	}
	for _, p := range r.policy.Params {
		params = append(params, p.Name)
	}
	for key := range fields(field(n, "facts")) {
		if !r.open {
			r.word(key, "fact", facts)
		}
	}
	for key := range fields(field(n, "invalid")) {
		i := slices.Index(facts, key.Value)
		if r.word(key, "fact", facts); i >= 0 && !slices.Contains(replaced, r.policy.Facts[i].Source) {
			r.report(key, key.Value+" is read from a file", "write a file under files that cannot be used")
		}
	}
	for key := range fields(field(n, "params")) {
		r.word(key, "param", params)
	}
	for key := range fields(field(field(n, "memory"), "applied")) {
		r.word(key, "rule", r.ruleNames())
	}
	if transcript := field(n, "transcript"); transcript != nil {
		for _, item := range transcript.Content {
			role := field(item, "role")
			if role == nil {
				role = item
			}
			r.word(role, "role", []string{"user", "assistant"})
		}
	}
}
