package rules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// An editor learns where each word of a policy is, of which kind, and where it is declared, also in a policy with errors and in
// what it includes.
func TestIndexWords(t *testing.T) {
	src := map[string]string{
		"p.yaml": `ralph: 1
params: {most: {type: integer, default: 3}}
facts:
  state: {json: s.json, inline: true, schema: {properties: {phase: {enum: [plan, work]}, todo: {type: array, items: {properties: {done: {type: boolean}}}}}}}
  notes: {text: "${phase}.md"}
memory: {seen: {type: integer, default: 0}}
let: {open: "any(state.todo, not .done)"}
loop: {state: state}
limits: {repeats: most}
rules:
  - {include: guard.yaml, with: {from: state, n: most + 1}}
  - name: go
    when: open and ok(notes) and phaze == "plan"
    continue: "${transcript.last} ${cut(notes, 5)}"
    then: [{set: state.phase = "work"}, {remember: seen = seen + 1}, {archive: state}]
`,
		"guard.yaml": "ralph: 1\nparams: {from: {fact: json}, n: {type: integer}}\nrules:\n  - {name: a, when: loop.total > n and from.phase == \"plan\", stop: x}\n",
	}
	files := fstest.MapFS{}
	for name, text := range src {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var index rules.Index
	_, diags := rules.Check(context.Background(), files, "p.yaml", rules.Config{Index: &index})
	if diags.Err() == nil || !strings.Contains(diags.Err().Error(), "phaze") {
		t.Fatal(diags)
	}
	var got []string
	for _, w := range index.Words {
		if w.Kind == "operator" || w.Kind == "string" || w.Kind == "number" {
			continue
		}
		line := []rune(strings.Split(src[w.Pos.File], "\n")[w.Pos.Line-1])
		text := string(line[w.Pos.Col-1 : w.End.Col-1])
		decl := ""
		if w.Decl.Line > 0 {
			decl = " → " + w.Decl.String()
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s%s %s", w.Pos, w.Kind, text, decl, w.Type)))
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want := strings.Split(strings.TrimSpace(indexed), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

const indexed = `
guard.yaml:2:10 param from → guard.yaml:2:10
guard.yaml:2:10 param from → guard.yaml:2:10 object
guard.yaml:2:30 param n → guard.yaml:2:30
guard.yaml:2:30 param n → guard.yaml:2:30 integer
guard.yaml:4:12 rule a → guard.yaml:4:12
guard.yaml:4:21 name loop.total
guard.yaml:4:34 param n → guard.yaml:2:30 integer
guard.yaml:4:40 fact from → guard.yaml:2:10 object
guard.yaml:4:45 field phase "plan" | "work"
p.yaml:11:15 include guard.yaml → guard.yaml:1:1
p.yaml:11:34 param from → guard.yaml:2:10
p.yaml:11:40 fact state → p.yaml:4:3 object
p.yaml:11:47 param n → guard.yaml:2:30
p.yaml:11:50 param most → p.yaml:2:10 integer
p.yaml:12:11 rule go → p.yaml:12:11
p.yaml:13:11 let open → p.yaml:7:7
p.yaml:13:20 function ok
p.yaml:13:23 fact notes → p.yaml:5:3 string
p.yaml:14:18 name transcript.last string
p.yaml:14:37 function cut
p.yaml:14:41 fact notes → p.yaml:5:3 string
p.yaml:15:18 fact state → p.yaml:4:3 object
p.yaml:15:24 field phase "plan" | "work"
p.yaml:15:52 memory seen → p.yaml:6:10 integer
p.yaml:15:59 memory seen → p.yaml:6:10 integer
p.yaml:15:80 fact state → p.yaml:4:3 object
p.yaml:2:10 param most → p.yaml:2:10 integer
p.yaml:4:3 fact state → p.yaml:4:3 object
p.yaml:5:20 field phase "plan" | "work"
p.yaml:5:3 fact notes → p.yaml:5:3 string
p.yaml:6:10 memory seen → p.yaml:6:10 integer
p.yaml:7:14 function any
p.yaml:7:18 fact state → p.yaml:4:3 object
p.yaml:7:24 field todo array of object
p.yaml:7:35 field done boolean
p.yaml:7:7 let open → p.yaml:7:7
p.yaml:8:15 fact state → p.yaml:4:3 object
p.yaml:9:19 param most → p.yaml:2:10 integer
`

// What can be at the end of a part of an expression depends on what is before it.
func TestIndexCompletes(t *testing.T) {
	const src = `ralph: 1
params: {most: {type: integer, default: 3}}
facts:
  state: {json: s.json, schema: {properties: {phase: {enum: [plan, work]}, at: {properties: {line: {type: integer}}}, todo: {type: array, items: {properties: {done: {type: boolean}, kind: {enum: [a, b]}}}}}}}
rules:
  - {name: go, when: state.phase == "plan", continue: "on"}
`
	for _, tt := range []struct {
		before string
		want   string // some of the words, in their order
		begun  int
		all    bool // want is all of them
	}{
		{"", "most state cut missing transcript filter", 0, false},
		{"sta", "state", 3, false},
		{"state.", "at phase todo", 0, true},
		{"state.at.l", "line", 1, true},
		{"state?.at?.", "line", 0, true},
		{"state.todo[0].", "done kind", 0, true},
		{"last(state.todo).", "done kind", 0, true},
		{"any(state.todo, .", "done kind", 0, true},
		{"any(filter(state.todo, .done), not #.", "done kind", 0, true},
		{"any(state.todo, .kind == \"", "a b", 0, true},
		{"state.phase == \"pl", "plan work", 2, true},
		{"state.phase == ", "\"plan\" \"work\" most state", 0, false},
		{"state.phase in [\"plan\", \"", "plan work", 0, true},
		{"missing(", "state", 0, true},
		{"transcript.l", "last", 1, false},
		{"nothing.", "", 0, true},
		{"(((", "most", 0, false},
		{`"𝒳`, "", 1, true},
	} {
		var index rules.Index
		if _, diags := rules.Check(context.Background(), fstest.MapFS{"p.yaml": {Data: []byte(src)}}, "p.yaml", rules.Config{Index: &index}); diags.Err() != nil {
			t.Fatal(diags)
		}
		words, begun := index.Expressions[0].Complete(tt.before)
		var got []string
		for _, w := range words {
			if tt.all || slices.Contains(strings.Fields(tt.want), w.Name) {
				got = append(got, w.Name)
			}
		}
		want := strings.Fields(tt.want)
		if !tt.all {
			slices.Sort(want)
			slices.Sort(got)
		}
		if !slices.Equal(got, want) || begun != tt.begun {
			t.Errorf("%s: %q, %d begun, want %q, %d", tt.before, got, begun, want, tt.begun)
		}
	}
}
