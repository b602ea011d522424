package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// shown are the checks whose findings a state can show.
var shown = []string{
	"never-true", "always-true", "contradiction", "shadowed-rule", "unreachable",
	"undecided-value", "unguarded-fact", "optional-field", "unbounded-continue", "set-missing",
}

// Every policy in testdata/analysis can be used and does not mean what it says;
// the golden file beside it is what `ralph check` prints about it. To add a case,
// add the policy and run the test with -update.
func TestCheck(t *testing.T) {
	const dir = "testdata/analysis"
	for _, name := range corpus(t, dir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := os.DirFS(dir)
			p, diags := rules.Check(t.Context(), fsys, name, rules.Config{Shipped: examples.FS})
			if p == nil || len(diags) == 0 {
				t.Errorf("the policy is to load, and something is to be said:\n%s", diags.Format())
			}
			checkDiagnostics(t, fsys, diags)
			for _, d := range diags {
				if slices.Contains(shown, d.Check) && d.Situation == nil {
					t.Errorf("%s has no situation", d)
				}
			}
			golden(t, filepath.Join(dir, strings.TrimSuffix(name, ".yaml")+".golden"), diags.Format())
		})
	}
}

// The analyses have nothing to say of correct policies, nor of those that ship.
func TestCheckIsSilent(t *testing.T) {
	for _, name := range corpus(t, "testdata/ok") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := rules.Check(t.Context(), os.DirFS("testdata/ok"), name, rules.Config{Shipped: examples.FS})
			if slices.ContainsFunc(diags, func(d rules.Diagnostic) bool { return d.Severity != rules.Info }) {
				t.Errorf("there is something to say:\n%s", diags.Format())
			}
		})
	}
	for _, name := range shippedPolicies(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, diags := rules.Check(t.Context(), examples.FS, name, rules.Config{Shipped: examples.FS}); len(diags) > 0 {
				t.Errorf("there is something to say:\n%s", diags.Format())
			}
		})
	}
}

// A shipped policy has no findings, whatever its params are set to.
func TestCheckWithParams(t *testing.T) {
	for _, reentry := range []string{"once", "progress", "always"} {
		_, diags := rules.Check(t.Context(), examples.FS, "speckit/speckit.yaml", rules.Config{Shipped: examples.FS, Set: map[string]string{"reentry": reentry}})
		if len(diags) > 0 {
			t.Errorf("with reentry %s:\n%s", reentry, diags.Format())
		}
	}
}

// A rule is reported as dead only if that is certain: what the analyses do not understand
// may hold or not.
func TestAnalyzeSaysNothingOfWhatItDoesNotKnow(t *testing.T) {
	for _, tt := range []struct{ name, rules string }{
		{"a function", `
  - {name: a, when: said("A"), stop: a}
  - {name: b, when: not said("B"), stop: b}
  - {name: c, when: len(phase) > 3, stop: c}
  - {name: d, when: len(phase) > 4, stop: d}`},
		{"arithmetic that is no difference", `
  - {name: a, when: step * 2 > 8, stop: a}
  - {name: b, when: step > 4, stop: b}`},
		{"numbers that need not be whole", `
  - {name: a, when: share <= 0.5, stop: a}
  - {name: b, when: share >= 0.6 and share < 1, stop: b}`},
		{"a field that can be broken", `
  - {name: gone, when: missing(state), stop: gone}
  - {name: a, when: step >= 3, continue: a}
  - {name: b, when: step < 3, continue: b}
  - {name: c, when: 'phase != ""', stop: 'step is unusable, phase is not'}`},
		{"a field that can be absent", `
  - {name: a, when: '(left ?? 5) > 3', stop: a}
  - {name: b, when: 'left == nil', stop: b}
  - {name: c, when: left != nil, stop: c}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := load(t, policy(`facts:
  state:
    json: state.json
    inline: true
    schema: {properties: {phase: {type: string, default: ""}, step: {type: integer, default: 0}, share: {type: number, default: 0}, left: {type: integer}}}
limits: {repeats: 3}
rules:`+tt.rules))
			if diags := p.Analyze(); len(diags) > 0 {
				t.Errorf("this cannot be known:\n%s", diags.Format())
			}
		})
	}
}

// A situation is a state in the words of a test.
func TestSituation(t *testing.T) {
	p := load(t, policy(`params:
  most: {type: integer, minimum: 1, default: 5}
facts:
  settings:
    frontmatter: settings.md
    schema: {properties: {on: {type: boolean, default: true}}}
    default: {}
  name: {text: name.txt}
  state:
    json: ${name}/state.json
    schema:
      properties:
        phase: {enum: [plan, work, test], default: plan}
        task: {properties: {index: {type: integer, minimum: 0, default: 0}}, default: {}}
        total: {type: integer, minimum: 0, default: 0}
rules:
  - name: first
    when: state.phase == "work" and state.task.index + 1 < state.total and session_id != "" and name != "demo" and settings.on
    stop: first
  - name: second
    when: state.phase == "work" and state.task.index + 2 < state.total and session_id != "" and name != "demo" and settings.on and stop_hook_active and most > 6
    stop: second
`))
	diags := p.Analyze()
	if len(diags) != 1 {
		t.Fatalf("there should be one finding:\n%s", diags.Format())
	}
	var got rules.Situation
	if err := json.Unmarshal(diags[0].Situation, &got); err != nil {
		t.Fatal(err)
	}
	want := rules.Situation{
		Facts: map[string]any{
			"settings": map[string]any{"on": true},
			"name":     "something",
			"state":    map[string]any{"phase": "work", "task": map[string]any{"index": 0.0}, "total": 3.0},
		},
		Names:  map[string]any{"session_id": "something", "stop_hook_active": true},
		Params: map[string]any{"most": 7.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the situation (-want +got):\n%s", diff)
	}
}

// FuzzCheck: for any policy, the analyses end, report the same each time, and show states
// that are JSON.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"testdata/analysis/*.yaml", "testdata/ok/*.yaml", "testdata/diagnostics/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		fsys := files{"policy.yaml": string(src)}.fs()
		cfg := rules.Config{Shipped: examples.FS}
		p, diags := rules.Check(t.Context(), fsys, "policy.yaml", cfg)
		if p == nil {
			return
		}
		for _, d := range diags {
			if d.Situation != nil && json.Unmarshal(d.Situation, new(rules.Situation)) != nil {
				t.Errorf("%s: the situation is %s", d, d.Situation)
			}
			if d.Severity == rules.Error {
				t.Errorf("%s, but the policy can be used", d)
			}
		}
		_, again := rules.Check(t.Context(), fsys, "policy.yaml", cfg)
		if diff := cmp.Diff(diags.Format(), again.Format()); diff != "" {
			t.Errorf("the second time (-first +second):\n%s", diff)
		}
		if c := rules.Diff(p, p, true); !c.Same && len(c.Unknown) == 0 {
			t.Errorf("the policy differs from itself: %v", c)
		}
	})
}
