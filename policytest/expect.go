package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
)

// expectation is what a decision must be, as nodes of the test file. A zero node is not compared.
type expectation struct {
	Outcome, Rule             yaml.Node
	Reason, Notice, Note, Log yaml.Node
	Effects                   yaml.Node
	Files                     map[string]*file
}

// expectation reports what cannot be expected.
func (r *reader) expectation(e *expectation) {
	if e.Outcome.Kind != 0 {
		r.word(&e.Outcome, "outcome", outcomes)
	}
	if e.Rule.Kind != 0 && e.Rule.Value+e.Rule.Tag != "!!str" {
		r.word(&e.Rule, "rule", r.ruleNames())
	}
	r.decode(&e.Effects, new([]map[string]any))
	texts := []*yaml.Node{&e.Reason, &e.Notice, &e.Note, &e.Log}
	for _, f := range e.Files {
		if f.at.Kind == yaml.SequenceNode {
			texts = append(texts, f.at)
		}
	}
	for _, n := range texts {
		if bad := func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode }; n.Kind == yaml.MappingNode || slices.ContainsFunc(n.Content, bad) {
			r.report(n, "a text is expected whole, or as a list of what occurs in it", "")
		}
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			r.report(n, "an empty list holds for every text", `write "" for no text`)
		}
	}
}

// failures are the expectations that are not met.
type failures []Failure

func (all *failures) add(at *yaml.Node, format string, args ...any) {
	*all = append(*all, Failure{Line: at.Line, Col: at.Column, Message: fmt.Sprintf(format, args...)})
}

// compare returns what of a decision is not as expected.
func (e *expectation) compare(got decided) (all failures) {
	why := got.why()
	for _, c := range []struct {
		what string
		want *yaml.Node
		got  string
	}{{"outcome", &e.Outcome, string(got.Outcome)}, {"rule", &e.Rule, got.Rule}} {
		if c.want.Kind != 0 && c.want.Value != c.got {
			all.add(c.want, "%s: want %q, got %q%s", c.what, c.want.Value, c.got, why)
			why = "" // once
		}
	}
	all.text("reason", &e.Reason, got.Reason)
	all.text("notice", &e.Notice, got.Notice)
	all.text("note", &e.Note, got.Note)
	all.text("log", &e.Log, strings.Join(got.Log, "\n"))
	var effects []string
	for _, x := range got.effects {
		effects = append(effects, x.String())
	}
	if diff := difference(effectLines(&e.Effects), strings.Join(effects, "\n")); e.Effects.Kind != 0 && diff != "" {
		all.add(&e.Effects, "effects (-want +got)\n%s", diff)
	}
	for _, path := range slices.Sorted(maps.Keys(e.Files)) {
		all.file("file "+path, e.Files[path], filepath.Join(got.root, filepath.FromSlash(path)))
	}
	return all
}

// effectLines returns expected effects, a line each, as Effect.String does.
func effectLines(n *yaml.Node) string {
	var effects []map[string]any
	_ = n.Decode(&effects) // as when it was read
	var lines []string
	for _, e := range effects {
		for kind, v := range e {
			value, ok := v.(string)
			if !ok {
				value = text.JSON(v)
			}
			lines = append(lines, kind+": "+value)
		}
	}
	return strings.Join(lines, "\n")
}

// text compares a text to a whole one, or to a list of what occurs in it. Space around a whole text does not matter.
func (all *failures) text(what string, n *yaml.Node, got string) {
	for _, item := range n.Content {
		if !strings.Contains(got, item.Value) {
			all.add(item, "%s: %q does not occur in it:\n%s", what, item.Value, got)
		}
	}
	if want, got := strings.TrimSpace(n.Value), strings.TrimSpace(got); n.Kind == yaml.ScalarNode && want != got {
		help := ""
		if want != "" && strings.Contains(got, want) {
			help = "; in brackets it need only occur in the text"
		}
		all.add(n, "%s (-want +got%s)\n%s", what, help, difference(want, got))
	}
}

// file compares a file to what is on the disk.
func (all *failures) file(what string, f *file, path string) {
	var got any
	switch b, err := os.ReadFile(path); {
	case f.Absent && err == nil:
		all.add(f.at, "%s: want none, got\n%s", what, b)
	case f.Absent:
	case err != nil:
		all.add(f.at, "%s: there is none", what)
	case f.JSON == nil:
		all.text(what, f.at, string(b))
	case json.Unmarshal(b, &got) != nil:
		all.add(f.at, "%s is not JSON:\n%s", what, b)
	case indented(f.JSON) != indented(got):
		all.add(f.at, "%s (-want +got)\n%s", what, difference(indented(f.JSON), indented(got)))
	}
}

// why returns the reason of a decision, and what the rules came to that were tried.
func (d decided) why() string {
	var b strings.Builder
	if d.Reason != "" {
		fmt.Fprintf(&b, "\n  reason: %s", strings.ReplaceAll(d.Reason, "\n", "\n    "))
	}
	for _, rule := range d.tried {
		fmt.Fprintf(&b, "\n  %s is %s", rule.Name, rule.Truth)
		if rule.Truth == "true" {
			continue
		}
		for _, o := range rule.Operands {
			why := o.Why
			if why == "" && len(o.Values) > 0 {
				why = "with " + text.JSON(o.Values)
			}
			fmt.Fprintf(&b, "\n    %s is %s %s", o.Text, o.Truth, why)
		}
	}
	return b.String()
}
