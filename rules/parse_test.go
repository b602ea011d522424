package rules_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
)

// What is too large or too deep is a finding, and so is what a parser would not survive.
func TestBombs(t *testing.T) {
	rule := func(when string) string { return "ralph: 1\nrules:\n  - {name: a, when: '" + when + "', stop: x}\n" }
	aliases := "ralph: 1\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		aliases += fmt.Sprintf("%c: &%[1]c [%s*%c]\n", i, strings.Repeat(fmt.Sprintf("*%c,", i-1), 8), i-1)
	}
	var lets strings.Builder
	lets.WriteString("ralph: 1\nlet:\n  a0: '[1]'\n")
	for i := range 1000 {
		fmt.Fprintf(&lets, "  a%d: concat(a%d, a%d)\n", i+1, i, i)
	}
	for name, c := range map[string]struct{ src, want string }{
		"parentheses":  {rule(strings.Repeat("(", 1_000_000)), "an expression has at most 4096 bytes"},
		"brackets":     {"ralph: 1\nrules: " + strings.Repeat("[", 1_000_000), "yaml"},
		"indentation":  {strings.Repeat("- ", 100_000), "yaml"},
		"aliases":      {aliases, "with those of its aliases"},
		"itself":       {"ralph: &a [*a]\n", "yaml"},
		"size":         {strings.Repeat("# comment\n", 200_000), "bytes, and a policy at most"},
		"nodes":        {rule(strings.Repeat("1+", 1500) + "1 == 1"), "too many parts"},
		"a pattern":    {rule(`prompt matches "((a{100}){100}){100}"`), "this is no regular expression"},
		"placeholders": {"ralph: 1\nrules: [{name: a, stop: '" + strings.Repeat("${", 100_000) + "'}]", "is not closed"},
		"depth":        {rule(strings.Repeat("-", 2000) + "1 == 1"), "too many parts"},
		"lets":         {lets.String() + "rules: [{name: a, when: len(b) > 1, stop: x}]\n", "there is no name b"},
		"UTF-16":       {"\xff\xfer\x00a\x00", "not UTF-8"},
	} {
		_, err := rules.Parse("p.yaml", []byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 4000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := parse(t, lets.String()+"rules: [{name: a, when: len(a1000) > 1, stop: x}]\n")
	if v, err := p.Eval(t.Context(), rules.Input{}); v.Outcome != rules.Failed || err != nil {
		t.Errorf("a list that doubles: %v %v", v, err)
	}
}

func TestParams(t *testing.T) {
	const src = `ralph: 1
params:
  n: {type: integer, default: 3, minimum: 1, description: how many}
  mode: {enum: [fast, slow], default: fast}
  wait: {type: string, default: 90s}
limits: {continuations: n, elapsed: wait}
rules:
  - {name: a, when: mode == "slow" and n > 4 and ok(answer), stop: "${n}", at_most: n}
facts: {answer: {judge: is it done, turns: n, max_tokens: 300}}
`
	w := &world{facts: map[string]rules.Found{"answer": ok(true)}}
	p := parse(t, src, rules.Options{Params: map[string]string{"n": "5", "mode": "slow", "wait": "2h"}})
	if v, _ := p.Eval(t.Context(), rules.Input{World: w}); v.Reason != "5" || p.Limits.Continuations != 5 || p.Limits.Elapsed.Hours() != 2 {
		t.Errorf("the params are not used: %+v %+v", v, p.Limits)
	}
	if diff := cmp.Diff(map[string]string{"turns": "5", "max_tokens": "300"}, w.queries["answer"].Options); diff != "" {
		t.Errorf("the options of the judge (-want +got):\n%s", diff)
	}
	if p = parse(t, src); p.Params["n"] != 3 || p.Limits.Continuations != 3 {
		t.Errorf("the defaults are not used: %+v", p.Params)
	}
	for name, c := range map[string][2]string{"n": {"ten", "must be a whole number"}, "mode": {"fst", `did you mean "fast"?`}, "m": {"1", "no param m"}} {
		if _, err := (rules.Options{Params: map[string]string{name: c[0]}}).Parse("p.yaml", []byte(src)); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s=%s: %v", name, c[0], err)
		}
	}
}

func TestOptions(t *testing.T) {
	files := fstest.MapFS{"schemas/s.json": {Data: []byte(`{"properties": {"n": {"type": "integer"}}}`)}}
	src := `ralph: 1
facts:
  state: {json: s.json, schema: schemas/s.json, inline: true, timeout: 3s}
  mine: {database: "select ${n}"}
rules:
  - {name: a, when: n > 1 and mine == 3, stop: x, then: [mail: "to ${n}"]}
`
	p := parse(t, src, rules.Options{Files: files, Sources: []string{"database"}, Effects: []string{"mail"}})
	w := &world{facts: map[string]rules.Found{"state": ok(map[string]any{"n": 2}), "mine": ok(3)}}
	v, err := p.Eval(t.Context(), rules.Input{World: w})
	if err != nil || v.Rule != "a" || v.Effects[0].Kind != "mail" || v.Effects[0].Args[0] != "to 2" || w.log[1] != "mine select 2" {
		t.Errorf("%+v, %v, %q", v, err, w.log)
	}
	var findings rules.Findings
	if _, err := rules.Parse("p.yaml", []byte(src)); !errors.As(err, &findings) || len(findings) < 3 {
		t.Errorf("without the options: %v", err)
	}
	for _, o := range []rules.Options{{Values: map[string]any{"cwd": ""}}, {Functions: map[string]any{"len": func(int) int { return 0 }}}, {Functions: map[string]any{"f": 3}}} {
		if _, err := o.Parse("p.yaml", []byte("ralph: 1\nrules: []\n")); err == nil {
			t.Error("a name that is taken, or no function, is no finding")
		}
	}
}

func TestReaches(t *testing.T) {
	p := parse(t, `ralph: 1
facts:
  a: {exec: [go, test]}
  b: {judge: is it done, model: "${env.MODEL}"}
  c: {judge: is it done, command: [claude, -p]}
  d: {text: "~/notes.md"}
  e: {git: .}
rules:
  - {name: a, when: 'env.HOME != "" and e.dirty', stop: x, then: [run: [notify]]}
`, rules.Options{Lazy: true})
	want := []string{"asks a model", "reads the variable HOME", "reads the variable MODEL", "reads ~/notes.md", "runs claude", "runs go", "runs notify"}
	if diff := cmp.Diff(want, p.Reaches()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parse(t, "ralph: 1\nrules: []\n").Reaches(); len(got) > 0 {
		t.Errorf("an empty policy reaches %q", got)
	}
	for src, want := range map[string]string{
		"rules: [{name: a, stop: x}]":                                           "It never continues an agent.",
		"rules: [{name: a, continue: x}]":                                       "It continues a prompt at most 100 times (limits.continuations).",
		"limits: {total: 1}\nrules: [{name: a, continue: x}]":                   "It continues a session at most once (limits.total).",
		"progress: cwd\nlimits: {elapsed: 1h}\nrules: [{name: a, continue: x}]": "It continues a prompt at most 100 times (limits.continuations), and at most 10 times without progress (limits.repeats), for at most 1h0m0s (limits.elapsed).",
	} {
		if got := parse(t, "ralph: 1\n"+src+"\n").Bound(); got != want {
			t.Errorf("the bound of %s is %q, want %q", src, got, want)
		}
	}
}

func TestStart(t *testing.T) {
	p := parse(t, `ralph: 1
facts:
  feature: {text: feature}
  state: {json: "specs/${feature}/s.json"}
start:
  - set: feature = text
  - set: 'state = {phase: "plan", about: "do " + text}'
  - set: state.n = 1
rules: []
`)
	effects, err := p.Start(t.Context(), rules.Input{World: &world{}}, " login \n")
	want := []rules.Effect{
		{Kind: "set", Value: "login", Found: rules.Found{Path: "feature"}},
		{Kind: "set", Value: map[string]any{"phase": "plan", "about": "do login"}, Found: rules.Found{Path: "specs/login/s.json"}},
		{Kind: "set", Path: []any{"n"}, Value: 1, Found: rules.Found{Path: "specs/login/s.json"}},
	}
	if diff := cmp.Diff(want, effects, cmpopts.IgnoreFields(rules.Effect{}, "Fact"), cmpopts.IgnoreFields(rules.Found{}, "Value")); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	w := &world{facts: map[string]rules.Found{"feature": {OK: true, Value: "other", Path: "feature"}}}
	if _, err := p.Start(t.Context(), rules.Input{World: w}, "x"); err == nil || err.Error() != "feature exists already" {
		t.Errorf("over a file that exists: %v", err)
	}
}

// The trace has each rule that was tried, with its operands and what they read.
func TestTrace(t *testing.T) {
	p := parse(t, `ralph: 1
facts:
  state: {json: s.json, inline: true, schema: {properties: {n: {type: integer}, m: {type: integer}}}}
  list: {text: list.txt}
rules:
  - {name: skipped, continue: x, at_most: 1}
  - {name: a, when: missing(list) and (n > 3 or m == 1), stop: x}
  - {name: b, when: n < 3, stop: x}
`)
	w := &world{facts: map[string]rules.Found{"state": ok(map[string]any{"n": 2})}}
	v, err := p.Eval(t.Context(), rules.Input{World: w, Trace: true, Memory: rules.Memory{Prompt: map[string]int{"skipped": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	want := &rules.Trace{
		Rules: []rules.RuleTrace{
			{Name: "skipped", Truth: "skipped", Line: 6},
			{Name: "a", Truth: "unknown", Line: 7, Operands: []rules.OperandTrace{
				{Text: "missing(list)", Truth: "true"},
				{Text: "n > 3", Truth: "false", Values: map[string]any{"state.n": 2}},
				{Text: "m == 1", Truth: "unknown", Why: "state.m is absent"},
			}},
			{Name: "b", Truth: "true", Line: 8, Operands: []rules.OperandTrace{{Text: "n < 3", Truth: "true", Values: map[string]any{"state.n": 2}}}},
		},
		Facts: []rules.FactTrace{
			{Name: "state", Status: "ok", Path: "s.json"},
			{Name: "list", Status: "missing", Problem: "list (list.txt) is missing", Path: "list.txt"},
		},
	}
	if diff := cmp.Diff(want, v.Trace, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of a glob, files that break the schema are left out, and a done is then not certain.
func TestGlob(t *testing.T) {
	src := `ralph: 1
facts:
  files: {glob: "*.json", parse: json, schema: {required: [n], properties: {n: {type: integer}, m: {type: integer, default: 5}}}}
rules:
  - {name: a, when: 'any(files, .value.n > 3)', continue: x}
  - {name: b, done: '${map(files, .path + string(.value.m))}', notice: '${problem(files)}'}
`
	file := func(path string, value any) any { return map[string]any{"path": path, "value": value} }
	w := &world{facts: map[string]rules.Found{"files": ok([]any{file("a", map[string]any{"n": 1}), file("b", map[string]any{"n": 2})})}}
	if got, v := eval(t, src, w, rules.Input{}); got != "done b" || v.Reason != "a5\nb5" {
		t.Errorf("%s %q", got, v.Reason)
	}
	w.facts["files"] = ok([]any{file("a", map[string]any{"n": 1}), file("b", map[string]any{"n": "x"}), file("c", map[string]any{})})
	got, v := eval(t, src, w, rules.Input{})
	for _, want := range []string{"files leaves files out", "b: n must be a whole number", "c: must have"} {
		if got != "stopped b" || !strings.Contains(v.Reason, want) {
			t.Errorf("%s %q, want %q", got, v.Reason, want)
		}
	}
	tasks := &world{facts: map[string]rules.Found{"list": {OK: true, Value: []any{}, Problem: "7.json: it is not JSON"}}}
	if got, v := eval(t, "ralph: 1\nfacts: {list: {tasks: claude}}\nrules: [{name: a, when: len(list) == 0, done: x}]\n", tasks, rules.Input{}); got != "stopped a" {
		t.Errorf("tasks of which one cannot be read: %s %q", got, v.Reason)
	}
}

// A schema says what the fields of front matter are; body is beside them.
func TestFrontMatter(t *testing.T) {
	const schema = "schema: {required: [n], additionalProperties: false, properties: {n: {type: integer}}}"
	matter := func(n any) map[string]any { return map[string]any{"n": n, "body": "text"} }
	w := &world{facts: map[string]rules.Found{"front": ok(matter(1)), "list": ok([]any{map[string]any{"path": "a.md", "value": matter(2)}})}}
	src := "ralph: 1\nfacts:\n  front: {frontmatter: a.md, " + schema + "}\n  list: {glob: '*.md', parse: frontmatter, " + schema + "}\n" +
		"rules: [{name: a, stop: '${front.n} ${front.body} ${map(list, .value.n)} ${map(list, .value.body)} ${problem(front)}${problem(list)}'}]\n"
	if _, v := eval(t, src, w, rules.Input{}); v.Reason != "1 text 2 text" {
		t.Errorf("it is %q", v.Reason)
	}
	if err := w.queries["front"].Usable(matter(1)); err != nil {
		t.Errorf("with a body it is not usable: %v", err)
	}
	if err := w.queries["list"].Usable(map[string]any{"body": "text"}); err == nil {
		t.Error("a file of a glob without a field that is required is usable")
	}
}

// The shipped policies are read without findings.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../examples/*.yaml")
	for _, name := range append(files, "testdata/broken.txt") {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(src), "\n# ") {
			f.Add([]byte(part))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := rules.Parse("p.yaml", src)
		if err == nil {
			_, err = p.Eval(t.Context(), rules.Input{Trace: true})
			p.Reaches()
		}
		if found := (rules.Findings)(nil); errors.As(err, &found) {
			for _, x := range found {
				if x.Line < 1 || x.Col < 1 || strings.ContainsRune(x.String(), 0) {
					t.Errorf("a finding without a place: %+v", x)
				}
			}
		}
	})
}

// A rule of a lazy policy that does not compile ends the decision when it is reached, whatever its verb: the policy is wrong.
func TestLazyProblem(t *testing.T) {
	src := "ralph: 1\nrules:\n  - {name: first, when: stop_hook_active, stop: at once}\n  - {name: again, when: phaze == 1, continue: go on}\n"
	p, err := rules.Options{Lazy: true}.Parse("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for active, want := range map[bool]rules.Outcome{true: rules.Stopped, false: rules.Failed} {
		v, err := p.Eval(t.Context(), rules.Input{Values: map[string]any{"stop_hook_active": active}})
		if err != nil || v.Outcome != want {
			t.Errorf("stop_hook_active %v: %s, error %v", active, v.Outcome, err)
		}
		if want == rules.Failed && !errors.As(v.Err, new(rules.Findings)) {
			t.Errorf("error %v", v.Err)
		}
	}
}
