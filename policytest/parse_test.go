package policytest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

var update = flag.Bool("update", false, "write the golden files again")

// Every mistake is reported at its place, with what to write instead.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, diags := Parse(filepath.Base(file), src)
			if f != nil {
				diags = f.Check(policy(t))
			}
			got := diags.Format()
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if len(diags) == 0 {
				t.Error("no finding has that severity")
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func policy(t testing.TB) *rules.Program {
	t.Helper()
	src := `ralph: 1
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}
rules:
  - name: enough
    when: state.n > 2
    stop: enough
`
	p, diags := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(src)}}, "p.yaml", rules.Config{})
	if p == nil {
		t.Fatal(diags)
	}
	return p
}

// What the file sets for all tests is in each, below what the test sets itself: objects
// are merged, everything else is replaced, and null removes.
func TestGivenIsMerged(t *testing.T) {
	f, diags := Parse("x_test.yaml", []byte(`
given:
  facts: {state: {a: 1, deep: {b: [1, 2], c: x}}, feature: auth}
  missing: [list]
  files: {a.txt: one, b.txt: two}
  env: {A: "1"}
  stop_hook_active: true
  input: {session_id: s1}
  loop: {total: 7}
  which: [make]
tests:
  - name: special
    given:
      facts: {state: {deep: {b: [3], d: null}}, list: [x]}
      missing: {feature: not there}
      files: {b.txt: null, c.txt: {text: three, age: 5s}}
      env: {B: 2}
      loop: {repeats: 2}
      session_id: null
      which: null
    expect: {rule: r, measure: {done: 1, total: null}}
  - name: plain
    expect: {rule: r}
`))
	if f == nil {
		t.Fatal(diags.Format())
	}
	want := situation{
		Facts:   map[string]any{"state": map[string]any{"a": 1, "deep": map[string]any{"b": []any{3}, "c": "x", "d": nil}}, "list": []any{"x"}},
		Missing: map[string]string{"feature": "not there"},
		Files:   map[string]givenFile{"a.txt": {Text: "one", Age: DefaultAge}, "c.txt": {Text: "three", Age: 5 * time.Second}},
		Env:     map[string]string{"A": "1", "B": "2"},
		Input:   map[string]any{"stop_hook_active": true},
		Loop:    &givenLoop{Continuations: 2, Total: 7, Repeats: 2},
	}
	opts := []cmp.Option{cmpopts.IgnoreUnexported(situation{}, givenFile{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, f.Tests[0].Given, opts...); diff != "" {
		t.Errorf("the first test (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"done": 1}, f.Tests[0].Expect.Measure); diff != "" {
		t.Errorf("a number that is null (-want +got)\n%s", diff)
	}
	// A test leaves no trace in the next one.
	want = situation{
		Facts:   map[string]any{"state": map[string]any{"a": 1, "deep": map[string]any{"b": []any{1, 2}, "c": "x"}}, "feature": "auth"},
		Missing: map[string]string{"list": ""},
		Files:   map[string]givenFile{"a.txt": {Text: "one", Age: DefaultAge}, "b.txt": {Text: "two", Age: DefaultAge}},
		Env:     map[string]string{"A": "1"},
		Input:   map[string]any{"stop_hook_active": true, "session_id": "s1"},
		Loop:    &givenLoop{Total: 7},
		Which:   []string{"make"},
	}
	if diff := cmp.Diff(want, f.Tests[1].Given, opts...); diff != "" {
		t.Errorf("the second test (-want +got)\n%s", diff)
	}
}

// An effect in a test and the effect of a decision meet in one text.
func TestEffects(t *testing.T) {
	f, diags := Parse("x_test.yaml", []byte(`
tests:
  - name: effects
    expect:
      effects:
        - set: epic.specs[1].status = "completed"
        - set: plan.active = false
        - set: plan.text = 'x'
        - delete: plan
        - archive: plan
        - prune: {glob: "tmp/*.md", older: 60m}
        - prune: tmp/*.md
`))
	if f == nil {
		t.Fatal(diags.Format())
	}
	prune := rules.Effect{Kind: rules.PruneEffect, Glob: "tmp/*.md", Older: time.Hour}
	effects := []rules.Effect{
		{Kind: rules.SetEffect, Fact: "epic", Path: []any{"specs", 1, "status"}, Value: "completed"},
		{Kind: rules.SetEffect, Fact: "plan", Path: []any{"active"}, Value: false},
		{Kind: rules.SetEffect, Fact: "plan", Path: []any{"text"}, Value: "x"},
		{Kind: rules.DeleteEffect, Fact: "plan"},
		{Kind: rules.ArchiveEffect, Fact: "plan"},
		prune, prune,
	}
	for i, e := range effects {
		if want := f.Tests[0].Expect.Effects[i]; !sameEffect(want, e) {
			t.Errorf("%q is not the effect %q", want, effectText(e))
		}
	}
	other := rules.Effect{Kind: rules.SetEffect, Fact: "plan", Path: []any{"active"}, Value: true}
	if sameEffect(f.Tests[0].Expect.Effects[1], other) {
		t.Error("two values of one field are taken for the same")
	}
}

func TestPatterns(t *testing.T) {
	f, diags := Parse("x_test.yaml", []byte(`
tests:
  - name: patterns
    expect: {reason: ["Task 3/5", "/^Task \\d+\\/5$/"], notice: ""}
`))
	if f == nil {
		t.Fatal(diags.Format())
	}
	e := f.Tests[0].Expect
	for _, p := range e.Reason {
		if !p.Match("Task 3/5") || p.Match("Task 4/6") {
			t.Errorf("the pattern %q does not tell the texts apart", p.Text)
		}
	}
	if e.Notice == nil || len(e.Notice) != 0 {
		t.Errorf("an empty text should mean that nothing is said: %+v", e.Notice)
	}
}

// The schema for editors knows what Parse knows: it accepts the tests that ship,
// and it is a schema.
func TestSchema(t *testing.T) {
	s, err := schema.Compile("test", Schema())
	if err != nil {
		t.Fatal(err)
	}
	if unknown := s.Unknown(); len(unknown) > 0 {
		t.Error(unknown)
	}
}
