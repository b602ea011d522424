package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// The tests of this file ask Check and Diff about random policies, and then look in random situations, by the evaluator of decisions, for
// one that contradicts what they claim.

const (
	randomPolicies   = 120
	randomSituations = 300
)

// dice make random policies and situations.
type dice struct{ *rand.Rand }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// one reports true in one of n cases.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

const randomHead = `ralph: 1
params:
  once: {type: boolean, default: true}
  most: {type: integer, default: 3, minimum: 1}
facts:
  state:
    json: state.json
    inline: true
    schema:
      %s
      properties:
        phase: {enum: [plan, work, rest], default: plan}
        code: {enum: [0, 1, 5]}
        mode: {type: string, default: ""}
        kind: {type: string}
        n: {type: integer, minimum: 0, default: 0}
        m: {type: integer, maximum: 9}
        k: {type: integer, default: 1}
        share: {type: number, default: 0.5}
        level: {type: number}
        on: {type: boolean, default: true}
        off: {type: boolean}
        names: {type: array, items: {type: string}, default: []}
        sub: {properties: {a: {type: integer}, b: {type: string, default: x}}}
  note: {text: note.txt}
  todo: {checklist: TODO.md%s}
  tests: {exec: [make, test]}
  free: {json: free.json, default: {}}
let:
  open: filter(todo, not .done)
  total: n + k
  big: 'find([n, k], # > 2)'
  ready: on and n > 1
  ticked: len(todo) > 0 and len(open) == 0
  word: 'mode != "" ? mode : session_id'
  flag: free.flag
rules:
`

// operand returns a random operand.
func (d dice) operand() string {
	number := func() string {
		return pick(d, "n", "k", "n", "m", "state.n", "total", "big", "most", "len(todo)", "len(open)", "tests.code", "(m ?? 2)", "loop.continuations", "sub.a", "code")
	}
	text := func() string {
		return pick(d, "phase", "mode", "kind", `(kind ?? "a")`, "word", "session_id", "state.mode", "env.HOME", "sub.b", "note", "permission_mode", "free.word")
	}
	constant := func() string { return fmt.Sprintf("%q", pick(d, "a", "b", "", "work")) }
	compare := func() string { return pick(d, "==", "!=", "<", "<=", ">", ">=") }
	switch d.IntN(14) {
	case 0:
		return fmt.Sprintf("%s %s %d", number(), compare(), d.IntN(5))
	case 1:
		return fmt.Sprintf("%s %s %s", number(), compare(), number())
	case 2:
		return fmt.Sprintf("%s + %d %s %s", number(), d.IntN(4), compare(), number())
	case 3:
		return fmt.Sprintf("%s - %s %s %d", number(), number(), compare(), d.IntN(6))
	case 4:
		return fmt.Sprintf("%s %s %s", pick(d, "share", "level"), compare(), pick(d, "0.5", "1", "1.5", "level", "share", "n"))
	case 5:
		return fmt.Sprintf("%s %s %s", pick(d, "mode", "kind", "word", "session_id", "env.HOME", "free.word"), pick(d, "==", "!="), pick(d, constant(), text()))
	case 6:
		return fmt.Sprintf("phase %s %q", pick(d, "==", "!="), pick(d, "plan", "work", "rest"))
	case 7:
		return fmt.Sprintf("%s in [%s, %s]", pick(d, "mode", "kind", "session_id"), constant(), pick(d, constant(), "mode", "kind"))
	case 8:
		return fmt.Sprintf("%s in [%d, %d]", pick(d, "n", "m", "k", "code"), d.IntN(3), d.IntN(9))
	case 9:
		return fmt.Sprintf("%s(%s)", pick(d, "ok", "missing", "invalid"), pick(d, "state", "note", "todo", "tests", "free"))
	case 10:
		return pick(d, "on", "off", "ready", "ticked", "flag", "free.flag", "once", "stop_hook_active", "busy", "(off ?? false)", "on == off", "ready == on", "state?.off == true")
	case 11:
		return pick(d, `said("DONE")`, `exists("go.mod")`, `mode startsWith "a"`, `mode contains "b"`, "n % 2 == 0", "n * k > 3", "any(todo, .done)", "all(names, # != mode)",
			"free.list[0] == 1", `mode matches "^a"`, `(phase == "work" ? on : off)`, "state?.sub?.a == 1")
	case 12:
		return fmt.Sprintf("len(%s) %s %d", pick(d, "todo", "names", "open"), compare(), d.IntN(3))
	}
	return fmt.Sprintf("free.x %s %s", pick(d, "==", "!="), pick(d, "1", `"a"`, "true", "free.word"))
}

// condition returns a random condition.
func (d dice) condition(depth int) string {
	switch {
	case depth == 0 || d.one(4):
		return d.operand()
	case d.one(6):
		return "not (" + d.condition(depth-1) + ")"
	case d.one(3):
		return "(" + d.condition(depth-1) + " or " + d.condition(depth-1) + ")"
	}
	return d.condition(depth-1) + " and " + d.condition(depth-1)
}

// rules returns random rules. Many are about the same two conditions, so that one may be in the way of another.
func (d dice) rules() (rules []string) {
	p, q, once, both := d.condition(1), d.condition(d.IntN(2)), d.one(3), d.one(4)
	if both {
		q = d.operand()
	}
	for i := range 2 + d.IntN(3) {
		when := pick(d, p, q, "not ("+p+")", "not ("+q+")", p+" and "+q, "("+p+" or "+q+")", d.condition(2), d.condition(1)+" and "+p)
		verb := pick(d, "continue", "stop", "done", "continue", "notice")
		if both && i < 3 { // only what is unknown reaches the third
			when, verb = []string{q, "not (" + q + ")", pick(d, "k < 4", `phase != "plan"`, when)}[i], "continue"
		}
		if once && verb == "continue" {
			when += pick(d, " and not stop_hook_active", " and not (once and stop_hook_active)")
		}
		r := fmt.Sprintf("  - name: r%d\n    when: |-\n      %s\n    %s: text\n", i, when, verb)
		if d.one(4) {
			r += fmt.Sprintf("    at_most: %d\n", 1+d.IntN(2))
		}
		rules = append(rules, r)
	}
	return rules
}

func (d dice) head() string {
	return fmt.Sprintf(randomHead, pick(d, "type: object", "required: [n]", "required: [m]"), pick(d, "", ", default: []"))
}

// world is a situation.
type world struct {
	facts map[string]Found
	names map[string]any
	asks  func(function, argument string) any
}

func orError(v any) (any, error) {
	if err, ok := v.(error); ok {
		return nil, err
	}
	return v, nil
}

func (w world) Fact(_ context.Context, q Query) Found            { return w.facts[q.Fact.Name] }
func (w world) Name(_ context.Context, name string) (any, error) { return orError(w.names[name]) }
func (w world) Ask(_ context.Context, function, arg string) (any, error) {
	return orError(w.asks(function, arg))
}

var errUnreadable = errors.New("unreadable")

// input returns a random situation. In a readable one ralph's names and questions have answers.
func (d dice) input(readable bool) Input {
	text := func() any { return pick[any](d, "a", "b", "", "work", "ab", "ba", "zz", "a") }
	number := func() any { return pick[any](d, 0, 1, 2, 3, 4, 5, d.IntN(12), d.IntN(12)-4, 100, 1000+d.IntN(5)) }
	truth := func() any { return d.one(2) }
	field := func(in map[string]any, name string, v any) {
		switch d.IntN(12) {
		case 0, 1: // absent
		case 2:
			in[name] = pick[any](d, 7, "?", true, []any{1}, -3, 0.5)
		default:
			in[name] = v
		}
	}
	state, free, sub := map[string]any{}, map[string]any{}, map[string]any{}
	field(state, "phase", pick[any](d, "plan", "work", "rest"))
	field(state, "code", pick[any](d, 0, 1, 5))
	for _, name := range []string{"mode", "kind"} {
		field(state, name, text())
	}
	for _, name := range []string{"n", "m", "k"} {
		field(state, name, number())
	}
	for _, name := range []string{"share", "level"} {
		field(state, name, pick[any](d, number(), 0.5, 0.25, 1.25, 1.5, 0.999, d.Float64()*3))
	}
	field(state, "on", truth())
	field(state, "off", truth())
	field(state, "names", pick[any](d, []any{}, []any{"a"}, []any{"a", "b"}, []any{"", "b", "c"}))
	field(sub, "a", number())
	field(sub, "b", text())
	field(state, "sub", sub)
	field(free, "flag", truth())
	field(free, "word", text())
	field(free, "x", pick[any](d, 1, 2, "a", "b", true, false))
	field(free, "list", []any{number()})
	todo := []any{}
	for range d.IntN(4) {
		todo = append(todo, map[string]any{"text": text(), "done": truth()})
	}
	w := world{map[string]Found{}, map[string]any{}, nil}
	for name, v := range map[string]any{"state": state, "free": pick[any](d, free, free, free, []any{}, 3, "a"), "note": text(), "todo": todo,
		"tests": map[string]any{"code": max(0, number().(int)), "stdout": "", "stderr": "", "output": "", "lines": []any{}}} {
		w.facts[name] = pick(d, Found{}, Found{Err: errors.New("broken")}, Found{OK: true, Value: v}, Found{OK: true, Value: v}, Found{OK: true, Value: v},
			Found{OK: true, Value: v}, Found{OK: true, Value: v}, Found{OK: true, Value: v})
	}
	for _, name := range []string{"session_id", "permission_mode", "env.HOME"} {
		w.names[name] = text()
	}
	w.names["stop_hook_active"], w.names["busy"] = truth(), truth()
	asks := map[string]any{"said": truth(), "exists": truth()}
	for _, answers := range []map[string]any{w.names, asks} {
		for name := range answers {
			if d.one(15) && !readable {
				answers[name] = errUnreadable
			}
		}
	}
	w.asks = func(function, _ string) any { return asks[function] }
	in := Input{World: w, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Memory: Memory{Continuations: d.IntN(7), Prompt: map[string]int{}}}
	for i := range 5 {
		in.Memory.Prompt[fmt.Sprint("r", i)] = d.IntN(4)
	}
	return in
}

func mustParse(t *testing.T, src string, opts ...Options) *Policy {
	t.Helper()
	p, err := append(opts, Options{})[0].Parse("policy.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return p
}

// parts returns a condition and all that it consists of.
func (x *cond) parts() []*cond {
	out := []*cond{x}
	if x.l != nil {
		out = append(out, x.l.parts()...)
	}
	if x.r != nil {
		out = append(out, x.r.parts()...)
	}
	return out
}

// claim is what Check says of a rule, or of a part of its condition.
type claim struct {
	what       string
	rule, part int
}

// claims returns all that Check claims, and what it would claim of parts that it does not report.
func claims(p *Policy) (all []claim) {
	c := &inspector{p: p, m: newModel(p)}
	for i, r := range p.rules {
		for j, x := range r.when.root.parts() {
			if c.never(x) {
				all = append(all, claim{"never", i, j})
			}
			if c.never(&cond{op: "not", l: x}) {
				all = append(all, claim{"always", i, j})
			}
		}
	}
	for _, f := range Check(p) {
		for i, r := range p.rules {
			if f.Check == "never-decides" && f.Line == r.Line || f.Check == "once-per-prompt" && r.Verb == "continue" {
				all = append(all, claim{f.Check, i, 0})
			}
		}
	}
	return all
}

// contradicted reports whether a situation contradicts a claim.
func (x claim) contradicted(p *Policy, in Input, v Verdict) bool {
	r := p.rules[x.rule]
	t, _ := p.evaluation(context.Background(), in).cond(r.when.root.parts()[x.part])
	switch x.what {
	case "never":
		return t == yes
	case "always":
		return t == no
	case "never-decides":
		return v.Rule == r.Name && (v.Outcome == Continued || v.Outcome == Stopped || v.Outcome == Done)
	}
	return in.World.(world).names["stop_hook_active"] == true && v.Outcome == Continued
}

func TestRandomClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, on one goroutine")
	}
	count := map[string]int{}
	for seed := range randomPolicies {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 1))}
		src := d.head() + strings.Join(d.rules(), "")
		variants := []*Policy{mustParse(t, src)} // what is claimed holds for all params
		all := claims(variants[0])
		for most := 1; most < 6 && len(all) > 0; most++ {
			variants = append(variants, mustParse(t, src, Options{Params: map[string]string{"once": fmt.Sprint(most%2 == 0), "most": fmt.Sprint(most)}}))
		}
		for _, x := range all {
			count[x.what]++
		}
		for range randomSituations * min(1, len(all)) {
			p, in := pick(d, variants...), d.input(false)
			v, err := p.Eval(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range all {
				if x.contradicted(p, in, v) {
					t.Fatalf("seed %d: %s of rule %d, part %d is not so in %+v\n%s", seed, x.what, x.rule, x.part, in, src)
				}
			}
		}
	}
	for _, what := range []string{"never", "always", "never-decides", "once-per-prompt"} {
		if count[what] < 4 {
			t.Errorf("%d claims %s: the test shows nothing of them", count[what], what)
		}
	}
	t.Log(count)
}

// shown returns how a policy decides, as Diff shows it.
func shown(t *testing.T, p *Policy, in Input) (how, text string) {
	t.Helper()
	v, err := p.Eval(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	how = map[Outcome]string{Continued: "continue", Done: "done", Stopped: "stop", Failed: "stop", Idle: "stop"}[v.Outcome]
	if v.Outcome == Idle {
		return how, "stop (no rule decides)"
	}
	return how, how + " by " + v.Rule
}

// fromLine returns the situation that a line describes, as a test of the random policies has it.
func fromLine(t *testing.T, line string) Input {
	t.Helper()
	var test struct {
		Given struct {
			Facts, Event, Env, Invalid, Files map[string]any
			Memory                            struct {
				Continuations int
				Applied       map[string]int
			}
		}
	}
	if err := yaml.Unmarshal([]byte(line), &test); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	g := test.Given
	w := world{map[string]Found{}, g.Event, func(function, argument string) any {
		if function == "exists" {
			_, ok := g.Files[argument]
			return ok
		}
		message, _ := g.Event["last_assistant_message"].(string)
		return slices.Contains(strings.Split(message, "\n"), argument)
	}}
	if w.names == nil {
		w.names = map[string]any{}
	}
	for name, v := range g.Env {
		w.names["env."+name] = v
	}
	for name, path := range map[string]string{"state": "state.json", "note": "note.txt", "todo": "TODO.md", "free": "free.json", "tests": ""} {
		_, directory := g.Files[path+"/"]
		if _, invalid := g.Invalid[name]; directory || invalid {
			w.facts[name] = Found{Err: errors.New("broken")}
		}
	}
	in := Input{World: w, Values: map[string]any{}, Memory: Memory{Continuations: g.Memory.Continuations, Prompt: g.Memory.Applied}}
	for name, v := range g.Facts {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if in.Values[name] = json.RawMessage(b); v == nil {
			in.Values[name] = nil
		}
	}
	return in
}

func TestRandomDifferences(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, on one goroutine")
	}
	same, differ, exhausted := 0, 0, 0
	for seed := range randomPolicies / 2 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 2))}
		head, rules := d.head(), d.rules()
		changed := slices.Clone(rules)
		i, j := d.IntN(len(rules)), d.IntN(len(rules))
		switch d.IntN(5) {
		case 0:
			changed[i], changed[j] = changed[j], changed[i]
		case 1:
			changed = slices.Delete(changed, i, i+1)
		case 2:
			changed[i] = strings.Replace(changed[i], pick(d, "stop:", "done:"), "continue:", 1)
		case 3:
			changed[i] = strings.Replace(changed[i], pick(d, " and ", "not "), pick(d, " or ", " "), 1)
		default:
			changed[i] = strings.Replace(strings.NewReplacer("==", "!=", ">=", ">", "<", "<=").Replace(changed[i]), "at_most: 2", "at_most: 1", 1)
		}
		newHead := head
		if d.one(5) {
			newHead = d.head()
		}
		src := [2]string{head + strings.Join(rules, ""), newHead + strings.Join(changed, "")}
		p, err := Parse("new.yaml", []byte(src[1]))
		if err != nil { // a change of an operator may give no condition
			continue
		}
		old := mustParse(t, src[0])
		found, all := diff(context.Background(), 60_000, old, p)
		pairs := map[[2]string]bool{}
		for _, f := range found {
			pairs[[2]string{f.Old, f.New}] = true
			in := fromLine(t, f.Situation)
			a, was := shown(t, old, in)
			b, is := shown(t, p, in)
			if a == b || was != f.Old || is != f.New {
				t.Fatalf("seed %d: %+v, but %s → %s\n%s\n%s", seed, f, was, is, src[0], src[1])
			}
		}
		switch {
		case !all:
		case len(found) == 0:
			same++
		default:
			exhausted++
		}
		differ += len(found)
		for range randomSituations {
			in := d.input(true)
			a, was := shown(t, old, in)
			if b, is := shown(t, p, in); all && a != b && !pairs[[2]string{was, is}] {
				t.Fatalf("seed %d: %s → %s is not found, in %+v\n%s\n%s", seed, was, is, in, src[0], src[1])
			}
		}
	}
	t.Logf("same %d, differences %d, exhausted with differences %d", same, differ, exhausted)
	if same < 5 || differ < 15 || exhausted < 3 {
		t.Error("the test shows nothing")
	}
}
