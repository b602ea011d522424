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
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	type finding struct{ Said, Help string }
	const noIs, noMatch, noShell, noMethod = `expressions have no operator "is"`, `expressions have no operator "=~"`, "a condition is not a shell test", "values have no methods"
	oneFact := func(ask string) string {
		return ask + " takes the name of one fact: " + ask + `(FACT); the facts are "repo", "state", "todo"`
	}
	const quotes, span = "a string needs quotes", "a duration is written as duration(…)"
	for _, c := range []struct {
		written string
		finding
		instead string // that loads
	}{
		// A shell.
		{`[[ -f TODO.md ]]`, finding{noShell, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`test -f TODO.md`, finding{noShell, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`[ -e "TODO.md" ]`, finding{noShell, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`'[ -d docs ] && said("x")'`, finding{noShell, `write isdir("docs")`}, `isdir("docs") && said("x")`},
		{`'[ -z "$session_id" ]'`, finding{noShell, `write session_id == ""`}, `session_id == ""`},
		{`'[ -n "$session_id" ]'`, finding{noShell, `write session_id != ""`}, `session_id != ""`},
		{`$(git status --porcelain) != ""`, finding{"an expression cannot run a program", "declare a fact such as repo: {git: .} and read repo.dirty, repo.changed or repo.branch"}, ""},
		{`$(go vet ./...)`, finding{"an expression cannot run a program", "declare a fact such as check: {exec: [go, vet, ./...]} and read check.stdout or check.code"}, ""},
		{`$(ls | wc -l) > 3`, finding{"an expression cannot run a program", "declare a fact such as check: {exec: [program, argument]} and read check.stdout or check.code"}, ""},
		{`${state.n} > 3`, finding{"${…} is for texts; an expression names a value without it", "write state.n"}, `state.n > 3`},
		{`$HOME == "x"`, finding{"an expression has no $", "write HOME for a name of the policy, env.HOME for a variable of the environment"}, `env.HOME == "x"`},
		{`if said("x")`, finding{"a condition has no if", "write only the condition"}, `said("x")`},
		{`unless said("x")`, finding{"a condition has no unless", "write not (…)"}, `not (said("x"))`},

		// Numbers and durations.
		{`loop.elapsed > 45m`, finding{span, `write duration("45m")`}, `loop.elapsed > duration("45m")`},
		{`loop.elapsed > 1h30m`, finding{span, `write duration("1h30m")`}, `loop.elapsed > duration("1h30m")`},
		{`age(todo) > 10 minutes`, finding{span, `write duration("10m")`}, `age(todo) > duration("10m")`},
		{`age(todo) > 2 days`, finding{span, `write duration("48h")`}, `age(todo) > duration("48h")`},
		{`transcript.tokens > 200k`, finding{"a number has no unit", `write 200000`}, `transcript.tokens > 200000`},
		{`transcript.tokens > 1.5M`, finding{"a number has no unit", `write 1500000`}, `transcript.tokens > 1500000`},
		{`loop.elapsed / duration("1h") > 3`, finding{"a duration cannot be divided", "divide the minutes: loop.elapsed.Minutes() / 60"}, `loop.elapsed.Minutes() / 60 > 3`},
		{`loop.elapsed / 2 > 3`, finding{"a duration cannot be divided", "loop.elapsed.Minutes() and loop.elapsed.Seconds() are numbers"}, `loop.elapsed.Minutes() / 2 > 3`},

		{`loop.elapsed > duration(45)`, finding{"duration takes a string here; got a number", `write duration("45m") for minutes, duration("45s") for seconds`}, `loop.elapsed > duration("45m")`},
		{`loop.elapsed > minutes(45)`, finding{span, `write duration("45m")`}, `loop.elapsed > duration("45m")`},
		{`loop.elapsed.minutes > 45`, finding{`a duration has no field "minutes"`, "write loop.elapsed.Minutes()"}, `loop.elapsed.Minutes() > 45`},
		{`loop.elapsed.Minutes > 45`, finding{`">" does not go between a function and a number`, "write loop.elapsed.Minutes()"}, `loop.elapsed.Minutes() > 45`},
		{`loop.elapsed % duration("5m") == duration("0s")`, finding{`"%" does not go between a duration and a duration`, "….Minutes() and ….Seconds() of a duration are numbers"}, `int(loop.elapsed.Minutes()) % 5 == 0`},
		{`now() + 5 > date("2026-01-01")`, finding{`"+" does not go between a time and a number`, `add a duration: duration("5m")`}, `now() + duration("5m") > date("2026-01-01")`},
		{`loop.elapsed in 1..3`, finding{"a duration is never in an array of a number", ""}, `loop.elapsed.Minutes() in 1..3`},
		{`transcript.tokens > 200,000`, finding{"a number has no commas", "write 200000"}, `transcript.tokens > 200000`},

		// Operators.
		{`not state.phase == "plan"`, finding{"not takes only the value right after it", "put parentheses around the comparison: not (state.phase …)"}, `not (state.phase == "plan")`},
		{`state.n == 1 | state.n == 2`, finding{"| is not an operator here", "write or"}, `state.n == 1 or state.n == 2`},
		{`state.phase == "plan" or "go"`, finding{"a condition must be true or false; got a string", `write state.phase in ["plan", "go"]`}, `state.phase in ["plan", "go"]`},
		{`state.phase in [plan, go]`, finding{`unknown name "plan"`, `if it is a string, write "plan"`}, `state.phase in ["plan", "go"]`},
		{`state.phase in ("plan", "go")`, finding{"a list needs brackets", `write in ["plan", "go"]`}, `state.phase in ["plan", "go"]`},
		{`'"x" in state.name'`, finding{`"in" does not go between a string and a string`, `write state.name contains "x"`}, `state.name contains "x"`},
		{`repo.changed > 0`, finding{`">" does not go between an array and a number`, "write len(repo.changed) > 0"}, `len(repo.changed) > 0`},
		{`len(state.n) > 3`, finding{"len does not take a number", "leave len out: a number is compared as it is"}, `state.n > 3`},
		{`repo == 1`, finding{`"==" does not go between an object and a number`, "name one of its fields: repo.FIELD"}, `repo.ahead == 1`},
		{`any(todo, .done == "true")`, finding{`"==" does not go between true or false and a string`, "write == true, without quotes"}, `any(todo, .done == true)`},
		{`state.name and true`, finding{"a condition must be true or false; got a string", `compare it with something, such as state.name != ""`}, `state.name != "" and true`},
		{`state.n + 1`, finding{"a condition must be true or false; got a number", `compare it with something, such as (state.n + 1) > 0`}, `(state.n + 1) > 0`},
		{`any(todo, .text && .section)`, finding{`"&&" does not go between a string and a string`, "each side is a condition; compare it with something"}, `any(todo, .text != "" && .section != "")`},
		{`state.name matches "*.md"`, finding{"this is not a regular expression: missing argument to repetition operator: `*`", "write .* for any text; * only repeats what is before it"}, `state.name matches ".*[.]md"`},
		{`transcript.last =~ /\d+/`, finding{noMatch, "write transcript.last matches `\\d+`"}, "transcript.last matches `\\d+`"},
		{`transcript.last =~ "x"`, finding{noMatch, `write transcript.last matches "x"`}, `transcript.last matches "x"`},
		{`transcript.last !~ /x/`, finding{noMatch, "write not (transcript.last matches `x`)"}, "not (transcript.last matches `x`)"},
		{`transcript.last matches /x/`, finding{"a pattern is a string", "write matches `x`"}, "transcript.last matches `x`"},
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
		{`transcript.tools contains "Bash"`, finding{"contains looks into a string, and this is an array", `write "Bash" in transcript.tools`}, `"Bash" in transcript.tools`},
		{`state.phase in plan, go`, finding{"a list needs brackets", `write in ["plan", "go"]`}, `state.phase in ["plan", "go"]`},
		{`state.n++ > 2`, finding{"an expression changes nothing", "a rule changes a field with then: [{set: state.n = state.n + 1}]"}, ""},
		{`'"a" if true else "b"'`, finding{"expressions have no if and else", "write condition ? a : b"}, ""},
		{`len([x for x in todo]) > 1`, finding{"an expression has no loop", "write any(list, …), all(list, …), count(list, …) or filter(list, …); .field is a field of the element"}, `count(todo, .done) > 1`},
		{`'any(todo, lambda t: t.done)'`, finding{"a predicate has no parameter", "leave it out: .field is a field of the element, # the element itself"}, `any(todo, .done)`},
		{`any(todo, t => t.done)`, finding{"a predicate has no parameter", "leave it out: .field is a field of the element, # the element itself"}, `any(todo, .done)`},

		// Methods and functions of other languages.
		{`transcript.last.contains("x")`, finding{"contains is an operator", `write transcript.last contains "x", or "x" in transcript.last for a list`}, `transcript.last contains "x"`},
		{`transcript.last.startsWith("x")`, finding{"startsWith is an operator", `write transcript.last startsWith "x"`}, `transcript.last startsWith "x"`},
		{`transcript.last.endswith("x")`, finding{"endsWith is an operator", `write transcript.last endsWith "x"`}, `transcript.last endsWith "x"`},
		{`transcript.last.match("x")`, finding{"matches is an operator", `write transcript.last matches "x"`}, `transcript.last matches "x"`},
		{`state.phase.equals("plan")`, finding{"== is an operator", `write state.phase == "plan"`}, `state.phase == "plan"`},
		{`state.name.match(/x/)`, finding{"matches is an operator", "write state.name matches `x`"}, "state.name matches `x`"},
		{`state.name.trim() == ""`, finding{noMethod, "write trim(state.name)"}, `trim(state.name) == ""`},
		{`todo.first().done`, finding{noMethod, "write first(todo)"}, `first(todo).done`},
		{`todo.last.done`, finding{noMethod, "write last(todo)"}, `last(todo).done`},
		{`file("NOTES.md") == ""`, finding{"an expression reads no file", "declare a fact such as notes: {text: NOTES.md}"}, ""},
		{`shell("go vet") == 0`, finding{"an expression cannot run a program", "declare a fact such as check: {exec: [go, vet]} and read check.stdout or check.code"}, ""},
		{`todo.len > 2`, finding{noMethod, "write len(todo)"}, `len(todo) > 2`},
		{`todo.length() > 2`, finding{noMethod, "write len(todo)"}, `len(todo) > 2`},
		{`todo.count > 2`, finding{noMethod, "write len(todo)"}, `len(todo) > 2`},
		{`todo.isEmpty()`, finding{noMethod, "write len(todo) == 0"}, `len(todo) == 0`},
		{`transcript.last.toLowerCase() == "x"`, finding{noMethod, "write lower(transcript.last)"}, `lower(transcript.last) == "x"`},
		{`todo.all(.done)`, finding{noMethod, "write all(todo, …); .field is a field of the element"}, `all(todo, .done)`},
		{`todo.some(.done)`, finding{noMethod, "write any(todo, …); .field is a field of the element"}, `any(todo, .done)`},
		{`todo.count(.done) > 1`, finding{noMethod, "write count(todo, …)"}, `count(todo, .done) > 1`},
		{`todo.done`, finding{"this is a list: its elements have the fields", "write any(todo, .done), all(todo, .done) or todo[0].done"}, `any(todo, .done)`},
		{`contains(transcript.last, "x")`, finding{"contains is an operator", `write transcript.last contains "x", or "x" in transcript.last for a list`}, `transcript.last contains "x"`},
		{`empty(todo)`, finding{`unknown function "empty"`, "write len(todo) == 0"}, `len(todo) == 0`},
		{`length(todo) > 1`, finding{`unknown function "length"`, "write len(todo)"}, `len(todo) > 1`},
		{`defined(todo)`, finding{`unknown function "defined"`, "write ok(todo) for a fact, todo != nil for a field"}, `ok(todo)`},
		{`file_exists("TODO.md")`, finding{`unknown function "file_exists"`, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`str(state.n) == "1"`, finding{`unknown function "str"`, `write string(state.n)`}, `string(state.n) == "1"`},

		// Fields of list elements.
		{`any(todo, not .finished)`, finding{`unknown field "finished"; the declared fields are "depth", "done", "line", "section", "source", "tags", "text"`, `did you mean "done"?`}, `any(todo, not .done)`},
		{`any(todo, .title == "x")`, finding{`unknown field "title"; the declared fields are "depth", "done", "line", "section", "source", "tags", "text"`, `did you mean "text"?`}, `any(todo, .text == "x")`},
		{`repo.modified`, finding{`unknown field "modified"; the declared fields are "ahead", "behind", "branch", "changed", "dirty", "head", "repo"`, `did you mean "dirty"?`}, `repo.dirty`},

		{`any(todo, not item.done)`, finding{`unknown name "item"`, "write .done for the field of each element"}, `any(todo, not .done)`},
		{`todo?.done`, finding{"this is a list: its elements have the fields", "write any(todo, .done), all(todo, .done) or todo[0].done"}, `any(todo, .done)`},

		// Names of ralph.
		{`loop.iterations > 3`, finding{`loop has no "iterations"; it has "continuations", "elapsed", "name", "repeats", "step", "total"`, "write loop.continuations for this streak, loop.total for the session"}, `loop.continuations > 3`},
		{`transcript.message == ""`, finding{`transcript has no "message"; it has "failed", "last", "passed", "passed_since_edit", "prompt", "tasks", "texts", "tokens", "tools", "total_tokens", "turns"`, "write transcript.last, transcript.texts or mentions(…)"}, `transcript.last == ""`},
		{`elapsed / duration("5m") > 3`, finding{`unknown name "elapsed"`, "did you mean loop.elapsed or run.elapsed or session.elapsed?"}, `loop.elapsed.Minutes() / 5 > 3`},
		{`continuations > 3`, finding{`unknown name "continuations"`, "did you mean loop.continuations?"}, `loop.continuations > 3`},
		{`last_message contains "x"`, finding{`unknown name "last_message"`, "write transcript.last for the agent's last message"}, `transcript.last contains "x"`},
		{`limits.repeats > 3`, finding{`unknown name "limits"`, "ralph tests the limits by itself; loop.continuations, loop.repeats and loop.elapsed report how far the loop is"}, ""},
		{`missing("todo")`, finding{oneFact("missing"), "write missing(todo)"}, `missing(todo)`},
		{`missing(TODO.md)`, finding{oneFact("missing"), `write not exists("TODO.md"), or declare a fact with that path`}, `not exists("TODO.md")`},
		{`missing("notes/TODO.md")`, finding{oneFact("missing"), `write not exists("notes/TODO.md"), or declare a fact with that path`}, `not exists("notes/TODO.md")`},
		{`ok("TODO.md")`, finding{oneFact("ok"), `write exists("TODO.md"), or declare a fact with that path`}, `exists("TODO.md")`},
		{`missing(state.opt)`, finding{oneFact("missing"), "write state.opt == nil for a field that may be missing"}, `state.opt == nil`},
		{`ok(state.opt)`, finding{oneFact("ok"), "write state.opt != nil for a field that may be missing"}, `state.opt != nil`},

		// Words without quotes.
		{`state.phase == todo`, finding{`"==" does not go between a string and an array`, `if it is a string, write "todo"`}, ""},
		{`state.phase == plan`, finding{`unknown name "plan"`, `if it is a string, write "plan"`}, `state.phase == "plan"`},
		{`plan != state.phase`, finding{`unknown name "plan"`, `if it is a string, write "plan"`}, `"plan" != state.phase`},
		{`state.name == todu`, finding{`unknown name "todu"`, `did you mean "todo"? if it is a string, write "todu"`}, `state.name == "todu"`},
		{`said(DONE)`, finding{`unknown name "DONE"`, `if it is a string, write said("DONE")`}, `said("DONE")`},
		{`said(ALL DONE)`, finding{quotes, `write said("ALL DONE")`}, `said("ALL DONE")`},
		{`exists(TODO.md)`, finding{quotes, `write exists("TODO.md")`}, `exists("TODO.md")`},
		{`transcript.passed(go test ./...)`, finding{quotes, `write transcript.passed("go test ./...")`}, `transcript.passed("go test ./...")`},

		// Not such a mistake: the words are in a string, or somewhere else.
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

// What users of other tools write for an effect or a number, and what they write instead.
func TestMeantEffects(t *testing.T) {
	for written, help := range map[string]string{
		"set: state.n += 2":               "write state.n = state.n + 2",
		"set: state.n++":                  "write state.n = state.n + 1",
		"set: state.n := 1":               "write state.n = 1",
		"set: state.n == 1":               "one = assigns, == compares: write fact.field = expression",
		"set: {state.n: 1}":               "write set: state.n = 1",
		"remember: rounds -= 1":           "write rounds = rounds - 1",
		"remember: {rounds: 1}":           "write remember: rounds = 1",
		"shell: notify-send done":         "write {run: [notify-send, done]}",
		"exec: [make, test]":              "write {run: [make, test]}",
		"run: make test":                  "write [make, test]",
		"log: one more":                   "write log: in the rule, beside then:",
		"notify: it is done":              "write notice: in the rule, beside then:, to show the user a string",
		"create: state":                   "write set: fact.field = expression; it makes the file of a fact that has a default",
		"prune: {glob: a, older: 2 days}": "write 48h",
	} {
		src := `ralph: 1
facts: {state: {json: s.json, schema: {properties: {n: {type: integer, default: 0}}}}}
memory: {rounds: {type: integer, default: 0}}
rules:
  - name: a
    when: state.n == rounds
    stop: x
    then:
      - ` + written + "\n"
		_, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{})
		if len(diags) == 0 || diags[0].Severity != rules.Error || diags[0].Help != help {
			t.Errorf("%s: the help should be %q:\n%s", written, help, diags.Format())
		}
	}
	for written, help := range map[string]string{
		"tokens: 2M":          "write 2000000",
		"cost: 5usd":          "write 5",
		"cost: $2.50":         "write 2.50",
		`continuations: "20"`: "write 20",
		"elapsed: 45 min":     "write 45m",
		"elapsed: 90":         "write a number with its unit: 500ms, 30s, 5m, 24h",
		"max: 3":              `did you mean "continuations"?`,
	} {
		src := "ralph: 1\nlimits: {" + written + "}\nrules:\n  - {name: a, when: said(\"x\"), stop: x}\n"
		_, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{})
		if len(diags) == 0 || diags[0].Help != help {
			t.Errorf("%s: the help should be %q:\n%s", written, help, diags.Format())
		}
	}
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
		`{llm: "Is the work done?"}`: `write {judge: "Is the work done?"}`,
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
