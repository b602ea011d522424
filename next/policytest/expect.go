package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/rules"
)

// expectation is what a decision must be. What is nil is not compared.
type expectation struct {
	Outcome, Rule             *word
	Reason, Notice, Note, Log *texts
	Effects                   *effects
	Files                     map[string]*file
}

// word is a text with its place.
type word struct {
	at   *yaml.Node
	text string
}

func (w *word) UnmarshalYAML(n *yaml.Node) error {
	w.at = n
	return n.Decode(&w.text)
}

// texts is what a text must be: whole, or with parts.
type texts struct {
	at    *yaml.Node
	whole string
	parts []word
}

func (t *texts) UnmarshalYAML(n *yaml.Node) error {
	t.at = n
	if n.Kind != yaml.SequenceNode {
		return n.Decode(&t.whole)
	}
	if len(n.Content) == 0 {
		return wrong(n, `an empty list holds for every text: write "" for no text`)
	}
	return n.Decode(&t.parts)
}

// failure is an expectation that is not met.
func failure(at *yaml.Node, message string) Failure {
	return Failure{Line: at.Line, Col: at.Column, Message: message}
}

// compare returns what of a decision is not as expected.
func (e expectation) compare(got decided) (all []Failure) {
	if w := e.Outcome; w != nil && w.text != string(got.Outcome) {
		all = append(all, failure(w.at, fmt.Sprintf("outcome: want %s, got %s%s", w.text, got.Outcome, got.why())))
	}
	if w := e.Rule; w != nil && w.text != got.Rule {
		why := ""
		if len(all) == 0 {
			why = got.why()
		}
		all = append(all, failure(w.at, fmt.Sprintf("rule: want %q, got %q%s", w.text, got.Rule, why)))
	}
	for _, c := range []struct {
		what string
		want *texts
		got  string
	}{
		{"reason", e.Reason, got.Reason}, {"notice", e.Notice, got.Notice}, {"note", e.Note, got.Note}, {"log", e.Log, strings.Join(got.Log, "\n")},
	} {
		if c.want != nil {
			all = append(all, c.want.compare(c.what, c.got)...)
		}
	}
	if w := e.Effects; w != nil {
		if diff := cmp.Diff(plain(w.want), plain(effectValues(got.effects))); diff != "" {
			all = append(all, failure(w.at, "effects (-want +got)\n"+diff))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(e.Files)) {
		all = append(all, e.Files[path].compare("file "+path, filepath.Join(got.root, filepath.FromSlash(path)))...)
	}
	return all
}

// compare compares a text. Space around it does not matter.
func (t *texts) compare(what, got string) (all []Failure) {
	for _, p := range t.parts {
		if !strings.Contains(got, p.text) {
			all = append(all, failure(p.at, fmt.Sprintf("%s: %q does not occur in it:\n%s", what, p.text, got)))
		}
	}
	if want, got := strings.TrimSpace(t.whole), strings.TrimSpace(got); len(t.parts) == 0 && want != got {
		help := ""
		if want != "" && strings.Contains(got, want) {
			help = "; in brackets it need only occur in the text"
		}
		all = append(all, failure(t.at, fmt.Sprintf("%s (-want +got%s)\n%s", what, help, cmp.Diff(want, got))))
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
		return (&texts{f.at, f.Text, f.parts}).compare(what, string(b))
	}
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		return []Failure{failure(f.at, fmt.Sprintf("%s is not JSON: %v", what, err))}
	}
	if diff := cmp.Diff(plain(f.JSON), got); diff != "" {
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
		for _, o := range rule.Operands {
			switch {
			case rule.Truth == "true" || o.Truth != rule.Truth:
			case o.Why != "":
				fmt.Fprintf(&b, ": %s: %s", o.Text, o.Why)
			default:
				fmt.Fprintf(&b, ": %s with %s", o.Text, jsonText(o.Values))
			}
		}
	}
	return b.String()
}

// jsonText returns a value as JSON.
func jsonText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// effects are the expected effects, in the form of effectValues.
type effects struct {
	at   *yaml.Node
	want []any
}

func (e *effects) UnmarshalYAML(n *yaml.Node) error {
	e.at, e.want = n, []any{}
	return n.Decode(&e.want)
}

// effectValues returns effects as a test writes them:
//
//	set: epic.specs[1].status = "completed"
//	archive: plan
//	prune: {glob: tmp/*.md, older: 24h}
//	run: [notify, done]
func effectValues(all []rules.Effect) []any {
	values := []any{}
	for _, e := range all {
		var v any = strings.Join(e.Args, " ")
		switch e.Kind {
		case "set":
			place := e.Fact.Name
			for _, step := range e.Path {
				if name, ok := step.(string); ok {
					place += "." + name
				} else {
					place += fmt.Sprintf("[%v]", step)
				}
			}
			v = place + " = " + jsonText(e.Value)
		case "archive":
			v = e.Fact.Name
		case "prune":
			v = map[string]any{"glob": e.Args[0], "older": strings.TrimSuffix(strings.TrimSuffix(e.Older.String(), "0s"), "0m")}
		case "run":
			v = e.Args
		}
		values = append(values, map[string]any{e.Kind: v})
	}
	return values
}

// plain returns a value as JSON has it, so that values of different types can be compared.
func plain(v any) (out any) {
	_ = json.Unmarshal([]byte(jsonText(v)), &out)
	return out
}
