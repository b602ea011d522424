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

// failure is an expectation that is not met.
func failure(at *yaml.Node, message string) Failure {
	return Failure{Line: at.Line, Col: at.Column, Message: message}
}

// compare returns what of a decision is not as expected.
func (e *expectation) compare(got decided) (all []Failure) {
	why := got.why()
	for _, c := range []struct {
		what string
		want *yaml.Node
		got  string
	}{{"outcome", &e.Outcome, string(got.Outcome)}, {"rule", &e.Rule, got.Rule}} {
		if c.want.Kind != 0 && c.want.Value != c.got {
			all = append(all, failure(c.want, fmt.Sprintf("%s: want %q, got %q%s", c.what, c.want.Value, c.got, why)))
			why = "" // once
		}
	}
	all = append(all, compareText("reason", &e.Reason, got.Reason)...)
	all = append(all, compareText("notice", &e.Notice, got.Notice)...)
	all = append(all, compareText("note", &e.Note, got.Note)...)
	all = append(all, compareText("log", &e.Log, strings.Join(got.Log, "\n"))...)
	if e.Effects.Kind != 0 {
		want, err := effectLines(&e.Effects)
		var lines []string
		for _, x := range got.effects {
			lines = append(lines, x.String())
		}
		if diff := difference(want, strings.Join(lines, "\n")); diff != "" || err != nil {
			all = append(all, failure(&e.Effects, "effects (-want +got)\n"+diff))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(e.Files)) {
		all = append(all, e.Files[path].compare("file "+path, filepath.Join(got.root, filepath.FromSlash(path)))...)
	}
	return all
}

// effectLines returns expected effects, a line each, as Effect.String does.
func effectLines(n *yaml.Node) (string, error) {
	var effects []map[string]any
	err := n.Decode(&effects)
	var lines []string
	for _, e := range effects {
		for kind, v := range e {
			if s, ok := v.(string); ok {
				lines = append(lines, kind+": "+s)
			} else {
				lines = append(lines, kind+": "+text.JSON(v))
			}
		}
	}
	return strings.Join(lines, "\n"), err
}

// compareText compares a text to a whole one, or to a list of what occurs in it. Space around a whole text does not matter.
func compareText(what string, n *yaml.Node, got string) (all []Failure) {
	for _, item := range n.Content {
		if !strings.Contains(got, item.Value) {
			all = append(all, failure(item, fmt.Sprintf("%s: %q does not occur in it:\n%s", what, item.Value, got)))
		}
	}
	if want, got := strings.TrimSpace(n.Value), strings.TrimSpace(got); n.Kind == yaml.ScalarNode && want != got {
		help := ""
		if want != "" && strings.Contains(got, want) {
			help = "; in brackets it need only occur in the text"
		}
		all = append(all, failure(n, fmt.Sprintf("%s (-want +got%s)\n%s", what, help, difference(want, got))))
	}
	return all
}

// compare compares a file to what is on the disk.
func (f *file) compare(what, path string) []Failure {
	b, err := os.ReadFile(path)
	switch {
	case f.Absent && err != nil:
		return nil
	case f.Absent:
		return []Failure{failure(f.at, fmt.Sprintf("%s: want none, got\n%s", what, b))}
	case err != nil:
		return []Failure{failure(f.at, what+": there is none")}
	case f.JSON == nil:
		return compareText(what, f.at, string(b))
	}
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		return []Failure{failure(f.at, fmt.Sprintf("%s is not JSON: %v", what, err))}
	}
	if diff := difference(indented(f.JSON), indented(got)); diff != "" {
		return []Failure{failure(f.at, what+" (-want +got)\n"+diff)}
	}
	return nil
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
