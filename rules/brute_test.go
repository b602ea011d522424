package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-sdk/ralph/rules"
)

// smallParams and smallFacts declare a world small enough to try all of it.
const (
	smallParams = `ralph: 1
params:
  mode: {enum: [once, always], default: once}
`
	smallFacts = `facts:
  state:
    json: state.json
    inline: true
    schema:
      properties:
        phase: {enum: [plan, work, test], default: plan}
        on: {type: boolean, default: false}
        i: {type: integer, enum: [0, 1, 2], default: 0}
        n: {type: integer, enum: [0, 1], default: 1}
let:
  next: i + 1
  final: i >= n
`
)

// ownOperands are those that the when of a policy itself can use.
var ownOperands = []string{`stop_hook_active`, `not stop_hook_active`, `mode == "once"`, `true`}

var smallOperands = []string{
	`phase == "plan"`, `phase == "work"`, `phase != "test"`, `phase in ["plan", "test"]`, `"work" == phase`,
	`on`, `on == false`, `on != stop_hook_active`,
	`i < n`, `i >= n`, `i == n`, `i != 1`, `i > 0`, `i <= 1`, `1 < i`, `i + 1 < n`, `next > n + 1`, `i in [0, 2]`, `i in 1..2`, `i - n >= 1`,
	`final`, `missing(state)`, `invalid(state)`, `ok(state)`, `stop_hook_active`, `i < 0`, `n >= 0`, `mode == "once"`, `true`,
}

// opaqueOperands are those that the analyses do not understand.
var opaqueOperands = []string{`i + n == 3`, `said("DONE")`, `i * n == 2`, `phase startsWith "w"`, `string(i) == "1"`}

func drawCondition(t *rapid.T, operands []string, depth int) string {
	kind := "operand"
	if depth > 0 {
		kind = rapid.SampledFrom([]string{"operand", "operand", "and", "or", "not", "choose"}).Draw(t, "kind")
	}
	switch kind {
	case "and", "or":
		return "(" + drawCondition(t, operands, depth-1) + " " + kind + " " + drawCondition(t, operands, depth-1) + ")"
	case "not":
		return "not (" + drawCondition(t, operands, depth-1) + ")"
	case "choose":
		return "(" + drawCondition(t, operands, depth-1) + " ? " + drawCondition(t, operands, depth-1) + " : " + drawCondition(t, operands, depth-1) + ")"
	}
	return rapid.SampledFrom(operands).Draw(t, "operand")
}

type smallRule struct{ name, verb, when, unless string }

func (r smallRule) String() string {
	s := "  - name: " + r.name + "\n"
	if r.when != "" {
		s += "    when: |-\n      " + r.when + "\n"
	}
	if r.verb != "" {
		s += "    " + r.verb + ": " + r.verb + " by " + r.name + "\n"
	}
	return s + r.unless
}

type smallPolicy struct {
	gate  string
	isFor string // the when of the policy itself, "" for none
	rules []smallRule
}

func (p smallPolicy) String() string {
	var b strings.Builder
	b.WriteString(smallParams)
	if p.isFor != "" {
		b.WriteString("when: |-\n  " + p.isFor + "\n")
	}
	b.WriteString(smallFacts + "gate: " + p.gate + "\nlimits: {repeats: 3}\nrules:\n")
	for _, r := range p.rules {
		b.WriteString(r.String())
	}
	return b.String()
}

// drawPolicy makes rules of few words, so that they have much to do with one another.
func drawPolicy(t *rapid.T, all []string) smallPolicy {
	operands := rapid.SliceOfN(rapid.SampledFrom(all), 1, 4).Draw(t, "operands")
	p := smallPolicy{gate: rapid.SampledFrom([]string{"first", "first", "all"}).Draw(t, "gate")}
	if rapid.IntRange(0, 2).Draw(t, "is for something") == 0 {
		p.isFor = drawCondition(t, ownOperands, 2)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "rules") {
		r := smallRule{name: fmt.Sprintf("rule-%d", i)}
		r.verb = rapid.SampledFrom([]string{"stop", "continue", "ask", "stop", "continue", "note", ""}).Draw(t, "verb")
		if rapid.IntRange(0, 9).Draw(t, "guarded") > 0 {
			r.when = drawCondition(t, operands, 3)
		}
		if rapid.IntRange(0, 5).Draw(t, "unless") == 0 {
			r.unless = "    unless_repeated: {times: 2}\n"
		}
		p.rules = append(p.rules, r)
	}
	return p
}

// load returns the program of a policy for one value of its param.
func (p smallPolicy) load(t rapid.TB, mode string) *rules.Program {
	prog, diags := rules.Load(context.Background(), files{"policy.yaml": p.String()}.fs(), "policy.yaml", rules.Config{Set: map[string]string{"mode": mode}})
	if prog == nil {
		t.Fatalf("the policy does not load:\n%s\n%s", diags.Format(), p)
	}
	return prog
}

// smallWorlds yields every world that a small policy can distinguish.
func smallWorlds(p smallPolicy, yield func(mode string, w *world) bool) {
	var states []rules.Value
	text := p.String()
	text = p.isFor + text[strings.Index(text, "rules:\n"):]
	uses := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return regexp.MustCompile(`\b` + w + `\b`).MatchString(text) })
	}
	used := []bool{uses("phase"), uses("on"), uses("i", "next", "final"), uses("n", "final")}
	some := func(used bool, n int) int {
		if used {
			return n
		}
		return 1
	}
	for _, phase := range []string{"plan", "work", "test"}[:some(used[0], 3)] {
		for _, on := range []bool{false, true}[:some(used[1], 2)] {
			for i := range some(used[2], 3) {
				for n := range some(used[3], 2) {
				bad:
					for bad := range 16 {
						for bit := range used {
							if bad&(1<<bit) != 0 && !used[bit] {
								continue bad
							}
						}
						v := is(object{"phase": phase, "on": on, "i": i, "n": n})
						for bit, field := range []string{"/phase", "/on", "/i", "/n"} {
							if bad&(1<<bit) != 0 {
								v = with(v, field)
							}
						}
						states = append(states, v)
					}
				}
			}
		}
	}
	states = append(states, missing, invalid)
	var aside []string
	for _, r := range p.rules {
		if r.unless != "" {
			aside = append(aside, r.name)
		}
	}
	bools := func(needed bool) []bool {
		if needed {
			return []bool{false, true}
		}
		return []bool{false}
	}
	modes := []string{"once"}
	if strings.Contains(text, "mode ==") {
		modes = append(modes, "always")
	}
	for _, mode := range modes {
		for _, active := range bools(strings.Contains(text, "stop_hook_active")) {
			for _, said := range bools(strings.Contains(text, "said(")) {
				for mask := range 1 << len(aside) {
					given := map[string]int{}
					for bit, name := range aside {
						if mask&(1<<bit) != 0 {
							given[name] = 2
						}
					}
					for _, state := range states {
						w := &world{
							facts: map[string]rules.Value{"state": state},
							names: map[string]any{"stop_hook_active": active, "said": func(string) bool { return said }},
							given: given,
						}
						if !yield(mode, w) {
							return
						}
					}
				}
			}
		}
	}
}

// held finds the rules of a policy that hold in some world when they are evaluated.
func (p smallPolicy) held(t rapid.TB) map[string]bool {
	programs := map[string]*rules.Program{"once": p.load(t, "once"), "always": p.load(t, "always")}
	out := map[string]bool{}
	smallWorlds(p, func(mode string, w *world) bool {
		for _, s := range w.eval(programs[mode]).Trace.Steps {
			if s.Outcome == rules.Holds {
				out[s.Rule] = true
			}
		}
		return len(out) < len(p.rules)
	})
	return out
}

// alone returns the policy with only one rule, which is always evaluated.
func (p smallPolicy) alone(r smallRule) smallPolicy {
	return smallPolicy{gate: "first", isFor: p.isFor, rules: []smallRule{r}}
}

// ruleAt finds the rule that a line of the policy is part of.
func (p smallPolicy) ruleAt(line int) smallRule {
	at := strings.Count(smallPolicy{gate: p.gate, isFor: p.isFor}.String(), "\n") + 1
	for _, r := range p.rules {
		if at += strings.Count(r.String(), "\n"); line < at {
			return r
		}
	}
	return smallRule{}
}

// worldOf makes a world of a situation.
func worldOf(t rapid.TB, raw json.RawMessage) (mode string, w *world) {
	var in rules.Situation
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatalf("the situation %s: %v", raw, err)
	}
	w = &world{facts: map[string]rules.Value{}, names: map[string]any{"said": func(string) bool { return false }}, given: in.Given}
	for name, v := range in.Names {
		w.names[name] = v
	}
	fields := object{"phase": "plan", "on": false, "i": 0, "n": 1} // the defaults of the schema
	given, _ := in.Facts["state"].(map[string]any)
	for name, v := range given {
		if f, ok := v.(float64); ok {
			v = int(f)
		}
		fields[name] = v
	}
	state := is(fields)
	for _, u := range in.Unusable {
		state = with(state, "/"+strings.TrimPrefix(u, "state."))
	}
	w.facts["state"] = state
	if len(in.Missing) > 0 {
		w.facts["state"] = missing
	}
	if in.Invalid["state"] != "" {
		w.facts["state"] = invalid
	}
	mode = "once"
	if m, ok := in.Params["mode"].(string); ok {
		mode = m
	}
	return mode, w
}

// TestAnalyzeAgreesWithTryingEverything is what the analyses promise: a rule is
// called dead if and only if no world lets it hold in its turn, an operand is
// called constant if and only if it is, and each situation shows what it should.
func TestAnalyzeAgreesWithTryingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t, smallOperands)
		held := p.held(t)
		dead, rest := map[string]bool{}, false
		for _, d := range p.load(t, "once").Analyze() {
			r := p.ruleAt(d.Pos.Line)
			switch d.Check {
			case "shadowed-rule", "unreachable":
				dead[r.name] = true
				rest = rest || d.Check == "unreachable"
				if held[r.name] {
					t.Fatalf("%s, but it does\n%s", d, p)
				}
				p.mustHold(t, r, d, rules.Holds)
			case "never-true", "contradiction":
				p.mustBe(t, d, rules.Holds)
			case "always-true":
				p.mustBe(t, d, rules.No)
			case "undecided-value", "unguarded-fact":
				p.mustEnd(t, d, func(v *rules.Verdict) bool { return v.Action == rules.Stop && v.Rule == "" })
			}
		}
		for i, r := range p.rules {
			never := p.never(t, r)
			if rest && i > 0 && dead[p.rules[i-1].name] {
				dead[r.name] = true
			}
			if !held[r.name] && !never && !dead[r.name] {
				t.Fatalf("the rule %s never holds in its turn, and nothing is told\n%s\n%s", r.name, p.load(t, "once").Analyze().Format(), p)
			}
		}
	})
}

// never reports whether the condition of a rule is never true.
func (p smallPolicy) never(t rapid.TB, r smallRule) bool {
	return !p.alone(smallRule{name: r.name, verb: "stop", when: r.when}).held(t)[r.name]
}

// mustHold fails unless the situation makes the rule hold that the finding is about,
// and yet another one has its turn before.
func (p smallPolicy) mustHold(t rapid.TB, r smallRule, d rules.Diagnostic, want rules.Outcome) {
	if d.Situation == nil {
		t.Fatalf("%s has no situation\n%s", d, p)
	}
	mode, w := worldOf(t, d.Situation)
	v := w.eval(p.alone(r).load(t, mode))
	if got := v.Trace.Steps[0].Outcome; got != want {
		t.Fatalf("%s: in %s the rule %s: %s, should be: %s\n%s", d, d.Situation, r.name, got, want, p)
	}
	v = w.eval(p.load(t, mode))
	for _, s := range v.Trace.Steps {
		if s.Rule == r.name {
			t.Fatalf("%s: in %s the rule %s has its turn\n%s", d, d.Situation, r.name, p)
		}
	}
}

// mustEnd fails unless the policy decides like this in the world of the situation.
func (p smallPolicy) mustEnd(t rapid.TB, d rules.Diagnostic, like func(*rules.Verdict) bool) {
	if d.Situation == nil {
		t.Fatalf("%s has no situation\n%s", d, p)
	}
	mode, w := worldOf(t, d.Situation)
	if v := w.eval(p.load(t, mode)); !like(v) {
		t.Fatalf("%s, but in %s: %s %q\n%s", d, d.Situation, v.Action, v.Rule, p)
	}
}

// mustBe fails if in some world the operands that a finding quotes do not have this
// outcome.
func (p smallPolicy) mustBe(t rapid.TB, d rules.Diagnostic, not rules.Outcome) {
	parts := strings.Split(d.Message, "`")
	var operands []string
	for i := 1; i < len(parts); i += 2 {
		operands = append(operands, parts[i])
	}
	if strings.Contains(d.Message, "…") {
		return // too long to be quoted whole
	}
	word := " and "
	if d.Check == "always-true" {
		word = " or "
	}
	q := p.alone(smallRule{name: "alone", verb: "stop", when: "(" + strings.Join(operands, ")"+word+"(") + ")"})
	programs := map[string]*rules.Program{"once": q.load(t, "once"), "always": q.load(t, "always")}
	smallWorlds(q, func(mode string, w *world) bool {
		if v := w.eval(programs[mode]); !v.Cause.Untried() && v.Trace.Steps[0].Outcome == not {
			t.Fatalf("%s, but in %v it is: %s\n%s", d, w.facts, not, p)
		}
		return true
	})
	if d.Situation == nil {
		t.Fatalf("%s has no situation\n%s", d, p)
	}
}

// TestAnalyzeNeverGuesses: with operands that they do not understand, the analyses still
// report only what is true.
func TestAnalyzeNeverGuesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t, append(append([]string{}, smallOperands...), opaqueOperands...))
		held := p.held(t)
		for _, d := range p.load(t, "once").Analyze() {
			r := p.ruleAt(d.Pos.Line)
			switch d.Check {
			case "shadowed-rule", "unreachable":
				if held[r.name] {
					t.Fatalf("%s, but it does\n%s", d, p)
				}
			}
		}
	})
}

// TestDiffAgreesWithTryingEverything: two policies are called the same only if
// they decide alike in every world, and each difference comes with a world that
// shows it.
func TestDiffAgreesWithTryingEverything(t *testing.T) {
	check := func(operands []string) func(*rapid.T) {
		return func(t *rapid.T) {
			p := drawPolicy(t, operands)
			q := p
			q.rules = slices.Clone(p.rules)
			if rapid.Bool().Draw(t, "another") {
				q = drawPolicy(t, operands)
			} else { // the same policy with two rules swapped, as people do
				i, j := rapid.IntRange(0, len(q.rules)-1).Draw(t, "i"), rapid.IntRange(0, len(q.rules)-1).Draw(t, "j")
				q.rules[i], q.rules[j] = q.rules[j], q.rules[i]
			}
			mode := rapid.SampledFrom([]string{"once", "always"}).Draw(t, "mode")
			old, now := p.load(t, mode), q.load(t, mode)
			decide := func(w *world) (a, b *rules.Verdict) {
				return w.eval(old), w.eval(now)
			}
			c := rules.Diff(old, now, false)
			for _, d := range c.Differences {
				raw, err := json.Marshal(d.Situation)
				if err != nil {
					t.Fatal(err)
				}
				_, w := worldOf(t, raw)
				a, b := decide(w)
				if a.Action != d.Old.Action || a.Rule != d.Old.Rule || b.Action != d.New.Action || b.Rule != d.New.Rule || a.Action == b.Action {
					t.Fatalf("%+v → %+v, but in %s: %s %s → %s %s\n%s\n%s", d.Old, d.New, raw, a.Rule, a.Action, b.Rule, b.Action, p, q)
				}
			}
			both := p
			both.rules = append(slices.Clone(p.rules), q.rules...)
			both.isFor = p.isFor + " " + q.isFor // its names; it is not loaded
			differ := false
			smallWorlds(both, func(_ string, w *world) bool {
				if !w.fits() { // Diff is about states that fit their schemas
					return true
				}
				a, b := decide(w)
				if differ = a.Action != b.Action; differ && c.Same {
					t.Fatalf("the policies are called the same, but in %v: %s %s → %s %s\n%s\n%s", w.facts, a.Rule, a.Action, b.Rule, b.Action, p, q)
				}
				return !differ
			})
			if !differ && len(c.Differences) > 0 {
				t.Fatalf("the policies decide alike everywhere, but: %v\n%s\n%s", c.Differences, p, q)
			}
		}
	}
	t.Run("known", func(t *testing.T) { rapid.Check(t, check(smallOperands)) })
	t.Run("unknown", func(t *testing.T) {
		rapid.Check(t, check(append(append([]string{}, smallOperands...), opaqueOperands...)))
	})
}

// fits reports whether each field has a value of its type.
func (w *world) fits() bool {
	for _, v := range w.facts {
		if len(v.Unusable) > 0 {
			return false
		}
	}
	return true
}
