package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// What users of shells and of other languages write in a condition, what check says
// about it, and what they write instead.
func TestMistakes(t *testing.T) {
	type finding struct{ Said, Help string }
	const noIs, noMatch, noShell, noMethod = `expressions have no operator "is"`, `expressions have no operator "=~"`, "a condition is not a shell test", "values have no methods"
	const quotes, span = "a text needs quotes", "a time span is written as duration(…)"
	for _, c := range []struct {
		written string
		finding
		instead string // that loads
	}{
		// A shell.
		{`[[ -f TODO.md ]]`, finding{noShell, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`[ -e "TODO.md" ]`, finding{noShell, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`'[ -d docs ] && said("x")'`, finding{noShell, `write isdir("docs")`}, `isdir("docs") && said("x")`},
		{`'[ -z "$session_id" ]'`, finding{noShell, `write session_id == ""`}, `session_id == ""`},
		{`'[ -n "$session_id" ]'`, finding{noShell, `write session_id != ""`}, `session_id != ""`},
		{`$(git status --porcelain) != ""`, finding{"an expression cannot run a program", "declare a fact such as repo: {git: .} and read repo.dirty, repo.changed or repo.branch"}, ""},
		{`$(go vet ./...)`, finding{"an expression cannot run a program", "declare a fact such as check: {exec: [go, vet, ./...]} and read check.stdout or check.code"}, ""},
		{`$(ls | wc -l) > 3`, finding{"an expression cannot run a program", "declare a fact such as check: {exec: [program, argument]} and read check.stdout or check.code"}, ""},
		{`${state.n} > 3`, finding{"${…} is for texts; an expression names a value without it", "write state.n"}, `state.n > 3`},
		{`$HOME == "x"`, finding{"an expression has no $", "write HOME for a name of the policy, env.HOME for a variable of the environment"}, `env.HOME == "x"`},
		{`if said("x")`, finding{"a condition has no if", "write the condition alone"}, `said("x")`},
		{`unless said("x")`, finding{"a condition has no unless", "write not (…)"}, `not (said("x"))`},

		// Numbers and time spans.
		{`loop.elapsed > 45m`, finding{span, `write duration("45m")`}, `loop.elapsed > duration("45m")`},
		{`loop.elapsed > 1h30m`, finding{span, `write duration("1h30m")`}, `loop.elapsed > duration("1h30m")`},
		{`age(todo) > 10 minutes`, finding{span, `write duration("10m")`}, `age(todo) > duration("10m")`},
		{`age(todo) > 2 days`, finding{span, `write duration("48h")`}, `age(todo) > duration("48h")`},
		{`transcript.tokens > 200k`, finding{"a number has no unit", `write 200000`}, `transcript.tokens > 200000`},
		{`transcript.tokens > 1.5M`, finding{"a number has no unit", `write 1500000`}, `transcript.tokens > 1500000`},
		{`loop.elapsed / duration("1h") > 3`, finding{"a time span cannot be divided", "divide the minutes: loop.elapsed.Minutes() / 60"}, `loop.elapsed.Minutes() / 60 > 3`},
		{`loop.elapsed / 2 > 3`, finding{"a time span cannot be divided", "loop.elapsed.Minutes() and loop.elapsed.Seconds() are numbers"}, `loop.elapsed.Minutes() / 2 > 3`},

		// Operators.
		{`transcript.last =~ /\d+/`, finding{noMatch, "write transcript.last matches `\\d+`"}, "transcript.last matches `\\d+`"},
		{`transcript.last =~ "x"`, finding{noMatch, `write transcript.last matches "x"`}, `transcript.last matches "x"`},
		{`transcript.last !~ /x/`, finding{noMatch, "write not (transcript.last matches `x`)"}, "not (transcript.last matches `x`)"},
		{`transcript.last matches /x/`, finding{"a pattern is a text", "write matches `x`"}, "transcript.last matches `x`"},
		{`todo is not None`, finding{noIs, "write ok(todo) for a fact, todo != nil for a field"}, `ok(todo)`},
		{`todo is null`, finding{noIs, "write missing(todo) for a fact, todo == nil for a field"}, `missing(todo)`},
		{`state.opt is not None`, finding{noIs, "write state.opt != nil"}, `state.opt != nil`},
		{`state.opt is None`, finding{noIs, "write state.opt == nil"}, `state.opt == nil`},
		{`todo is empty`, finding{noIs, "write len(todo) == 0"}, `len(todo) == 0`},
		{`todo is not empty`, finding{noIs, "write len(todo) > 0"}, `len(todo) > 0`},
		{`stop_hook_active is true`, finding{noIs, "write stop_hook_active"}, `stop_hook_active`},
		{`stop_hook_active is False`, finding{noIs, "write not stop_hook_active"}, `not stop_hook_active`},
		{`state.phase is "plan"`, finding{`"is" is not an operator`, "write == to compare"}, `state.phase == "plan"`},
		{`state.phase is not "plan"`, finding{noIs, `write state.phase != "plan"`}, `state.phase != "plan"`},
		{`transcript.last like "x"`, finding{"expressions have no such operator", `write transcript.last contains "x", or "x" in transcript.last for a list`}, `transcript.last contains "x"`},
		{`transcript.last starts with "x"`, finding{"startsWith is one word", `write transcript.last startsWith "x"`}, `transcript.last startsWith "x"`},
		{`transcript.last ends with "x"`, finding{"endsWith is one word", `write transcript.last endsWith "x"`}, `transcript.last endsWith "x"`},
		{`transcript.tools contains "Bash"`, finding{"contains looks into a text, and this is a list", `write "Bash" in transcript.tools`}, `"Bash" in transcript.tools`},
		{`state.phase in plan, go`, finding{"a list has brackets", `write in ["plan", "go"]`}, `state.phase in ["plan", "go"]`},
		{`state.n++ > 2`, finding{"an expression changes nothing", "a rule changes a field with then: [{set: state.n = state.n + 1}]"}, ""},
		{`'"a" if true else "b"'`, finding{"expressions have no if and else", "write condition ? a : b"}, ""},
		{`len([x for x in todo]) > 1`, finding{"an expression has no loop", "write any(list, …), all(list, …), count(list, …) or filter(list, …); .field is a field of the element"}, `count(todo, .done) > 1`},
		{`any(todo, t => t.done)`, finding{"a predicate has no parameter", "leave it out: .field is a field of the element, # the element itself"}, `any(todo, .done)`},

		// Methods and functions of other languages.
		{`transcript.last.contains("x")`, finding{"contains is an operator", `write transcript.last contains "x", or "x" in transcript.last for a list`}, `transcript.last contains "x"`},
		{`transcript.last.startsWith("x")`, finding{"startsWith is an operator", `write transcript.last startsWith "x"`}, `transcript.last startsWith "x"`},
		{`transcript.last.endswith("x")`, finding{"endsWith is an operator", `write transcript.last endsWith "x"`}, `transcript.last endsWith "x"`},
		{`transcript.last.match("x")`, finding{"matches is an operator", `write transcript.last matches "x"`}, `transcript.last matches "x"`},
		{`state.phase.equals("plan")`, finding{"== is an operator", `write state.phase == "plan"`}, `state.phase == "plan"`},
		{`todo.len > 2`, finding{noMethod, "write len(todo)"}, `len(todo) > 2`},
		{`todo.length() > 2`, finding{noMethod, "write len(todo)"}, `len(todo) > 2`},
		{`todo.count > 2`, finding{noMethod, "write len(todo)"}, `len(todo) > 2`},
		{`todo.isEmpty()`, finding{noMethod, "write len(todo) == 0"}, `len(todo) == 0`},
		{`transcript.last.toLowerCase() == "x"`, finding{noMethod, "write lower(transcript.last)"}, `lower(transcript.last) == "x"`},
		{`todo.all(.done)`, finding{noMethod, "write all(todo, …); .field is a field of the element"}, `all(todo, .done)`},
		{`todo.some(.done)`, finding{noMethod, "write any(todo, …); .field is a field of the element"}, `any(todo, .done)`},
		{`todo.count(.done) > 1`, finding{noMethod, "write count(todo, …)"}, `count(todo, .done) > 1`},
		{`todo.done`, finding{"this is a list, and its elements have the fields", "write any(todo, .done), all(todo, .done) or todo[0].done"}, `any(todo, .done)`},
		{`contains(transcript.last, "x")`, finding{"contains is an operator", `write transcript.last contains "x", or "x" in transcript.last for a list`}, `transcript.last contains "x"`},
		{`empty(todo)`, finding{`unknown function "empty"`, "write len(todo) == 0"}, `len(todo) == 0`},
		{`length(todo) > 1`, finding{`unknown function "length"`, "write len(todo)"}, `len(todo) > 1`},
		{`defined(todo)`, finding{`unknown function "defined"`, "write ok(todo) for a fact, todo != nil for a field"}, `ok(todo)`},
		{`file_exists("TODO.md")`, finding{`unknown function "file_exists"`, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`str(state.n) == "1"`, finding{`unknown function "str"`, `write string(state.n)`}, `string(state.n) == "1"`},

		// Fields of list elements.
		{`any(todo, not .finished)`, finding{`unknown field "finished", the declared ones are "depth", "done", "line", "section", "source", "tags", "text"`, `did you mean "done"?`}, `any(todo, not .done)`},
		{`any(todo, .title == "x")`, finding{`unknown field "title", the declared ones are "depth", "done", "line", "section", "source", "tags", "text"`, `did you mean "text"?`}, `any(todo, .text == "x")`},
		{`repo.modified`, finding{`unknown field "modified", the declared ones are "ahead", "behind", "branch", "changed", "dirty", "head", "repo"`, `did you mean "dirty"?`}, `repo.dirty`},

		// Words without quotes.
		{`state.phase == plan`, finding{`unknown name "plan"`, `if it is a text, write "plan"`}, `state.phase == "plan"`},
		{`plan != state.phase`, finding{`unknown name "plan"`, `if it is a text, write "plan"`}, `"plan" != state.phase`},
		{`state.name == todu`, finding{`unknown name "todu"`, `did you mean "todo"? if it is a text, write "todu"`}, `state.name == "todu"`},
		{`said(DONE)`, finding{`unknown name "DONE"`, `if it is a text, write said("DONE")`}, `said("DONE")`},
		{`said(ALL DONE)`, finding{quotes, `write said("ALL DONE")`}, `said("ALL DONE")`},
		{`exists(TODO.md)`, finding{quotes, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`transcript.passed(go test ./...)`, finding{quotes, `write transcript.passed("go test ./...")`}, `transcript.passed("go test ./...")`},

		// Nothing of the kind: the words stand in a text, or somewhere else.
		{`said("is not None") and and`, finding{`and is not expected here`, ""}, `said("is not None")`},
		{`transcript.last contains "x =~ /y/" or foo`, finding{`unknown name "foo"`, `the names of this file are "repo", "state", "todo"`}, `transcript.last contains "x =~ /y/"`},
	} {
		t.Run(c.written, func(t *testing.T) {
			diags := checkWhen(t, c.written)
			i := slices.IndexFunc(diags, func(d rules.Diagnostic) bool { return d.Severity == rules.Error })
			if i < 0 {
				t.Fatal("nothing is said about it")
			}
			checkStyle(t, diags)
			if diff := cmp.Diff(c.finding, finding{diags[i].Message, diags[i].Help}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := checkWhen(t, "'"+strings.ReplaceAll(c.instead, "'", "''")+"'").Err(); c.instead != "" && err != nil {
				t.Errorf("what is written instead is no better: %v", err)
			}
		})
	}
}

// checkWhen loads a policy with this when of a rule.
func checkWhen(t *testing.T, when string) rules.Diagnostics {
	t.Helper()
	const policy = `ralph: 1
facts:
  todo: {checklist: TODO.md}
  repo: {git: .}
  state: {json: state.json, schema: {properties: {phase: {enum: [plan, go], default: plan}, n: {type: integer, default: 0}, opt: {type: integer}, name: {type: string, default: ""}}}}
rules:
  - name: enough
    when: %s
    stop: enough
`
	fsys := fstest.MapFS{"p.yaml": &fstest.MapFile{Data: fmt.Appendf(nil, policy, when)}}
	_, diags := rules.Load(t.Context(), fsys, "p.yaml", rules.Config{})
	return diags
}

// A source that ralph does not have is answered with the one that it has.
func TestMeantSources(t *testing.T) {
	for written, help := range map[string]string{
		`{shell: go test ./...}`:     "write {exec: [go, test, ./...]}",
		`{command: "ls | wc"}`:       "write {exec: [program, argument]}",
		`{run: make}`:                "write {exec: [make]}",
		`{file: NOTES.md}`:           "write {text: NOTES.md}",
		`{file: state.json}`:         "write {json: state.json}",
		`{path: "notes/*.md"}`:       "write {glob: notes/*.md}",
		`{yaml: settings.md}`:        "write {frontmatter: settings.md}",
		`{todo: TODO.md}`:            "write {checklist: TODO.md}",
		`{llm: Is the work done?}`:   "write {judge: Is the work done?}",
		`{repo: here}`:               "write {git: .}",
		`{jsn: state.json}`:          `did you mean "json"?`,
		`{something: else entirely}`: "",
	} {
		src := "ralph: 1\nfacts:\n  f: " + written + "\nrules:\n  - {name: a, when: ok(f), stop: x}\n"
		_, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{})
		if len(diags) == 0 || diags[0].Check != "fact-source" || diags[0].Help != help {
			t.Errorf("%s: the help should be %q:\n%s", written, help, diags.Format())
		}
		if fixed, ok := strings.CutPrefix(help, "write "); ok && !strings.Contains(fixed, "judge") {
			src := strings.Replace(src, written, fixed, 1)
			if _, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{}); diags.Err() != nil {
				t.Errorf("%s is no better: %v", fixed, diags.Err())
			}
		}
	}
}
