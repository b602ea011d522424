package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// standIn answers for one name and leaves the rest to the embedded Facts.
type standIn struct{ rules.Facts }

func (s standIn) Name(ctx context.Context, name string) any {
	if name == "permission_mode" {
		return "plan"
	}
	return s.Facts.Name(ctx, name)
}

// WithFacts can replace the facts that rules read.
func TestWithFacts(t *testing.T) {
	asked := 0
	l := alone(t, "ralph: 1\nrules: [{name: on, continue: '${permission_mode} in ${session_id}'}]",
		loop.WithFacts(func(_ host.Event, world rules.Facts) rules.Facts { asked++; return standIn{world} }))
	d := l.Preview(t.Context(), host.Event{SessionID: "s", PermissionMode: "default"})
	if said(d) != "plan in s" || asked != 1 {
		t.Errorf("it says %q after %d askings", said(d), asked)
	}
}

// The home directory is that of the loop's environment, for facts and for what rules
// test.
func TestHomeOfTheEnvironment(t *testing.T) {
	p := newProject(t, nil)
	home := t.TempDir()
	p.env["HOME"] = home
	if err := os.WriteFile(filepath.Join(home, "note.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.run(p.loop("ralph: 1\nfacts: {note: {text: ~/note.txt}}\nrules: [{name: go, when: exists(\"~/note.txt\"), continue: '${note}'}]"), p.stop())
	if said(d) != "mine" {
		t.Errorf("it says %q", said(d))
	}
}

// A number beyond what JSON's readers agree on counts as the greatest one. That is
// reported where a rule reads it, once, with its place; a field that no rule reads is
// no matter.
func TestNumbersThatAreTooBig(t *testing.T) {
	const huge = "9007199254740993"
	for _, c := range []struct {
		name, facts, when string
		want              []string // notices
	}{
		{"typed", "s: {json: s.json, schema: {properties: {n: {type: integer}}}}", "s.n > 1 and s.n > 2", []string{"[ralph] s.json:1:7: s.n is 9007199254740993, too big to be exact; it counts as 9007199254740991"}},
		{"without a schema", "s: {json: s.json}", "s.list[0] > 1", []string{"[ralph] s.json:1:42: s.list[0] is 9007199254740993, too big to be exact; it counts as 9007199254740991"}},
		{"not read", "s: {json: s.json}", "s.k == 1", nil},
		{"front matter", "s: {frontmatter: s.md, schema: {properties: {n: {type: integer}}}}", "s.n > 1", []string{"[ralph] s.md:2:4: s.n is 9007199254740993, too big to be exact; it counts as 9007199254740991"}},
		{"in a list of files", "s: {glob: '*.json'}", "any(s, .value.n > 1)", []string{"[ralph] s/0/value/n: s.json: is 9007199254740993, too big to be exact; it counts as 9007199254740991"}},
		{"not read in a list of files", "s: {glob: '*.json'}", "any(s, .value.k == 1)", nil},
		{"what a program printed", "s: {exec: [cat, s.json]}", "s.json.n > 1", []string{"[ralph] s.json.n is 9007199254740993, too big to be exact; it counts as 9007199254740991"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"s.json": `{"n": ` + huge + `, "k": 1, "list": [` + huge + `]}`, "s.md": "---\nn: " + huge + "\n---\n"})
			d := p.run(p.loop("ralph: 1\nfacts:\n  "+c.facts+"\nrules: [{name: go, when: '"+c.when+"', continue: on}]", trusted()), p.stop())
			if said(d) != "on" {
				t.Errorf("it says %q: %v", said(d), d.Err)
			}
			if diff := cmp.Diff(c.want, d.Notices); diff != "" {
				t.Errorf("notices (-want +got)\n%s", diff)
			}
		})
	}
}
