package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// Names that came after version 1 of the language yield to what a policy declares: one
// that loaded before them loads and decides alike.
func TestNamesYield(t *testing.T) {
	facts := map[string]rules.Value{"run": is(object{"outcome": "mine", "n": 2}), "state": is(object{"session": object{"elapsed": "field"}, "similar": "s", "run": 3})}
	names := map[string]any{"run.outcome": "ok", "session.elapsed": time.Minute}
	for _, c := range []struct{ name, policy, want string }{
		{"nothing is declared", "rules: [{name: a, note: '${run.outcome} ${run.iteration} ${session.elapsed} ${similar(\"a b\", \"A b\")}'}]", "ok 0 1m0s 1"},
		{"a fact", "facts: {run: {json: r.json}}\nrules: [{name: a, when: run.n == 2, note: '${run.outcome} ${session.elapsed}'}]", "mine 1m0s"},
		{"lets", "let: {session: '1', similar: session + 1}\nrules: [{name: a, note: '${session} ${similar}'}]", "1 2"},
		{"a param", "params: {run: {type: text, enum: [x], default: x}}\nrules: [{name: a, note: '${run}'}]", "x"},
		{"inline fields", "facts: {state: {json: s.json, inline: true, schema: {properties: {run: {type: integer}, similar: {type: string}, session: {type: object, properties: {elapsed: {type: string}}}}}}}\n" +
			"rules: [{name: a, note: '${session.elapsed} ${similar} ${run}'}]", "field s 3"},
		{"a variable of the expression", "rules: [{name: a, note: '${let run = 5; run + 1}'}]", "6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{facts: facts, names: names}
			v := w.eval(load(t, policy(strings.ReplaceAll(c.policy, "type: text, ", "")+"\n")))
			if diff := cmp.Diff(c.want, v.Parts[0].Note); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, v.Problems)
			}
		})
	}
}

// A declaration counts in its own file only: what it includes has ralph's name.
func TestNamesYieldInTheirFile(t *testing.T) {
	f := policy("let: {run: '7'}\nrules:\n  - include: guard.yaml\n  - {name: a, note: '${run}'}\n")
	f["guard.yaml"] = "ralph: 1\nrules: [{name: b, note: '${run.outcome}'}]\n"
	v := (&world{names: map[string]any{"run.outcome": "ok"}}).eval(load(t, f))
	if diff := cmp.Diff([]string{"ok", "7"}, []string{v.Parts[0].Note, v.Parts[1].Note}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// So does a function of the embedding program.
func TestNamesYieldToFunctions(t *testing.T) {
	cfg := rules.Config{Shipped: examples.FS, Functions: []rules.Function{{Name: "similar", Doc: "Mine.", Func: func(a, b string) string { return a + b }}}}
	v := (&world{}).eval(loadWith(t, policy("rules: [{name: a, note: '${similar(\"x\", \"y\")}'}]\n"), cfg))
	if diff := cmp.Diff("xy", v.Parts[0].Note); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailedTurn(t *testing.T) {
	const text = `
rules:
  - name: limited
    when: transcript.failed?.kind == "rate_limited"
    stop: 'a limit: ${transcript.failed.text}'
  - name: failed
    when: transcript.failed != nil
    stop: 'failed: ${transcript.failed.kind}'
  - name: ok
    stop: fine
`
	for want, failed := range map[string]any{
		"fine": nil, "failed: auth": object{"kind": "auth", "text": "m"}, "a limit: slow down": object{"kind": "rate_limited", "text": "slow down"},
	} {
		v := decide(t, text, &world{names: map[string]any{"transcript.failed": failed}})
		if diff := cmp.Diff(want, v.Reason); diff != "" {
			t.Errorf("(-want +got):\n%s\n%v", diff, v.Problems)
		}
	}
	_, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nrules: [{name: a, when: transcript.failed.kind == \"ratelimited\", stop: x}]\n"), rules.Config{})
	if diags.Err() == nil || diags[0].Check != "enum" {
		t.Errorf("a kind that there is not: %v", diags)
	}
}

func TestSimilar(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want string
	}{
		{"the tests fail in main", "The tests FAIL in main!", "1"},
		{"a b c", "x y z", "0"},
		{"a b c d", "a b c e", "0.6666666666666666"},
		{"a b a b", "a b", "0.5"},
		{"one", "One.", "1"},
		{"one", "two", "0"},
		{"one", "one two", "0"},
		{"", "", "1"},
		{"Größe der Datei", "größe der datei", "1"},
	} {
		for _, order := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			v := decide(t, "rules: [{name: a, note: '${similar(prompt, cwd)}'}]\n", &world{names: map[string]any{"prompt": order[0], "cwd": order[1]}})
			if diff := cmp.Diff(c.want, v.Parts[0].Note); diff != "" {
				t.Errorf("similar(%q, %q) (-want +got):\n%s", order[0], order[1], diff)
			}
		}
	}
}

// Long texts are paid for.
func TestSimilarPays(t *testing.T) {
	long := strings.Repeat("word ", 100_000)
	v := (&world{names: map[string]any{"prompt": long, "cwd": long}}).eval(load(t, policy("rules:\n  - {name: a, when: \"similar(prompt, cwd) == 1\", stop: x}\n")))
	if v.Cost.Steps < 200_000 {
		t.Errorf("it costs %+v", v.Cost)
	}
}
