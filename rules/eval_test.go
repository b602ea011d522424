package rules_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
)

// world has facts, names and answers, and notes what it was asked.
type world struct {
	facts map[string]rules.Found
	names map[string]any // an error is one
	asks  map[string]any // "said DONE"
	log   []string

	queries map[string]rules.Query // by fact
}

func (w *world) Fact(_ context.Context, q rules.Query) rules.Found {
	w.log = append(w.log, q.Fact.Name+" "+strings.Join(q.Args, " "))
	if w.queries == nil {
		w.queries = map[string]rules.Query{}
	}
	w.queries[q.Fact.Name] = q
	return w.facts[q.Fact.Name]
}

func (w *world) Name(_ context.Context, name string) (any, error) {
	w.log = append(w.log, name)
	if err, ok := w.names[name].(error); ok {
		return nil, err
	}
	return w.names[name], nil
}

func (w *world) Ask(_ context.Context, function, argument string) (any, error) {
	w.log = append(w.log, function+" "+argument)
	v := w.asks[function+" "+argument]
	if err, ok := v.(error); ok {
		return nil, err
	}
	return v, nil
}

var (
	now     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	errOops = errors.New("errOops")
)

func parse(t testing.TB, src string, opts ...rules.Options) *rules.Policy {
	t.Helper()
	p, err := append(opts, rules.Options{})[0].Parse("p.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return p
}

func ok(v any) rules.Found { return rules.Found{OK: true, Value: v} }

func invalid(problem string) rules.Found {
	return rules.Found{Err: errors.New(problem)}
}

// eval evaluates a policy, as it is and lazily, and returns what a table wants to see of the verdict.
func eval(t *testing.T, src string, w *world, in rules.Input, opts ...rules.Options) (string, rules.Verdict) {
	t.Helper()
	in.Now = now
	var verdicts []rules.Verdict
	var log []string
	o := append(opts, rules.Options{})[0]
	for _, o.Lazy = range []bool{true, false} {
		w.log = nil
		in.World = w
		v, err := parse(t, src, o).Eval(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		verdicts, log = append(verdicts, v), append(log, strings.Join(w.log, ", "))
	}
	if diff := cmp.Diff(verdicts[0], verdicts[1], cmpopts.IgnoreFields(rules.Verdict{}, "Err"), cmpopts.IgnoreTypes(&rules.Fact{})); diff != "" || log[0] != log[1] {
		t.Errorf("a lazy policy differs (-lazy +compiled): %s\n%q", diff, log)
	}
	v := verdicts[1]
	return strings.TrimSpace(fmt.Sprintf("%s %s", v.Outcome, v.Rule)), v
}

// head has a fact with typical fields.
const head = `ralph: 1
facts:
  state:
    json: state.json
    inline: true
    schema:
      properties:
        phase: {enum: [plan, execution], default: plan}
        done: {type: integer, default: 0}
        total: {type: integer}
        name: {type: string}
        items: {type: array, items: {properties: {status: {type: string}}}}
  list: {text: list.txt}
  free: {json: free.json}
  other: {json: other.json, schema: {properties: {n: {type: integer}}}}
`

// TestConditions says when a condition holds, for a continue rule (the outcome is continued, or idle) and for a stop rule (stopped, idle or
// failed) with the same condition.
func TestConditions(t *testing.T) {
	state := func(fields ...any) map[string]rules.Found {
		m := map[string]any{}
		for i := 0; i < len(fields); i += 2 {
			m[fields[i].(string)] = fields[i+1]
		}
		return map[string]rules.Found{"state": ok(m)}
	}
	bad := state("done", "many", "total", 3)
	broken := map[string]rules.Found{"state": invalid("it is not JSON")}
	for _, c := range []struct {
		when  string
		facts map[string]rules.Found
		want  string // of the continue rule, and of the stop rule
	}{
		// The card's condition.
		{`phase == "execution" && done < total && !stop_hook_active`, state("phase", "execution", "done", 1, "total", 2), "continued stopped"},
		{`phase == "execution" && done < total && !stop_hook_active`, state("phase", "execution", "done", 2, "total", 2), "idle idle"},
		// A default fills in, an optional field may be absent.
		{`phase == "plan" and done == 0`, state(), "continued stopped"},
		{`done < total`, state(), "idle idle"},
		{`total == nil`, state(), "idle idle"},
		{`(total ?? 5) == 5`, state(), "continued stopped"},
		{`(state.total ?? free.a?.b ?? 5) > 4`, state(), "continued stopped"},
		{`state?.total == nil`, state(), "continued stopped"},
		{`len(name ?? "") == 0`, state(), "continued stopped"},
		// What follows ?. is not covered beyond an index.
		{`state?.items[0].status == "open"`, nil, "idle idle"},
		{`state?.items[0].status == "open"`, state(), "idle idle"},
		{`state?.items[0].status == "open"`, state("items", []any{map[string]any{"status": "open"}}), "continued stopped"},
		{`(state?.items[0].status ?? "new") == "new"`, nil, "continued stopped"},
		{`any(items, .status == "open")`, state("items", []any{map[string]any{}, map[string]any{"status": "open"}}), "continued stopped"},
		// A file that is missing.
		{`done < 5`, nil, "idle idle"},
		{`missing(state)`, nil, "continued stopped"},
		{`not (done < 5)`, nil, "idle idle"},
		{`missing(state) or done < 5`, nil, "continued stopped"},
		{`done < 5 or missing(state)`, nil, "continued stopped"},
		{`ok(state) and done < 5`, nil, "idle idle"},
		{`(state.done ?? 7) == 7`, nil, "continued stopped"},
		{`state?.done == nil`, nil, "continued stopped"},
		// One that is invalid: a stop rule cannot be decided, and ?? does not help.
		{`done < 5`, broken, "idle failed"},
		{`not (done < 5)`, broken, "idle failed"},
		{`(state.done ?? 7) == 7`, broken, "idle failed"},
		{`invalid(state) and problem(state) == "it is not JSON"`, broken, "continued stopped"},
		{`false and done < 5`, broken, "idle idle"},
		// A fact with fields is an object: its fields are not those of another value.
		{`other.n == 3`, map[string]rules.Found{"other": ok([]any{3.0})}, "idle failed"},
		{`done == 3`, map[string]rules.Found{"state": ok(3.0)}, "idle failed"},
		{`invalid(state) and problem(state) == "must be an object, and is a list"`, map[string]rules.Found{"state": ok([]any{})}, "continued stopped"},
		{`done < 5 and false`, broken, "idle idle"},
		{`done < 5 or true`, broken, "continued stopped"},
		{`done < 5 and list == ""`, broken, "idle failed"},
		// A field that breaks the schema spoils what reads it, or a value around it.
		{`total == 3`, bad, "continued stopped"},
		{`done == 3`, bad, "idle failed"},
		{`(done ?? 3) == 3`, bad, "idle failed"},
		{`len(state) > 1`, bad, "idle failed"},
		{`ok(state) and problem(state) contains "done must be a whole number"`, bad, "continued stopped"},
		// An expression that fails.
		{`items[3].status == "open"`, state("items", []any{}), "idle failed"},
		{`get(items, 3)?.status == nil`, state("items", []any{}), "continued stopped"},
		// ?. and ?? may give nothing, which is compared like any value.
		{`get(items, 3)?.status == "open"`, state("items", []any{}), "idle idle"},
		{`get(items, 3)?.status != "open"`, state("items", []any{}), "continued stopped"},
		{`first(items)?.status == "open" or (total ?? nil) == 3`, state("items", []any{}), "idle idle"},
		{`any(items, (.status ?? nil) == "open")`, state("items", []any{map[string]any{}}), "idle idle"},
		// What a file is lenient about.
		{`done == 3`, state("done", "3"), "continued stopped"},
		{`done == 0`, state("done", nil), "continued stopped"},
		{`done == 3`, state("done", 3.0), "continued stopped"},
		{`done in [1, 2, 3]`, state("done", 3), "continued stopped"},
		// A let is evaluated as a condition is.
		{`open`, nil, "continued stopped"},
		{`not open`, state("done", 1), "continued stopped"},
		// A text file that is empty is missing.
		{`missing(list)`, map[string]rules.Found{"list": ok("")}, "continued stopped"},
		// Names that nothing gives are zero.
		{`session_id == "" and not busy and transcript.tokens == 0 and len(transcript.turns(3)) == 0 and run.iteration == 0 and env.HOME == ""`, nil, "continued stopped"},
		{`date("2026-03-01") < now() and date("2026-03-01T11:00:00") == date("2026-03-01T10:00:00Z")`, nil, "continued stopped"},
	} {
		got := ""
		for _, verb := range []string{"continue", "stop"} {
			src := head + "let: {open: missing(state) or done == 0}\nrules:\n  - name: a\n    when: |-\n      " + c.when + "\n    " + verb + ": x\n"
			_, v := eval(t, src, &world{facts: c.facts}, rules.Input{})
			got += string(v.Outcome) + " "
			if v.Outcome == rules.Failed && !strings.Contains(v.Reason, "rule a (line 18)") {
				t.Errorf("%s: %q does not name its place", c.when, v.Reason)
			}
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s: %s, want %s", c.when, got, c.want)
		}
	}
}

// TestRules says which rule decides, and what the verdict has.
func TestRules(t *testing.T) {
	type in = rules.Input
	uncertain := func(why string) rules.Verdict {
		return rules.Verdict{Reason: "b is not certain: " + why, Notices: []string{"b is not certain: " + why}}
	}
	done := map[string]rules.Found{"state": ok(map[string]any{"done": 3, "total": 3})}
	for _, c := range []struct {
		name, rules string
		in          in
		facts       map[string]rules.Found
		want        string
		verdict     rules.Verdict // Outcome, Rule, Memory and Err are not compared
	}{
		{"the first that holds decides", `
  - {name: a, when: "false", stop: x}
  - {name: b, continue: "go on"}
  - {name: c, stop: x}`, in{}, nil, "continued b", rules.Verdict{Reason: "go on"}},
		{"none decides", `
  - {name: a, when: "false", stop: x}`, in{}, nil, "idle", rules.Verdict{}},
		{"a rule without a verb adds", `
  - {name: a, notice: n, log: l, then: [prune: {glob: "*.tmp", older: 1h}]}
  - {name: b, continue: x, notice: m}`, in{}, nil, "continued b", rules.Verdict{Reason: "x", Notices: []string{"n", "m"}, Logs: []string{"l"},
			Effects: []rules.Effect{{Kind: "prune", Args: []string{"*.tmp"}, Older: time.Hour}}}},
		{"a value that is not true or false is unknown each time", `
  - {name: a, when: done == 3 and free.flag, continue: x}
  - {name: b, when: done == 3 and free.flag, continue: x}`, in{Values: map[string]any{"free": map[string]any{"flag": 7}}}, done, "idle", rules.Verdict{}},
		{"a fault ends the trying, and makes no effects", `
  - {name: a, notice: n, then: [run: [make]]}
  - {name: b, when: list == "x", stop: x}
  - {name: c, continue: x}`, in{}, map[string]rules.Found{"list": invalid("it is a directory")}, "failed b",
			rules.Verdict{Reason: "rule b (line 19): list (list.txt) cannot be used: it is a directory"}},
		{"one over what is missing does not", `
  - {name: b, when: list == "x", stop: x}
  - {name: c, continue: x}`, in{}, nil, "continued c", rules.Verdict{Reason: "x"}},
		{"a continue without a text has one", `
  - {name: c, continue: "${list ?? ''}"}`, in{}, nil, "continued c", rules.Verdict{Reason: "Continue (rule c)."}},
		{"notes are for prompts", `
  - {name: a, note: 'mind ${prompt}'}
  - {name: b, stop: x}`, in{Event: "UserPromptSubmit", Values: map[string]any{"prompt": "the gap"}}, nil, "idle", rules.Verdict{Notes: []string{"mind the gap"}}},
		{"and not for stops", `
  - {name: a, note: mind}
  - {name: b, stop: x}`, in{}, nil, "stopped b", rules.Verdict{Reason: "x"}},
		{"an event that is not the policy's", `
  - {name: b, continue: x}`, in{Event: "SubagentStop"}, nil, "idle", rules.Verdict{}},
		{"done", `
  - {name: a, when: done < total, continue: x}
  - {name: b, when: done == total, done: all, then: [archive: state]}`, in{}, done, "done b", rules.Verdict{Reason: "all", Done: 3, Total: 3,
			Effects: []rules.Effect{{Kind: "archive", Found: rules.Found{OK: true, Path: "state.json"}}}}},
		{"done below a rule that is unknown", `
  - {name: n, notice: n}
  - {name: a, when: list == "x", continue: x}
  - {name: b, done: all, notice: all, then: [archive: state]}`, in{}, done, "stopped b",
			rules.Verdict{Reason: "b is not certain: rule a is unknown: list (list.txt) is missing", Notices: []string{"n", "b is not certain: rule a is unknown: list (list.txt) is missing"}}},
		{"done below a rule that at_most skips", `
  - {name: a, when: done < total, continue: x, at_most: 2}
  - {name: b, done: all}`, in{Memory: rules.Memory{Prompt: map[string]int{"a": 2}}}, done, "stopped b",
			uncertain("rule a is unknown: it was applied as often as at_most says")},
		{"done while a file is gone", `
  - {name: b, when: ok(state), done: all}`, in{Memory: rules.Memory{Seen: []string{"list"}}}, done, "stopped b",
			uncertain("list (list.txt) was there in this prompt, and is gone")},
		{"done that asks whether it is gone", `
  - {name: b, when: missing(list), done: all}`, in{Memory: rules.Memory{Seen: []string{"list"}}}, done, "done b", rules.Verdict{Reason: "all", Done: 3, Total: 3}},
		{"set", `
  - {name: a, continue: x, then: [set: state.done = done + 1, set: 'state.items[len(name)].status = "open"']}`, in{},
			map[string]rules.Found{"state": ok(map[string]any{"name": "abc"})}, "continued a", rules.Verdict{Reason: "x", Effects: []rules.Effect{
				{Kind: "set", Path: []any{"done"}, Value: 1}, {Kind: "set", Path: []any{"items", 3, "status"}, Value: "open"}}}},
		{"a value that cannot be set", `
  - {name: a, continue: x, then: [set: state.done = total + 1]}`, in{}, map[string]rules.Found{"state": ok(map[string]any{})}, "failed a",
			rules.Verdict{Reason: "rule a (line 18): set state: state.total is absent"}},
		{"run", `
  - {name: a, stop: x, then: [run: [notify, "--", "${name}"]]}`, in{}, map[string]rules.Found{"state": ok(map[string]any{"name": "-x"})}, "stopped a",
			rules.Verdict{Reason: "x", Effects: []rules.Effect{{Kind: "run", Args: []string{"notify", "--", "-x"}}}}},
		{"an option from a file", `
  - {name: a, stop: x, then: [run: [notify, "${name}"]]}`, in{}, map[string]rules.Found{"state": ok(map[string]any{"name": "-x"})}, "failed a",
			rules.Verdict{Reason: "rule a (line 18): run notify: ${name} begins with a hyphen, and the program could take it for an option (write -- before it): \"-x\""}},
	} {
		got, v := eval(t, head+"progress: {done: done, total: 'total ?? 0'}\nrules:"+c.rules+"\n", &world{facts: c.facts}, c.in)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		diff := cmp.Diff(c.verdict, v, cmpopts.IgnoreFields(rules.Verdict{}, "Outcome", "Rule", "Memory", "Err"),
			cmpopts.IgnoreFields(rules.Effect{}, "Fact"), cmpopts.IgnoreFields(rules.Found{}, "Value"), cmpopts.EquateEmpty(),
			cmp.FilterPath(func(p cmp.Path) bool { return c.name == "set" && p.Last().String() == ".Found" }, cmp.Ignore()),
			cmp.FilterPath(func(p cmp.Path) bool {
				return v.Outcome != rules.Done && (p.Last().String() == ".Done" || p.Last().String() == ".Total")
			}, cmp.Ignore()))
		if diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// seven is how the text "7" of progress is kept: a memory holds no texts.
var seven = json.RawMessage(`"sha256:266aa5886067fbbc1a3a39fe432fc5bbf561abc90e4b8a322215ac17df6ce012"`)

// TestLimits says which limit ends a loop, and what is remembered of a continuation.
func TestLimits(t *testing.T) {
	const src = `ralph: 1
facts: {n: {text: n}}
progress: n
limits: {continuations: 5, repeats: 3, elapsed: 1h, total: 20}
rules:
  - {name: a, continue: x, notice: n, then: [run: [make]]}
`
	m := func(continuations, repeats int, since time.Duration, progress any) rules.Memory {
		return rules.Memory{Continuations: continuations, Repeats: repeats, Since: now.Add(-since), Progress: progress}
	}
	for _, c := range []struct {
		name string
		in   rules.Input
		want string
		next rules.Memory
	}{
		{"the first", rules.Input{}, "continued a", m(1, 1, 0, seven)},
		{"progress has changed", rules.Input{Memory: m(2, 2, time.Minute, "6")}, "continued a", m(3, 1, time.Minute, seven)},
		{"and has not", rules.Input{Memory: m(2, 2, time.Minute, seven)}, "continued a", m(3, 3, time.Minute, seven)},
		{"repeats", rules.Input{Memory: m(3, 3, time.Minute, seven)}, "limit limits.repeats", m(3, 3, time.Minute, seven)},
		{"continuations", rules.Input{Memory: m(5, 1, time.Minute, "6")}, "limit limits.continuations", m(5, 1, time.Minute, "6")},
		{"but not in a run", rules.Input{Memory: m(5, 1, time.Minute, "6"), Run: true}, "continued a", m(6, 1, time.Minute, seven)},
		{"elapsed", rules.Input{Memory: m(1, 1, time.Hour, "6")}, "limit limits.elapsed", m(1, 1, time.Hour, "6")},
		{"total", rules.Input{Total: 20}, "limit limits.total", rules.Memory{}},
		{"a ceiling", rules.Input{Memory: m(2, 1, time.Minute, "6"), Limits: rules.Limits{Continuations: 2}}, "limit limits.continuations", m(2, 1, time.Minute, "6")},
		{"a higher ceiling", rules.Input{Memory: m(2, 1, time.Minute, "6"), Limits: rules.Limits{Continuations: 9}}, "continued a", m(3, 1, time.Minute, seven)},
	} {
		got, v := eval(t, src, &world{facts: map[string]rules.Found{"n": ok("7")}}, c.in)
		c.next.Seen = []string{"n"}
		if got != c.want || v.Outcome == rules.Limit && len(v.Effects)+len(v.Notices) > 0 {
			t.Errorf("%s: %s, want %s: %+v", c.name, got, c.want, v)
		}
		if v.Outcome == rules.Limit && !slices.Contains([]string{"limits.repeats"}, v.Rule) {
			v.Memory.Seen = []string{"n"} // whether the file was read does not matter
		}
		if diff := cmp.Diff(c.next, v.Memory); diff != "" {
			t.Errorf("%s: the memory (-want +got):\n%s", c.name, diff)
		}
	}
	if diff := cmp.Diff(rules.Memory{}, m(5, 1, 0, "6").NewPrompt()); diff != "" {
		t.Errorf("a new prompt (-want +got):\n%s", diff)
	}
}

// TestAtMost counts rules in a prompt and in a session.
func TestAtMost(t *testing.T) {
	p := parse(t, `ralph: 1
rules:
  - {name: prompt, continue: x, at_most: 1}
  - {name: hour, continue: x, at_most: {times: 2, within: 1h}}
  - {name: session, continue: x, at_most: {times: 1}}
`)
	var m rules.Memory
	at := now
	step := func(want string) {
		t.Helper()
		before := fmt.Sprintf("%+v", m)
		was := m
		v, err := p.Eval(t.Context(), rules.Input{Memory: m, Now: at})
		if err != nil || v.Rule != want {
			t.Errorf("at %v rule %q decides, want %q: %v", at.Sub(now), v.Rule, want, err)
		}
		if fmt.Sprintf("%+v", was) != before {
			t.Error("Eval has changed the memory that it got")
		}
		m = v.Memory
		at = at.Add(10 * time.Minute)
	}
	for _, want := range []string{"prompt", "hour", "hour", "session", ""} {
		step(want)
	}
	m = m.NewPrompt()
	step("prompt")
	step("")
	at = at.Add(time.Hour)
	step("hour")
}

// Progress is remembered as it was, also where the program changes its own value later.
func TestProgressIsKept(t *testing.T) {
	done := []int{1}
	in := rules.Input{Values: map[string]any{"done": done}}
	for range 2 {
		_, v := eval(t, "ralph: 1\nfacts: {done: {value: numbers}}\nprogress: done\nrules:\n  - {name: a, continue: x}\n", &world{}, in)
		in.Memory = v.Memory
		done[0]++
	}
	if in.Memory.Continuations != 2 || in.Memory.Repeats != 1 {
		t.Errorf("after progress the memory is %+v", in.Memory)
	}
}

// TestLoopName says what loop has before a decision.
func TestLoopName(t *testing.T) {
	src := "ralph: 1\nfacts: {n: {text: n}}\nprogress: n\nrules:\n  - {name: a, stop: '${loop.continuations} ${loop.repeats} ${loop.elapsed} ${loop.total}'}\n"
	m := rules.Memory{Continuations: 3, Repeats: 2, Since: now.Add(-90 * time.Second), Progress: seven}
	for n, want := range map[string]string{"7": "3 2 1m30s 9", "8": "3 0 1m30s 9", "": "3 2 1m30s 9"} {
		if _, v := eval(t, src, &world{facts: map[string]rules.Found{"n": ok(n)}}, rules.Input{Memory: m, Total: 9}); v.Reason != want {
			t.Errorf("progress %q: %s, want %s", n, v.Reason, want)
		}
	}
}

// Facts are gathered when a condition needs them, once, and so are names and answers.
func TestOnce(t *testing.T) {
	src := head + `rules:
  - {name: a, when: 'session_id == "s" and said("x")', stop: x}
  - {name: b, when: 'session_id == "" and (said("DONE") or done > 0)', stop: x}
  - {name: c, when: 'said("DONE") and ok(state)', stop: "${session_id}"}
`
	w := &world{facts: map[string]rules.Found{"state": ok(map[string]any{})}, names: map[string]any{"session_id": "t"}, asks: map[string]any{"said DONE": true}}
	eval(t, src, w, rules.Input{})
	if diff := cmp.Diff([]string{"session_id", "said DONE", "state state.json"}, w.log); diff != "" {
		t.Errorf("what was asked (-want +got):\n%s", diff)
	}
}

// Errors of the world are what a verdict unwraps to.
func TestErrors(t *testing.T) {
	for when, w := range map[string]*world{
		`list == "x"`:    {facts: map[string]rules.Found{"list": {Err: errOops}}},
		`cwd == "x"`:     {names: map[string]any{"cwd": errOops}},
		`env.X == "x"`:   {names: map[string]any{"env.X": errOops}},
		`said("x")`:      {asks: map[string]any{"said x": errOops}},
		`fail("x") == 1`: {},
	} {
		_, v := eval(t, head+"rules: [{name: a, when: '"+when+"', stop: x}]\n", w, rules.Input{},
			rules.Options{Functions: map[string]any{"fail": func(string) (int, error) { return 0, fmt.Errorf("own: %w", errOops) }}})
		if v.Outcome != rules.Failed || !errors.Is(v.Err, errOops) || !strings.Contains(v.Reason, "errOops") {
			t.Errorf("%s: %v %v", when, v.Outcome, v.Reason)
		}
	}
}

// What fails is named in the words of an author, not in those of expr.
func TestFailures(t *testing.T) {
	v := map[string]rules.Found{"v": ok(map[string]any{"name": "$1 or $T1", "items": []any{map[string]any{}}})}
	for when, want := range map[string]string{
		`any(v.items, .n > 3)`:                        "> does not go between nothing and a number",
		`int(v.name) > 3`:                             "int makes no number of $1 or $T1",
		`v.items[3].n == 1`:                           "there is no element 3 in a list of 1",
		`v.items[0].x.y == 1`:                         "there is nothing to read y from",
		`v.name.x == 1`:                               "a number is needed, and this is a text",
		`first(v.items) + 1 == 2`:                     "+ does not go between an object and a number",
		`v.items[findIndex(v.items, .n == 1)].n == 1`: "a number is needed, and this is nothing",
	} {
		_, got := eval(t, "ralph: 1\nfacts: {v: {json: v.json}}\nrules: [{name: a, when: '"+when+"', stop: x}]\n", &world{facts: v}, rules.Input{})
		if !strings.HasSuffix(got.Reason, " failed: "+want) {
			t.Errorf("%s: %q, want %q", when, got.Reason, want)
		}
	}
}

func TestTexts(t *testing.T) {
	state := ok(map[string]any{"done": 1, "name": "Ann", "items": []any{map[string]any{"status": "a"}, map[string]any{"status": "b"}}})
	for text, want := range map[string]string{
		"Task ${done + 1} of ${total}":       "Task 2 of (?)",
		"${map(items, .status)}":             "a\nb",
		"a\n${''}\nb\n  ${''}${''}\n\nc":     "a\nb\n\nc",
		"a\n${''} .\n":                       "a\n .",
		"$${done} $$ $done":                  "${done} $$ $done",
		`${name == "}" ? "x" : "{" + name}`:  "{Ann",
		"${done / 2} ${2.0} ${[1, 2]}":       "0.5 2 1\n2",
		"${list}":                            "(?)",
		"${items[7]}":                        "(?)",
		"${bullets(['a  b', 'c'])}":          "- a b\n- c",
		"${bullets(1..9, 2)}":                "- 1\n- 2\n- … and 7 more",
		`${cut("abc", 2)} ${tail("abc", 2)}`: "ab… …bc",
		`${folded(" A  b\n")}`:               "a b",
		"${{'a': 1}}":                        `{"a":1}`,
	} {
		src := head + "rules:\n  - name: a\n    stop: |\n      " + strings.ReplaceAll(text, "\n", "\n      ") + "\n"
		if _, v := eval(t, src, &world{facts: map[string]rules.Found{"state": state}}, rules.Input{}); v.Reason != want {
			t.Errorf("%q: %q, want %q", text, v.Reason, want)
		}
	}
}

// TestPaths says which file a path leads to, and that a value never leads elsewhere.
func TestPaths(t *testing.T) {
	const src = `ralph: 1
facts:
  name: {text: name}
  f: {SOURCE}
rules:
  - {name: a, when: ok(f), stop: x}
  - {name: b, when: invalid(f), stop: x}
  - {name: c, when: missing(f), stop: "${problem(f)}"}
`
	for _, c := range []struct{ source, name, want string }{
		{`text: "a/${name}.txt"`, "x y", "f a/x y.txt"},
		{`text: "a/${name}.txt"`, "x/../y", "missing"},
		{`text: "a/${name}"`, "..", "missing"},
		{`text: "a/.${name}/b"`, ".", "missing"},
		{`text: "a/${name}"`, "../b", "missing"},
		{`text: "a/${name}"`, `..\b`, "missing"},
		{`text: "a/${name}"`, "/etc", "missing"},
		{`text: "${name}"`, "~/x", "missing"},
		{`text: "${name}"`, "C:x", "missing"},
		{`text: "a${name}"`, "x\x00", "missing"},
		{`text: "a${name}"`, "", "missing"},
		{`text: "~/a/${name}"`, "x", "f ~/a/x"},
		{`text: "${name}"`, "$" + "{name}", "f ${name}"},
		{`glob: "a/${name}/*.md"`, "x*[1]", `f a/x\*\[1\]/*.md`},
		{`glob: "{a,${name}}/*.md"`, "x,y", `f {a,x[,]y}/*.md`},
		{`text: "a/${name}"`, "x*", "f a/x*"},
		{`exec: [ls, "${name}"]`, "-x", "missing"},
		{`exec: [ls, --, "${name}"]`, "-x", "f ls -- -x"},
		{`exec: [ls, "--dir=${name}", a b]`, "-x y", "f ls --dir=-x y a b"},
		{`judge: "is ${name} done? ${env.X}"`, "x", "f is x done?"},
	} {
		w := &world{facts: map[string]rules.Found{"name": ok(c.name), "f": ok("x")}}
		_, v := eval(t, strings.Replace(src, "SOURCE", c.source, 1), w, rules.Input{})
		got := map[string]string{"a": w.log[len(w.log)-1], "b": "invalid", "c": "missing"}[v.Rule]
		if got != c.want || got == "missing" && v.Reason == "" {
			t.Errorf("%s with %q: %s %q, want %s", c.source, c.name, got, v.Reason, c.want)
		}
	}
	w := &world{facts: map[string]rules.Found{"name": invalid("errOops")}}
	if got, _ := eval(t, strings.Replace(src, "SOURCE", `text: "${name}"`, 1), w, rules.Input{}); got != "stopped b" {
		t.Errorf("a path over what is invalid: %s", got)
	}
}
