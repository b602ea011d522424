package rules

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const checkHead = `ralph: 1
params: {once: {type: boolean, default: true}, most: {type: integer, default: 3}}
facts:
  state:
    json: state.json
    inline: true
    schema:
      properties:
        phase: {enum: [plan, work], default: plan}
        code: {enum: [0, 1, 5]}
        mode: {type: string, default: ""}
        kind: {type: string}
        step: {type: integer, minimum: 0, default: 0}
        steps: {type: integer, default: 0}
        tries: {type: integer}
        share: {type: number, default: 0}
        on: {type: boolean, default: true}
  todo: {checklist: TODO.md}
  done: {checklist: DONE.md, default: []}
  tests: {exec: [make, test]}
let:
  open: filter(todo, not .done)
  left: steps - step
  some: len(todo) > 0
  late: 'find([step, steps], # > 5)'
rules:
`

// checked returns what Check finds of rules, without what is unused.
func checked(t *testing.T, rules string) (out []string) {
	t.Helper()
	for _, f := range Check(mustParse(t, checkHead+rules)) {
		if !f.Warning {
			t.Errorf("%v is no warning", f)
		}
		if f.Check == "unused" {
			continue
		}
		s := fmt.Sprintf("%d:%d %s: %s", f.Line-strings.Count(checkHead, "\n"), f.Col, f.Check, f.Message)
		if f.Situation != "" {
			s += " " + f.Situation
		}
		out = append(out, s)
	}
	return out
}

func TestCheck(t *testing.T) {
	tests := []struct{ name, rules, want string }{
		{"a value below the minimum", `- {name: a, when: step < 0 or on, stop: x}`,
			`1:19 never-true: step < 0 is never true`},
		{"a status that a default rules out", `- {name: a, when: missing(done), stop: x}`,
			`1:19 never-true: missing(done) is never true`},
		{"a comparison that always holds", `- {name: a, when: on and step >= 0, continue: x}`,
			`1:26 always-true: step >= 0 is never false`},
		{"two values at once", `- {name: a, when: 'phase == "plan" and step > 3 and phase == "work"', stop: x}`,
			`1:53 contradiction: phase == "plan" and step > 3 and phase == "work" are never true together`},
		{"a range without a number", `- {name: a, when: step + 1 > steps and steps > step, stop: x}`,
			`1:40 contradiction: step + 1 > steps and steps > step are never true together`},
		{"lengths of the same list", `- {name: a, when: len(todo) == 0 and len(todo) >= 2, stop: x}`,
			`1:38 contradiction: len(todo) == 0 and len(todo) >= 2 are never true together`},
		{"the same question twice", `- {name: a, when: said("A") and not said("A"), stop: x}`,
			`1:37 contradiction: said("A") and not (said("A")) are never true together`},
		{"all cases", `- {name: a, when: some or not some, stop: x}`,
			`1:19 always-true: some or not (some) is never false`},
		{"an earlier rule decides", "- {name: a, when: busy or asked, stop: x}\n- {name: b, when: 'asked and phase == \"work\"', continue: x}",
			`2:3 never-decides: b never decides: where it holds, a decides before it given: {event: {asked: true}, facts: {state: {phase: work}}}`},
		{"two earlier rules decide together", "- {name: a, when: step < 3, stop: x}\n- {name: b, when: step >= 2, continue: x}\n- {name: c, when: step == steps, stop: x}",
			`3:3 never-decides: c never decides: where it holds, a or b decides before it given: {facts: {state: {step: 0, steps: 0}}}`},
		{"a rule without a condition decides", "- {name: a, stop: x}\n- {name: b, when: busy, notice: x}",
			`2:3 never-decides: b never decides: where it holds, a decides before it given: {event: {busy: true}}`},
		{"once per prompt", "- {name: a, when: invalid(todo), stop: x}\n- {name: b, when: step < steps and not stop_hook_active, continue: x}",
			`2:3 once-per-prompt: the policy continues the agent once per prompt: each rule that continues it needs stop_hook_active to be false`},
		{"a limit that cannot be read", "- {name: a, when: tries >= 10, stop: x}\n- {name: b, when: step < steps, continue: x}",
			`1:19 optional-field: where state.tries is absent, a is skipped, and b continues the agent given: {facts: {state: {step: 0, steps: 1}}}`},
		{"a text that fails", `- {name: a, when: ok(todo), continue: "${todo[0].text}"}`,
			`1:42 failing-text: this placeholder fails where the rule holds: todo[0].text failed: there is no element 0 in a list of 0 given: {facts: {todo: []}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, strings.Join(checked(t, test.rules), "\n")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Nothing is wrong with these conditions: each part of them can be true and false, and each whole can be true.
func TestCheckFindsNothing(t *testing.T) {
	for _, when := range []string{
		`step > 3 and step < 5`, `step + 1 == steps and steps > 7`, `step - steps > 100 and steps > 50`, `share > 0.5 and share < 1`, `share > 1 and share < 1.001`,
		`step < steps and steps < tries and tries < 3`, `left > 5 and left < 7`, `len(open) > 2 and len(todo) > 3`, `len(todo) == 1000`, `tests.code > 1 and tests.code < 3`,
		`kind != mode and kind != "" and mode != ""`, `mode != "a" and mode != "b"`, `kind in [mode, "a"] and kind != "a"`, `phase == "work"`, `code == 5`,
		`not (step > 1) and not (step < 1)`, `(tries ?? 0) > 3`, `late == 1`, `once`, `most > 3 and most < 5`, `not once and most == 7`,
		`invalid(done)`, `missing(state) and (kind ?? "a") == "a"`, `mode startsWith "a" and not (mode startsWith "ab")`, `step * 2 > 7 and step * 2 < 9`,
		`any(todo, .done) and any(todo, not .done)`, `some and len(open) == 0`, `loop.continuations > 3`, `env.CI == "1"`,
		`stop_hook_active and busy and your_turn`,
	} {
		if found := checked(t, fmt.Sprintf("- {name: a, when: '%s', stop: x}", when)); len(found) > 0 {
			t.Errorf("%s: %s", when, found)
		}
	}
}

// Each value of an enum is tried, however many there are.
func TestCheckOfLargeEnum(t *testing.T) {
	src := "ralph: 1\nfacts: {s: {json: s.json, inline: true, schema: {properties: {n: {enum: [%s 1000]}}}}}\nrules: [{name: a, when: n == 1000, stop: x}]\n"
	if found := Check(mustParse(t, fmt.Sprintf(src, strings.Repeat("0, ", 200)))); len(found) > 0 {
		t.Error(found)
	}
}

// The last rule is reached where something is unknown, or where at_most holds an earlier rule back.
func TestCheckOfUnknown(t *testing.T) {
	for _, rules := range []string{
		"- {name: a, when: step > 2, continue: x}\n- {name: b, when: step <= 2, continue: x}\n- {name: c, when: on, stop: x}",
		"- {name: a, when: tries > 2, stop: x}\n- {name: b, when: tries <= 2, stop: x}\n- {name: c, stop: x}",
		"- {name: a, when: late > 2, continue: x}\n- {name: b, when: late <= 2, continue: x}\n- {name: c, when: on, stop: x}",
		"- {name: a, when: busy, continue: x}\n- {name: b, when: not busy, continue: x}\n- {name: c, stop: x}",
		"- {name: a, continue: x, at_most: 3}\n- {name: b, stop: x}",
	} {
		if found := checked(t, rules); len(found) > 0 {
			t.Errorf("%s\n%s", rules, found)
		}
	}
}

func TestCheckTexts(t *testing.T) {
	for rule, want := range map[string]string{
		"- name: a\n  when: busy # a comment\n  stop: 'Fix #12'":         "",
		"- name: a\n  when: busy #12\n  stop: x":                         "2:14 comment: in YAML a # after a space begins a comment, and this is cut here",
		"- name: a\n  continue: Fix\n    issue  #12 now":                 "3:12 comment: in YAML a # after a space begins a comment, and this is cut here",
		"- name: a\n  continue: ${step} of ${steps} # 3":                 "2:33 comment: in YAML a # after a space begins a comment, and this is cut here",
		"- name: a\n  continue: |-\n    Fix #12":                         "",
		"- name: a\n  continue: Task {{step}} of $${{x}}":                "2:18 placeholder: {{step}} is sent as it is",
		"- {name: a, when: busy, notice: done} # a comment\n# another\n": "",
	} {
		if diff := cmp.Diff(want, strings.Join(checked(t, rule), "\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", rule, diff)
		}
	}
}

func TestCheckUnused(t *testing.T) {
	p := mustParse(t, `ralph: 1
params: {most: {type: integer, default: 3}, cap: {type: integer, default: 9}}
facts:
  old: {text: old.txt}
  log: {text: log.txt}
  state: {json: state.json, inline: true, schema: {requird: [step], properties: {step: {type: integer, default: 0}, titel: {type: string}}}}
let:
  a: step + 1
limits: {continuations: cap}
rules:
  - {name: go, when: step < 3, continue: Go on., then: [archive: log]}
`)
	var got []string
	for _, f := range Check(p) {
		got = append(got, f.line())
	}
	want := []string{
		"policy.yaml:2:10: warning: nothing reads the param most [unused]",
		"policy.yaml:4:3: warning: nothing reads the fact old [unused]",
		"policy.yaml:6:52: warning: requird is no keyword of JSON Schema, and is ignored [schema]",
		"policy.yaml:8:3: warning: nothing reads the let a [unused]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A condition of many variables ends within the steps of a search, without a claim.
func TestCheckEnds(t *testing.T) {
	src := "ralph: 1\nfacts:\n  s:\n    json: s.json\n    inline: true\n    schema:\n      properties:\n"
	var parts []string
	for i := range 40 {
		src += fmt.Sprintf("        n%d: {type: integer}\n", i)
		parts = append(parts, fmt.Sprintf("n%d < n%d", i, (i+1)%40))
	}
	p := mustParse(t, src+"rules:\n  - name: a\n    when: "+strings.Join(parts, " and ")+"\n    stop: x\n")
	if found := Check(p); len(found) > 0 {
		t.Error(found)
	}
}

func TestDiff(t *testing.T) {
	const head = `ralph: 1
facts:
  state: {json: state.json, inline: true, schema: {properties: {step: {type: integer, default: 0}, steps: {type: integer, default: 0}}}}
  todo: {checklist: TODO.md}
`
	next := "  - {name: next, when: step < steps, continue: Go on.}\n"
	tests := []struct {
		name, old, new string
		want           []Difference
		exhausted      bool
	}{
		{"the same", next, next, nil, true},
		{"other names and words", next, strings.NewReplacer("next", "go", "Go on.", "Go.").Replace(next), nil, true},
		{"another way to say it", next, "  - {name: done, when: steps <= step, stop: x}\n" + next, nil, true},
		{"a boundary", next, strings.Replace(next, "<", "<=", 1),
			[]Difference{{"stop (no rule decides)", "continue by next", "given: {facts: {state: {step: 0, steps: 0}}}"}}, true},
		{"a marker", next, "  - {name: end, when: 'said(\"END\")', done: x}\n" + next, []Difference{
			{"stop (no rule decides)", "done by end", "given: {event: {last_assistant_message: END}, facts: {state: {step: 0, steps: 0}}}"},
			{"continue by next", "done by end", "given: {event: {last_assistant_message: END}, facts: {state: {step: 0, steps: 1}}}"},
		}, true},
		{"a file that is no file", next, "  - {name: broken, when: invalid(todo), continue: x}\n" + next,
			[]Difference{{"stop (no rule decides)", "continue by broken", "given: {facts: {state: {step: 0, steps: 0}}, files: {TODO.md/: \"\"}}"}}, true},
		{"fewer times", next, strings.Replace(next, "}", ", at_most: 2}", 1),
			[]Difference{{"continue by next", "stop (no rule decides)", "given: {facts: {state: {step: 0, steps: 1}}, memory: {applied: {next: 2}}}"}}, true},
		{"what boundary values do not decide", next, "  - {name: odd, when: step * step == 1681, stop: x}\n" + next, nil, false},
		{"a limit", next, next + "limits: {continuations: 5}\n",
			[]Difference{{"limits.continuations 100", "limits.continuations 5", "given: {memory: {continuations: 5}}"}}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, exhausted := diff(context.Background(), 200_000, mustParse(t, head+"rules:\n"+test.old), mustParse(t, head+"rules:\n"+test.new))
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if exhausted != test.exhausted {
				t.Errorf("exhausted: %v", exhausted)
			}
		})
	}
}

// Diff ends with its context.
func TestDiffEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := mustParse(t, "ralph: 1\nrules:\n  - {name: go, when: busy, continue: x}\n")
	if found, exhausted := Diff(ctx, p, p); len(found) > 0 || exhausted {
		t.Error(found, exhausted)
	}
}
