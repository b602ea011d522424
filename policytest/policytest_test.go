package policytest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

const policy = `ralph: 1
params:
  once: {type: boolean, default: true}
facts:
  state:
    json: state.json
    inline: true
    schema: {required: [phase], properties: {phase: {type: string}, taskIndex: {type: integer, default: 0}, totalTasks: {type: integer, default: 0}}}
  todo: {checklist: TODO.md, default: []}
  notes: {text: ~/notes.md}
  build: {exec: [touch, ran]}
  repository: {git: .}
  verdict: {judge: "Is there more?", schema: {properties: {more: {type: boolean}}}}
  list: {tasks: claude}
progress: {done: taskIndex, total: totalTasks}
limits: {continuations: 5, repeats: 2}
rules:
  - {name: broken, when: invalid(state), stop: "the state: ${problem(state)}"}
  - {name: hint, when: env.HINT != "", note: "${env.HINT}"}
  - {name: asked, when: 'your_turn or said("WAIT")', stop: the user is asked}
  - {name: finished, when: phase == "done", done: all is done, log: "done: ${notes ?? 'no notes'}", then: [{archive: state}, {run: [touch, ran]}, {prune: {glob: "*.log", older: 24h}}]}
  - {name: built, when: build.code == 0 and not repository.dirty, stop: it is built}
  - {name: judged, when: not verdict.more, stop: nothing more}
  - {name: listed, when: 'any(list, .status == "pending")', stop: "tasks wait"}
  - {name: tools, when: '"Bash" in transcript.tools and transcript.tokens > 5 and transcript.passed_since_edit("make")', stop: it passed}
  - {name: first, when: 'len(filter(todo, not .done)) > 0 and prompt == ""', at_most: 1, continue: "Do ${bullets(map(filter(todo, not .done), .text))}"}
  - {name: next, when: 'phase == "run" and taskIndex < totalTasks and not (once and stop_hook_active)', continue: "Task ${taskIndex + 1} of ${totalTasks}", then: [{set: state.taskIndex = taskIndex + 1}]}
`

const given = `given:
  files: {state.json: {json: {phase: run, taskIndex: 1, totalTasks: 3}}}
  facts: {build: {code: 1}, repository: {}, verdict: {more: true}}
`

// run runs tests of the policy.
func run(t *testing.T, src, tests string, opts ...loop.Option) (policytest.Report, error) {
	t.Helper()
	fsys := fstest.MapFS{"p.yaml": {Data: []byte(src)}, "p_test.yaml": {Data: []byte(tests)}}
	return policytest.Run(t.Context(), fsys, "p.yaml", nil, opts...)
}

// Everything that a test can give and expect.
func TestRun(t *testing.T) {
	report, err := run(t, policy, given+`
tests:
  - name: continues with the next task, and counts it
    expect:
      outcome: continued
      rule: next
      reason: Task 2 of 3
      notice: ""
      effects: [{set: state.taskIndex = 2}]
      files: {state.json: {json: {phase: run, taskIndex: 2, totalTasks: 3}}, TODO.md: {absent: true}}
  - name: merges what all tests share
    given: {files: {state.json: {json: {totalTasks: 9}}}}
    expect: {reason: [Task 2, of 9]}
  - name: reads values like files
    given: {facts: {state: {phase: run, totalTasks: "4"}}}
    expect: {outcome: failed, rule: next, reason: [set state, no file to change], effects: [{set: state.taskIndex = 1}]}
  - name: stops at a value that breaks the schema
    given: {facts: {state: {taskIndex: 1}}}
    expect: {outcome: stopped, rule: broken, reason: [phase]}
  - name: ends, and only shows what would run
    given: {files: {state.json: {json: {phase: done}}, ~/notes.md: well}}
    expect:
      outcome: done
      log: "done: well"
      effects: [{archive: state}, {run: [touch, ran]}, {prune: {glob: "*.log", older: 24h}}]
      files: {state.json: {absent: true}, ran: {absent: true}, .ralph/local/archive/2026-01-01T12-00-00Z/state.json: {absent: true}}
  - name: takes programs and models from facts
    given: {facts: {build: {code: 0}, repository: {branch: x}}}
    expect: {rule: built}
  - name: knows that a repository is dirty, and what the model says
    given: {facts: {build: {code: 0}, repository: {dirty: true}, verdict: {more: false}}}
    expect: {rule: judged}
  - name: takes a reason why a program cannot be started
    given: {invalid: {build: it took longer than 10s}}
    expect: {outcome: failed, rule: built, reason: [it took longer than 10s], notice: [it took longer than 10s]}
  - name: sees a model without a key as missing
    given: {facts: {verdict: null}}
    expect: {rule: next}
  - name: sees the host's tasks
    given: {tasks: [{status: pending}]}
    expect: {rule: listed}
  - name: hears the agent, and sees its tools
    given:
      transcript:
        - {role: user, text: go}
        - {role: assistant, text: "WAIT here", tokens: 9, tools: [{name: Bash, command: make}]}
    expect: {rule: tools}
  - name: sees a question of the last tool
    given: {transcript: [{role: assistant, tools: [AskUserQuestion]}]}
    expect: {rule: asked}
  - name: hears the last message
    given: {event: {last_assistant_message: WAIT}}
    expect: {outcome: stopped, rule: asked}
  - name: has a note beside a prompt
    given: {event: {hook_event_name: UserPromptSubmit, prompt: hello}, env: {HINT: mind the gap}}
    expect: {note: mind the gap, outcome: idle}
  - name: does not decide a turn that failed
    given: {event: {failed: rate limit}}
    expect: {outcome: failed, reason: [rate limit], effects: []}
  - name: is switched off by a file
    given: {files: {.ralph/off: ""}}
    expect: {outcome: "off"}
  - name: has a limit
    given: {params: {once: false}, memory: {continuations: 5, repeats: 1, elapsed: 1h, total: 7}}
    expect: {outcome: limit, rule: limits.continuations}
  - name: repeats at the progress that there is
    given: {params: {once: false}, memory: {continuations: 2, repeats: 2}}
    expect: {rule: limits.repeats}
  - name: has applied a rule
    given: {memory: {applied: {first: 1}}, files: {TODO.md: "- [ ] a"}}
    expect: {rule: next}
  - name: decides one turn after the other
    given: {files: {TODO.md: "- [ ] a\n"}}
    turns:
      - expect: {rule: first, reason: "Do - a"}
      - expect: {rule: "", outcome: idle}
      - given: {event: {stop_hook_active: false}, files: {TODO.md: {absent: true}}}
        expect: {rule: next, files: {state.json: ['"taskIndex": 2', '"totalTasks"']}}
      - given: {now: 2026-01-02T12:00:00Z, event: {stop_hook_active: false}, files: {TODO.md: {text: "- [x] a", age: 3h}}}
        expect: {rule: next, reason: Task 3 of 3}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s", r.Name, f)
		}
	}
	if !report.Passed() || len(report.Results) != 20 {
		t.Errorf("%d results", len(report.Results))
	}
	if diff := cmp.Diff([]string(nil), report.Untested()); diff != "" {
		t.Error(diff)
	}
}

// No program, model or git runs for a fact that a test does not give.
func TestHermetic(t *testing.T) {
	report, err := run(t, `ralph: 1
facts: {build: {exec: [touch, ran]}, repository: {git: .}, verdict: {judge: "more?", command: [touch, ran]}}
rules:
  - {name: build, when: invalid(build), notice: "${problem(build)}"}
  - {name: repository, when: missing(repository), notice: "${problem(repository)}"}
  - {name: verdict, when: invalid(verdict), notice: "${problem(verdict)}"}
`, "tests: [{name: n, expect: {notice: ['as build: value', 'no git repository', 'as verdict: value'], files: {ran: {absent: true}}}}]")
	if err != nil || !report.Passed() {
		t.Errorf("%v, %+v", err, report)
	}
}

// A failure shows the place of the expectation, and what there was.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ expect, want string }{
		{"outcome: done", `p_test.yaml:6:23: outcome: want "done", got "continued"` + "\n  reason: Task 2 of 3\n  broken is false\n    invalid(state) is false"},
		{"rule: asked", `p_test.yaml:6:20: rule: want "asked", got "next"`},
		{"reason: Task 2", `p_test.yaml:6:22: reason (-want +got; in brackets it need only occur in the text)`},
		{"reason: [Task 2, Task 4]", `p_test.yaml:6:31: reason: "Task 4" does not occur in it:` + "\nTask 2 of 3"},
		{"log: some", `p_test.yaml:6:19: log (-want +got)` + "\n- some\n+ \n"},
		{"effects: [{set: state.taskIndex = 5}]", `p_test.yaml:6:23: effects (-want +got)` + "\n- set: state.taskIndex = 5\n+ set: state.taskIndex = 2\n"},
		{"files: {state.json: {absent: true}}", `p_test.yaml:6:34: file state.json: want none, got` + "\n{"},
		{"files: {state.json: {json: {phase: run}}}", `p_test.yaml:6:34: file state.json (-want +got)`},
		{"files: {none: text}", `p_test.yaml:6:28: file none: there is none`},
		{"files: {state.json: [phaze]}", `p_test.yaml:6:35: file state.json: "phaze" does not occur in it`},
	} {
		report, err := run(t, policy, given+"tests:\n  - name: n\n    expect: {"+c.expect+"}\n")
		if err != nil || len(report.Results) != 1 || len(report.Results[0].Failures) != 1 {
			t.Errorf("%s: %v, %+v", c.expect, err, report)
			continue
		}
		if got := report.Results[0].Failures[0].String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: it says\n%s\nwant\n%s", c.expect, got, c.want)
		}
	}
}

// What a test file may not have is a finding at its place.
func TestFindings(t *testing.T) {
	const ok = "expect: {rule: next}"
	for _, c := range []struct{ test, want string }{
		{"given: {fils: {}}, " + ok, `1:27: there is no key "fils" here [test]: did you mean "files"?`},
		{"expect: {reson: x}", `1:28: there is no key "reson" here [test]: did you mean "reason"?`},
		{"expect: {rule: nxt}", `1:34: there is no rule "nxt" [test]: did you mean "next"?`},
		{"expect: {outcome: continue}", `1:37: there is no outcome "continue" [test]: did you mean "continued"?`},
		{"expect: {}", `1:9: nothing is expected`},
		{"given: {}", `1:9: nothing is expected`},
		{"expect: {rule: null}", `1:28: rule is empty`},
		{"expect: {reason: []}", `1:36: an empty list holds for every text`},
		{"expect: {reason: {a: b}}", `1:36: a text is expected whole, or as a list`},
		{"given: {facts: {stat: {}}}, " + ok, `1:35: there is no fact "stat" [test]: did you mean "state"?`},
		{"given: {invalid: {state: x}}, " + ok, `1:37: there is no fact of exec, git or judge "state"`},
		{"given: {params: {onze: 1}}, " + ok, `1:36: there is no param "onze" [test]: did you mean "once"?`},
		{"given: {event: {sesion_id: 1}}, " + ok, `1:35: there is no key "sesion_id" here [test]: did you mean "session_id"?`},
		{"given: {event: {stop_hook_active: 3}}, " + ok, "cannot unmarshal !!int `3` into bool"},
		{"given: {memory: {applied: {nxt: 1}}}, " + ok, `1:46: there is no rule "nxt"`},
		{"given: {memory: {elapsed: long}}, " + ok, "cannot unmarshal !!str `long` into time.Duration"},
		{"given: {files: {a: {json: 1, text: b}}}, " + ok, `a file has one of text, json and absent`},
		{"given: {transcript: [{rol: x}]}, " + ok, `1:41: there is no key "rol" here [test]: did you mean "role"?`},
		{"given: {transcript: [{role: x}]}, " + ok, `1:47: there is no role "x"`},
		{"given: &x {files: {}}, " + ok + "}, {name: m, given: *x, expect: {rule: next}", `an alias is not read`},
		{ok + "}, {name: n, " + ok, `a test needs a name of its own, and this one has "n"`},
		{"turns: [{" + ok + "}], " + ok, `a test has expect, or a list of turns`},
		{"turns: [{" + ok + "}, {given: {memory: {total: 1}}, " + ok + "}]", `memory and params are those of the whole test`},
		{ok + ", expect: {rule: next}", "mapping key \"expect\" already defined"},
	} {
		_, err := run(t, policy, "tests: [{name: n, "+c.test+"}]")
		var found rules.Findings
		if !errors.As(err, &found) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: it says\n%v\nwant\n%s", c.test, err, c.want)
		}
	}
	for _, src := range []string{"", "tests: []", "tests: {", "- a", "tests: 5", "tests: [~]", "tests: [{name: n, turns: [~]}]", "tests: [{name: n, expect: {effects: 5}}]"} {
		if _, err := run(t, policy, src); err == nil {
			t.Errorf("%q is a test file", src)
		}
	}
}

// No test file crashes its reader, or changes a file outside of its project.
func FuzzRun(f *testing.F) {
	f.Add(given + "tests: [{name: n, given: {transcript: [{role: user, tools: [Bash]}]}, expect: {rule: next, effects: [{prune: {glob: x}}]}}]")
	f.Add("tests: [{name: n, given: &a {files: {../x: y}}, turns: [{given: *a, expect: {files: {a: [b]}}}]}]")
	f.Add("tests: {? [a]: b}")
	f.Fuzz(func(t *testing.T, tests string) { _, _ = run(t, policy, tests) })
}

// The functions, sources and values of a program are those of its tests.
func TestProgram(t *testing.T) {
	const own = `ralph: 1
facts: {ticket: {ticket: T-1}, mine: {value: mine}}
rules:
  - {name: twice, when: twice(mine.n) == limit and ticket.open, continue: go, then: [{page: ops}]}
`
	report, err := run(t, own, `tests:
  - {name: calls the program, given: {facts: {mine: {n: 2}, limit: 4}}, expect: {rule: twice, effects: [{page: ops}]}}
  - {name: takes its values from the test, given: {facts: {mine: {n: 2}, limit: 4, ticket: {open: false}}}, expect: {outcome: idle}}
  - {name: misses a value, expect: {outcome: failed}}
`,
		loop.WithFunction("twice", func(n int) int { return 2 * n }),
		loop.WithValues(map[string]any{"limit": nil, "mine": map[string]any{}}),
		loop.WithSource("ticket", func(context.Context, loop.Event, rules.Query) (any, error) { return map[string]any{"open": true}, nil }),
		loop.WithEffect("page", func(context.Context, loop.Event, string) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range report.Results {
		for _, f := range r.Failures {
			got = append(got, r.Name+": "+f.Message)
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "misses a value: ") {
		t.Errorf("failures: %q", got)
	}
}

func TestTest(t *testing.T) { policytest.Test(t, "testdata") }

func ExampleRun() {
	fsys := fstest.MapFS{
		"stop.yaml":      {Data: []byte("ralph: 1\nfacts: {todo: {checklist: TODO.md}}\nrules:\n  - {name: open, when: 'any(todo, not .done)', continue: go on}\n  - {name: ticked, when: 'all(todo, .done)', done: all is done}\n")},
		"stop_test.yaml": {Data: []byte("tests:\n  - name: goes on\n    given: {files: {TODO.md: '- [ ] wash'}}\n    expect: {rule: open, reason: go}\n")},
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, err := policytest.Run(ctx, fsys, "stop.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		for _, f := range r.Failures {
			place, _, _ := strings.Cut(f.String(), "\n")
			fmt.Printf("%s: %s\n", r.Name, place)
		}
	}
	fmt.Println("not tested:", report.Untested())
	// Output:
	// goes on: stop_test.yaml:4:34: reason (-want +got; in brackets it need only occur in the text)
	// not tested: [ticked]
}
