package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// truthPolicy has a fact for each value that an operand can have. The operand
// fails.n is broken, since the field n is unusable; gone.n is unknown, since the
// fact is missing; bad.n is unknown, since the fact is invalid.
const truthPolicy = `
facts:
  here:  {json: here.json,  schema: {properties: {t: {type: boolean, default: true}, f: {type: boolean, default: false}}}}
  gone:  {json: gone.json,  schema: {properties: {n: {type: boolean, default: false}}}}
  bad:   {json: bad.json,   schema: {properties: {n: {type: boolean, default: false}}}}
  fails: {json: fails.json, schema: {properties: {list: {type: array, items: {type: boolean}, default: []}}}}
rules:
  - name: probe
    when: %s
    notice: it holds
`

func truthWorld() *world {
	return &world{facts: map[string]rules.Value{
		"here":  is(object{"t": true, "f": false}),
		"bad":   invalid,
		"fails": is(object{"list": []any{}}),
	}}
}

// operands of the three-valued tables, by their truth.
var operands = map[string]string{"T": "here.t", "F": "here.f", "?": "gone.n", "!": "fails.list[9]"}

// The tables of and, or, not and ?: over true, false, unknown (?: a fact is missing
// or invalid) and broken (!: an expression fails). What decides is decided,
// whatever else is unknown; of two reasons for not knowing the worse is kept.
func TestTruthTables(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"T and T", "T"}, {"T and F", "F"}, {"T and ?", "?"}, {"T and !", "!"},
		{"F and T", "F"}, {"F and F", "F"}, {"F and ?", "F"}, {"F and !", "F"},
		{"? and T", "?"}, {"? and F", "F"}, {"? and ?", "?"}, {"? and !", "!"},
		{"! and T", "!"}, {"! and F", "F"}, {"! and ?", "!"}, {"! and !", "!"},

		{"T or T", "T"}, {"T or F", "T"}, {"T or ?", "T"}, {"T or !", "T"},
		{"F or T", "T"}, {"F or F", "F"}, {"F or ?", "?"}, {"F or !", "!"},
		{"? or T", "T"}, {"? or F", "?"}, {"? or ?", "?"}, {"? or !", "!"},
		{"! or T", "T"}, {"! or F", "!"}, {"! or ?", "!"}, {"! or !", "!"},

		{"not T", "F"}, {"not F", "T"}, {"not ?", "?"}, {"not !", "!"}, {"not not ?", "?"},

		{"T ? T : !", "T"}, {"T ? F : !", "F"}, {"F ? ! : T", "T"}, {"T ? ? : T", "?"}, {"F ? T : !", "!"},
		{"? ? T : T", "?"}, {"! ? T : T", "!"}, {"? ? ! : !", "?"},

		{"(? or F) and F", "F"}, {"not (? and F)", "T"}, {"? and ! and F", "F"}, {"not (! or T)", "F"},
		{"T and (F or ?)", "?"}, {"! && F || T", "T"}, {"!T || T", "T"},
	}
	outcome := map[string]string{"T": "holds", "F": "no", "?": "unknown", "!": "error"}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			v := decide(t, fmt.Sprintf(truthPolicy, quoted(spell(tt.expr))), truthWorld())
			if diff := cmp.Diff([]string{"probe: " + outcome[tt.want]}, outcomes(v)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.expr, diff)
			}
			if told := len(v.Problems) > 0; told != (tt.want == "!") {
				t.Errorf("told: %v; what is broken is told, what is unknown is not", v.Problems)
			}
		})
	}
}

// spell writes the letters of a table as operands. "? :" with spaces around it is the
// conditional; a "?" that is a value replaces an operand.
func spell(expr string) string {
	var out []string
	operand := true
	for _, word := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(expr)) {
		negations := ""
		for operand && len(word) > 1 && word[0] == '!' {
			negations, word = negations+"!", word[1:]
		}
		switch {
		case operand && operands[word] != "":
			out = append(out, negations+operands[word])
			operand = false
		default:
			out = append(out, word)
			operand = word != ")"
		}
	}
	return strings.Join(out, " ")
}

// quoted writes a text as YAML in double quotes.
func quoted(s string) string { return fmt.Sprintf("%q", s) }

// Operands are evaluated from left to right and only as far as needed, and only then are
// their facts gathered.
func TestFactsAreGatheredWhenTheyAreNeeded(t *testing.T) {
	const facts = `
facts:
  a: {json: a.json, schema: {properties: {on: {type: boolean, default: false}}}}
  b: {json: b.json, schema: {properties: {on: {type: boolean, default: false}}}}
  c: {json: "c/${name}.json", schema: {properties: {on: {type: boolean, default: false}}}}
  name: {text: name.txt}
  never: {text: never.txt}
let:
  either: a.on or b.on
  named: never == "x"
rules:
  - name: probe
    when: `
	on, off := is(object{"on": true}), is(object{"on": false})
	tests := []struct {
		name, when string
		a          rules.Value
		want       []string
	}{
		{"and ends at the first false", "a.on and b.on", off, []string{"a(a.json)"}},
		{"and goes on behind the first true", "a.on and b.on", on, []string{"a(a.json)", "b(b.json)"}},
		{"or ends at the first true", "a.on or b.on", on, []string{"a(a.json)"}},
		{"and goes on behind what is unknown, which a false may still decide", "a.on and b.on", missing, []string{"a(a.json)", "b(b.json)"}},
		{"the branch that is not taken is not gathered", "'a.on ? b.on : c.on'", on, []string{"a(a.json)", "b(b.json)"}},
		{"neither branch of an unknown condition is", "'a.on ? b.on : c.on'", missing, []string{"a(a.json)"}},
		{"a let is evaluated as lazily as if it stood there", "either", on, []string{"a(a.json)"}},
		{"what a path names is gathered before it", "c.on", on, []string{"name(name.txt)", "c(c/n.json)"}},
		{"asking about a fact gathers it", "missing(a)", missing, []string{"a(a.json)"}},
		{"each is gathered once", "a.on and ok(a) and a.on and path(a) != ''", on, []string{"a(a.json)"}},
		{"also when it is missing", "a.on or a.on or missing(a)", missing, []string{"a(a.json)"}},
		{"a list of conditions ends at the first false", "[a.on, b.on]", off, []string{"a(a.json)"}},
		{"an operand needs all that it names", "[a.on == b.on]", off, []string{"a(a.json)", "b(b.json)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{facts: map[string]rules.Value{"a": tt.a, "b": off, "c": on, "name": is("n")}}
			decide(t, facts+tt.when+"\n    notice: hello\n", w)
			if diff := cmp.Diff(tt.want, w.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// An operand is unknown as soon as a fact, let or field that it names is; lets and bound
// params pass their unknown on, and == on an unusable field is unknown, never false.
func TestWhatIsUnknown(t *testing.T) {
	f := files{
		"policy.yaml": `ralph: 1
facts:
  gone: {json: gone.json, schema: {properties: {n: {type: integer, default: 0}}}}
  bad: {json: bad.json, schema: {properties: {n: {type: integer, default: 0}}}}
  stood: {json: stood.json, default: {}, schema: {properties: {n: {type: integer, default: 7}}}}
  notDefaulted: {json: x.json, default: {}, schema: {properties: {n: {type: integer, default: 7}}}}
  open: {json: open.json}
  state:
    json: state.json
    inline: true
    schema:
      properties:
        n: {type: integer, default: 0}
        phase: {type: string, default: ""}
        maybe: {type: string}
        tags: {type: array, default: [], items: {type: string}}
        specs: {type: array, default: [], items: {properties: {name: {type: string, default: ""}, n: {type: integer, default: 0}}}}
        meta: {default: {}, properties: {n: {type: integer, default: 0}, tags: {type: array, items: {type: integer}, default: []}}}
let:
  alias: state
  specs_again: state.specs
  lost: gone.n + 1
  lost_again: lost * 2
  list: "[gone.n]"
  bad_sum: n + 1
  named: map(specs, .name)
  chosen: |-
    phase == "x" ? gone.n : 1
  first_spec: specs[0]
rules:
  - name: probe
    when: WHEN
    notice: it holds
  - include: guard
    with: {x: WITH}
`,
		"guard.yaml": `ralph: 1
params:
  x: {}
rules:
  - name: bound
    when: x == 1
    notice: it holds
`,
	}
	// The unusable fields of state: n, the name of the second spec, the second tag,
	// a tag within meta.
	state := with(is(object{
		"phase": "plan", "tags": []any{"a", nil}, "meta": object{"n": 1, "tags": []any{1, nil}},
		"specs": []any{object{"name": "one", "n": 1}, object{"n": 2}},
	}), "/n", "/specs/1/name", "/tags/1", "/meta/tags/1")
	tests := []struct{ when, want string }{
		// facts
		{"gone.n == 1", "unknown"}, {"gone.n != 1", "unknown"}, {"gone == nil", ""}, {"(gone.n ?? 1) == 1", "unknown"}, {"gone?.n == 1", "unknown"},
		{"bad.n == 1", "unknown"}, {"len([gone]) == 1", "unknown"}, {"any([1], # == gone.n)", "unknown"},
		{"missing(gone)", "holds"}, {"invalid(gone)", "no"}, {"ok(gone)", "no"}, {"invalid(bad)", "holds"}, {"missing(bad)", "no"},
		{"problem(gone) == 'there is no file'", "holds"}, {"problem(bad) == 'it is not JSON'", "holds"}, {"problem(stood) == ''", "holds"},
		{"path(gone) == 'gone.json'", "holds"}, {"age(gone) == duration('0s')", "holds"},
		{"not missing(gone) and gone.n == 1", "no"}, {"missing(gone) or gone.n == 1", "holds"},
		// defaults fill in what is missing, never what is invalid
		{"stood.n == 7", "holds"}, {"ok(stood)", "holds"}, {"missing(stood)", "no"}, {"notDefaulted.n == 7", "unknown"}, {"invalid(notDefaulted)", "holds"},
		// lets
		{"lost == 1", "unknown"}, {"lost_again == 1", "unknown"}, {"list == [1]", "unknown"}, {"chosen == 1", "holds"}, {"lost_again == 1 and false", "no"},
		// unusable fields
		{"n == 1", "unknown"}, {"n != 1", "unknown"}, {"state.n == 1", "unknown"}, {`state["n"] == 1`, "unknown"}, {"state?.n == 1", "unknown"}, {"(n ?? 1) == 1", "unknown"},
		{"bad_sum == 1", "unknown"}, {"alias.n == 1", "unknown"}, {"phase == 'plan'", "holds"}, {"alias.phase == 'plan'", "holds"}, {`get(state, "n") == 1`, "unknown"},
		{"n == 1 and phase == 'x'", "no"}, {"n == 1 or phase == 'plan'", "holds"},
		// in lists and predicates
		{"specs[0].name == 'one'", "holds"}, {"specs[1].name == 'two'", "unknown"}, {"specs[1].n == 2", "holds"}, {"specs[meta.n].name == 'x'", "unknown"},
		{"any(specs, .name == 'one')", "unknown"}, {"any(specs, .n == 2)", "holds"}, {"len(specs) == 2", "holds"}, {"count(specs, .n > 0) == 2", "holds"},
		{"any(specs_again, .name == 'two')", "unknown"}, {"any(specs_again, .n == 2)", "holds"}, {"first_spec.name == 'one'", "holds"}, {"len(specs_again) == 2", "holds"},
		{"'one' in named", "unknown"}, {"len(specs) == 2 and specs == []", "unknown"},
		{"'b' in tags", "unknown"}, {"tags[0] == 'a'", "holds"}, {"tags[1] == 'b'", "unknown"}, {"any(tags, # == 'b')", "unknown"}, {"len(tags) == 2", "holds"}, {"last(tags) == 'b'", "unknown"},
		{"3 in meta.tags", "unknown"}, {"meta.n == 1", "holds"}, {"meta.tags[0] == 1", "holds"}, {"alias.meta.tags[1] == 1", "unknown"}, {"alias.meta.tags[0] == 1", "holds"},
		// what is only absent
		{"maybe == nil", "holds"}, {"(maybe ?? 'x') == 'x'", "holds"}, {"maybe == 'x'", "no"}, {"open.any.thing == 1", "error"}, {"open?.any?.thing == nil", "holds"},
		// what fails
		{"open.nothing > 1", "error"}, {"open.nothing", "error"}, {"open.text and true", "error"}, {"int('x') == 1", "error"}, {"tags[9] == 'a'", "error"},
	}
	for _, tt := range tests {
		t.Run(tt.when, func(t *testing.T) {
			g := files{"guard.yaml": f["guard.yaml"], "policy.yaml": strings.NewReplacer("WHEN", quoted(tt.when), "WITH", "1").Replace(f["policy.yaml"])}
			p, diags := rules.Load(t.Context(), g.fs(), "policy.yaml", rules.Config{})
			if tt.want == "" {
				if p != nil {
					t.Error("it loads")
				}
				return
			}
			if p == nil {
				t.Fatal(diags.Format())
			}
			v := (&world{facts: map[string]rules.Value{
				"bad": invalid, "notDefaulted": invalid, "state": state, "open": is(object{"text": "t"}),
			}}).explain(p)
			if diff := cmp.Diff("probe: "+tt.want, outcomes(v)[0]); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, strings.Join(reported(v), "\n"))
			}
		})
	}
	for with, want := range map[string]string{"gone.n": "unknown", "lost": "unknown", "n": "unknown", "1": "holds", "stood.n": "no", "alias.n": "unknown"} {
		t.Run("with "+with, func(t *testing.T) {
			g := files{"guard.yaml": f["guard.yaml"], "policy.yaml": strings.NewReplacer("WHEN", "false", "WITH", with).Replace(f["policy.yaml"])}
			v := (&world{facts: map[string]rules.Value{"state": state}}).explain(load(t, g))
			if diff := cmp.Diff([]string{"probe: no", "guard/bound: " + want}, outcomes(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Errors lean to stop: a stop rule whose condition is broken stops, without texts and
// effects; any other rule does not hold. Either is reported, once for each cause.
func TestErrorsLeanToStop(t *testing.T) {
	const head = `
facts:
  state: {json: state.json, inline: true, schema: {properties: {n: {type: integer}, m: {type: integer, default: 0}, list: {type: array, items: {type: integer}, default: []}}, required: [n]}}
  gone: {json: gone.json, schema: {properties: {n: {type: integer, default: 0}}}}
`
	failed := func(line, expr string) string {
		return "policy.yaml:" + line + ":30: " + expr + ": index out of range: 9 (array length is 0)"
	}
	tests := []struct {
		name, rules string
		want        *rules.Verdict
	}{
		{
			name: "a stop rule stops, and nothing below it is tried",
			rules: `
rules:
  - {name: note, when: m == 1, log: noted}
  - {name: limit, when: "list[9] > 3", stop: "limit ${m}", log: never, notice: never, then: [{set: m = 2}]}
  - {name: go-on, continue: Go on}
finally:
  - log: never
`,
			want: &rules.Verdict{
				Rule: "limit", Cause: "rule", Reason: "the rule limit is undecided: " + failed("9", "list[9] > 3"),
				Parts:    []rules.Part{{Rule: "note", Log: "noted"}},
				Problems: problems("the rule limit is undecided: " + failed("9", "list[9] > 3")),
			},
		},
		{
			name: "a field of a wrong type is unknown, and reported once",
			rules: `
rules:
  - {name: a, when: n > 3, log: never}
  - {name: c, when: n > 5, continue: never}
  - {name: d, when: n + len("") > 5, continue: never}
`,
			want: &rules.Verdict{
				Cause: rules.FaultFact, Reason: "the rule c is undecided: state.json: state.n expected integer, got string",
				Problems: problems("state.json: state.n expected integer, got string"),
			},
		},
		{
			name: "a stop rule over a field of a wrong type stops, and nothing below it is tried",
			rules: `
rules:
  - {name: a, when: n > 3, log: never}
  - {name: b, when: n > 4, stop: never}
  - {name: c, continue: never}
`,
			want: &rules.Verdict{
				Rule: "b", Cause: rules.FaultFact, Reason: "the rule b is undecided: state.json: state.n expected integer, got string",
				Problems: problems("the rule b is undecided: state.json: state.n expected integer, got string"),
			},
		},
		{
			name: "a merely missing fact is no error",
			rules: `
rules:
  - {name: a, when: gone.n > 3, stop: never}
  - {name: b, when: m == 1, continue: Go on}
`,
			want: &rules.Verdict{Action: rules.Continue, Rule: "b", Reason: "Go on", Parts: []rules.Part{{Rule: "b"}}},
		},
		{
			name: "a condition that something else decides is no error",
			rules: `
rules:
  - {name: a, when: n > 3 and m == 7, stop: never}
  - {name: b, when: n > 3 or m == 1, continue: Go on}
`,
			want: &rules.Verdict{Action: rules.Continue, Rule: "b", Reason: "Go on", Parts: []rules.Part{{Rule: "b"}},
				Problems: problems("state.json: state.n expected integer, got string")},
		},
		{
			name: "an expression that fails at run time",
			rules: `
rules:
  - {name: a, when: "int('x') == m", stop: never}
`,
			want: &rules.Verdict{
				Rule: "a", Cause: "rule", Reason: `the rule a is undecided: policy.yaml:8:22: int('x') == m: int(…) cannot read "x"`,
				Problems: problems(`the rule a is undecided: policy.yaml:8:22: int('x') == m: int(…) cannot read "x"`),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := load(t, policy(head+tt.rules))
			w := &world{facts: map[string]rules.Value{"state": with(is(object{"m": 1, "list": []any{}}), "/n")}}
			got := w.eval(p)
			if diff := cmp.Diff(tt.want, decided(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// With gate: all a stop only ends the reading, and so does one that is undecided: what continued above it still continues.
func TestUndecidedStopEndsTheReading(t *testing.T) {
	v := decide(t, `
gate: all
facts:
  state: {json: state.json, inline: true, schema: {properties: {n: {type: integer}}, required: [n]}}
limits: {total: 10}
rules:
  - {name: one, continue: One}
  - {name: limit, when: "int('x') > 3", stop: never}
  - {name: two, continue: Two}
`, &world{facts: map[string]rules.Value{"state": is(object{"n": 1})}})
	if diff := cmp.Diff("continue one: One", said(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"one: holds", "limit: error"}, outcomes(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Contains(reported(v), `the rule limit is undecided: policy.yaml:9:26: int('x') > 3: int(…) cannot read "x"`) {
		t.Errorf("it is not told: %v", v.Problems)
	}
}

// The first rule that needs what a person has not approved ends the trying, whether its condition or its text needs it. A
// rule that decides nothing does not, and is not tried where the agent continues; no text counts as the report.
func TestNotApproved(t *testing.T) {
	const rest = "  - {name: rest, continue: Rest}\n"
	for _, tt := range []struct{ name, rules, want string }{
		{"a condition", `  - {name: first, when: it.code != 0, continue: First}`, "stop first: the rule first needs your approval: it: x is not approved"},
		{"a function", `  - {name: first, when: missing(it), continue: First}`, "stop first: the rule first needs your approval: it: x is not approved"},
		{"a text", `  - {name: first, continue: "First ${it.stdout}, ${missing(gone)}"}`, "stop first: the rule first needs your approval: it: x is not approved"},
		{"a problem in a text", `  - {name: first, continue: "First ${problem(it)}"}`, "stop first: the rule first needs your approval: it: x is not approved"},
		{"a part of a text", `  - {name: first, continue: [{when: ok(it), text: First}]}`, "stop first: the rule first needs your approval: it: x is not approved"},
		{"a note", `  - {name: first, when: ok(it), note: First}`, "continue rest: Rest"},
		{"a problem in a note", `  - {name: first, note: "First ${problem(it)}"}`, "continue rest: Rest"},
		{"a note of an agent that stops", `  - {name: first, when: ok(it), note: First}
  - {name: end, stop: The end}`, "stop end: The end"},
		{"not reached", `  - {name: first, when: missing(gone) or ok(it), continue: First}`, "continue first: First"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := decide(t, "facts: {it: {exec: [x], default: {code: 0, stdout: '', stderr: '', lines: [], json: null}}, gone: {text: gone}}\nlimits: {total: 9}\nrules:\n"+tt.rules+"\n"+rest,
				&world{facts: map[string]rules.Value{"it": {Status: rules.Withheld, Problem: "is not approved"}}})
			if diff := cmp.Diff(tt.want, said(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			reports := strings.Join(reported(v), "\n")
			if n := strings.Count(reports, "is not approved"); (n == 1) != strings.HasPrefix(tt.want, "stop") {
				t.Errorf("it is reported %d times: %q", n, reports)
			}
		})
	}
}

// A list from which files are left out is enough for what is in it, but it does not say that a stop rule is false. Nothing
// below such a rule is tried, and no stop is a success.
func TestListThatIsNotWhole(t *testing.T) {
	const left = "n is not whole: b.json: is cut"
	for _, tt := range []struct {
		name, rules, want string
		success           bool
	}{
		{"continue", `[{name: a, when: "any(n, .value.x)", continue: A}]`, "continue a: A", false},
		{"stop", `[{name: a, when: "any(n, not .value.x)", stop: A}, {name: b, continue: B}]`, "stop a: the rule a is undecided: " + left, false},
		{"a let that another rule read", `[{name: a, when: shut, log: x}, {name: b, when: shut, stop: B}, {name: c, continue: C}]`, "stop b: the rule b is undecided: " + left, false},
		{"decided without it", `[{name: a, when: "true or shut", stop: A, success: true}]`, "stop a: A", true},
		{"its state", `[{name: a, when: "ok(n) and problem(n) != ''", stop: A, success: true}]`, "stop a: A", false},
		{"a success below", `[{name: a, when: shut, continue: A}, {name: b, stop: B, success: true}]`, "stop b: B", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := decide(t, "facts: {n: {glob: '*.json', schema: {properties: {x: {type: boolean, default: false}}}}}\nlet: {shut: 'any(n, not .value.x)'}\nlimits: {total: 9}\nrules: "+tt.rules+"\n",
				&world{facts: map[string]rules.Value{"n": {V: []any{object{"path": "a.json", "name": "a", "age": 0, "value": object{"x": true}}}, Problem: "b.json: is cut"}}})
			if diff := cmp.Diff(tt.want, said(v)); diff != "" || v.Success != tt.success {
				t.Errorf("success %t (-want +got):\n%s", v.Success, diff)
			}
			reports := strings.Join(reported(v), "\n")
			if n := strings.Count(reports, "b.json: is cut"); n != 1 && !tt.success {
				t.Errorf("it is reported %d times: %q", n, reports)
			}
		})
	}
}
