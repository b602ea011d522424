package policytest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// suite loads tests of a policy, both from text.
func suite(t testing.TB, policy, tests string) *policytest.Suite {
	t.Helper()
	fsys := fstest.MapFS{"p.yaml": {Data: []byte(policy)}, "p_test.yaml": {Data: []byte(tests)}}
	s, findings := policytest.Load(t.Context(), fsys, "p_test.yaml", loop.Config())
	if s == nil {
		t.Fatal(findings.Format())
	}
	return s
}

// failures lists what failed, one line each.
func failures(results []policytest.Result) []string {
	var out []string
	for _, r := range results {
		for _, f := range r.Failures {
			out = append(out, fmt.Sprintf("%s: %s: want %q, got %q", r.Name, f.What, f.Want, f.Got))
		}
	}
	return out
}

const counter = `ralph: 1
facts:
  state:
    json: state.json
    schema: {properties: {n: {type: integer, default: 0}, who: {type: string, default: nobody}}}
  other: {text: "other/${state.who}.txt"}
limits: {repeats: 2}
progress: state.n
rules:
  - name: broken
    when: invalid(state)
    stop: ${problem(state)}
    notice: the state is broken
  - name: go
    when: ok(state) and state.n < 3
    continue: ${state.n} of 3 for ${state.who}
    notice: at ${state.n}
    log: going on
    then:
      - set: state.n = state.n + 1
  - name: other
    when: ok(other)
    stop: ${other}
`

// Each expectation that is not met is a separate failure, at its place.
func TestFailures(t *testing.T) {
	s := suite(t, counter, `
given: {facts: {state: {n: 1}}}
tests:
  - name: all wrong
    expect:
      stop: x
      rule: other
      reason: [of 3, 2 of 3]
      notice: ""
      note: some
      log: /^no/
      effects: []
      finally: [prune: x]
      read: [other]
      unread: [state]
      files: {state.json: x}
  - name: all right
    expect:
      continue: 1 of 3 for nobody
      rule: go
      notice: at 1
      note: ""
      log: "[ralph] going on"
      effects: [set: state.n = 2]
      finally: []
      read: [state]
      unread: [other]
`)
	want := []string{
		`all wrong: verdict: want "stop", got "continue by rule go"`,
		`all wrong: rule: want "rule other", got "continue by rule go"`,
		`all wrong: reason: want "2 of 3", got "1 of 3 for nobody"`,
		`all wrong: notice: want "nothing", got "at 1"`,
		`all wrong: note: want "some", got "nothing"`,
		`all wrong: log: want "/^no/", got "[ralph] going on"`,
		`all wrong: effects: want "nothing", got "set state.n = 2"`,
		`all wrong: finally: want "prune x", got "nothing"`,
		`all wrong: read: want "other is read", got "it is left unread"`,
		`all wrong: unread: want "state is left unread", got "it is read"`,
		`all wrong: files: want "", got "no file can change: the fact whose file the rule changes is set under facts; set it under files"`,
	}
	if diff := cmp.Diff(want, failures(s.Run(t.Context(), nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Files are read and changed for real, and a file that changes must be named.
func TestFiles(t *testing.T) {
	s := suite(t, counter, `
given: {files: {state.json: "{\"n\": 1}\n", keep.txt: mine}}
tests:
  - name: whole
    expect: {files: {state.json: "{\"n\": 2}\n"}}
  - name: in part
    expect: {files: {state.json: ['"n": 2', '/^\{.*\}$/']}}
  - name: unnamed
    expect: {files: {}}
  - name: gone
    expect: {files: {state.json: null, keep.txt: [mine]}}
  - name: half a file
    given: {files: {state.json: '{"n": '}}
    expect: {rule: broken, files: {}}
`)
	want := []string{
		"unnamed: file state.json: want \"it stays as it is\", got \"{\\\"n\\\": 2}\\n\"",
		"gone: file state.json: want \"no such file\", got \"{\\\"n\\\": 2}\\n\"",
	}
	if diff := cmp.Diff(want, failures(s.Run(t.Context(), nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A test depends only on what it sets up: it sees no programs, environment, clock or
// models of this machine.
func TestHermetic(t *testing.T) {
	t.Setenv("RALPH_OFF", "1")
	t.Setenv("RALPH_TEST_SECRET", "here")
	s := suite(t, `ralph: 1
facts:
  run: {exec: [sh, -c, "exit 0"]}
  repo: {git: .}
  list: {tasks: claude}
rules:
  - name: world
    when: ok(run) or ok(repo) or ok(list) or env.RALPH_TEST_SECRET != "" or which("sh") != "" or env.HOME != ""
    stop: the world shows
  - name: clock
    when: now().Format("2006-01-02 15:04") != "2026-01-01 12:00"
    stop: the clock runs
`, `
tests:
  - name: nothing is there
    expect: {rule: "", stop: true}
  - name: what is given is there
    given: {facts: {run: {code: 1, lines: [a, b]}, repo: {changed: [x]}, list: []}, env: {RALPH_TEST_SECRET: x}, which: [sh]}
    expect: {rule: world}
`)
	if got := failures(s.Run(t.Context(), nil)); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
}

// Every way in which a rule reads the world is closed in a test: the home directory, the
// host's own files, the environment, programs, repositories, the clock, the directory
// that ralph runs in. What the test sets up is there to read.
func TestNothingButWhatIsGiven(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"note.txt": "real", ".claude/projects/p/mine.jsonl": `{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"text","text":"real"}]}}` + "\n",
		".claude/tasks/mine/1.json": `{"id":"1","subject":"real","status":"pending"}`, "here/note.txt": "real", "here/.git/HEAD": "ref: refs/heads/real\n",
	} {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(home, "here"))
	for name, v := range map[string]string{"HOME": home, "USERPROFILE": home, "CLAUDE_CONFIG_DIR": filepath.Join(home, ".claude"), "REAL": "real", "CLAUDE_PROJECT_DIR": home} {
		t.Setenv(name, v)
	}
	session := filepath.ToSlash(filepath.Join(home, ".claude", "projects", "p", "mine.jsonl"))
	for _, c := range []struct{ name, when, given, without string }{
		{"text", `note == "given"`, `{files: {"~/note.txt": given}}`, "{}"},
		{"glob", `len(notes) == 1 and notes[0].value == "given"`, `{files: {"~/note.txt": given}}`, "{}"},
		{"junit", `report.tests == 1 and age(report) == duration("2m")`, `{files: {"~/report.xml": {text: "<testsuite><testcase/></testsuite>", age: 2m}}}`, "{}"},
		{"exists", `exists("~/note.txt")`, `{files: {"~/note.txt": given}}`, "{}"},
		{"exists in the folder of the process", `exists("note.txt") or ok(local)`, `{files: {note.txt: given}}`, "{cwd: " + filepath.ToSlash(home) + "/here}"},
		{"isdir", `isdir("~/.claude")`, `{files: {"~/.claude/": ""}}`, "{}"},
		{"anyfile", `anyfile("~/*.txt")`, `{files: {"~/note.txt": given}}`, "{}"},
		{"which", `which("sh") != ""`, `{which: [sh]}`, "{}"},
		{"env", `env.REAL != "" or env.HOME != "" or env.CLAUDE_CONFIG_DIR != ""`, `{env: {HOME: given}}`, "{}"},
		{"exec", `ok(run)`, `{facts: {run: {code: 0}}}`, "{}"},
		{"git", `ok(repo)`, `{facts: {repo: {branch: given}}}`, "{}"},
		{"tasks", `ok(list) or transcript.tasks > 0`, `{facts: {list: [{subject: given}]}}`, "{session_id: mine}"},
		{"transcript", `transcript.last != "" or len(transcript.texts) > 0`, `{transcript: [{assistant: given}]}`, "{session_id: mine}"},
		{"the session that a path names", `transcript.last != ""`, `{transcript: [{assistant: given}], input: {transcript_path: "` + session + `"}}`, `{input: {transcript_path: "` + session + `"}}`},
		{"the text of that path", `transcript_path == "` + session + `"`, `{input: {transcript_path: "` + session + `"}}`, "{}"},
		{"the session of a host in an environment of its own", `transcript.last != ""`, `{transcript: [{assistant: given}]}`,
			`{session_id: mine, env: {CLAUDE_CONFIG_DIR: "` + filepath.ToSlash(filepath.Join(home, ".claude")) + `", HOME: "` + filepath.ToSlash(home) + `"}}`},
		{"clock", `now().Year() == 2031`, `{now: "2031-02-03T04:05:06Z"}`, "{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := suite(t, `ralph: 1
facts:
  note: {text: ~/note.txt}
  local: {text: note.txt}
  notes: {glob: "~/*.txt", parse: text}
  report: {junit: ~/report.xml}
  run: {exec: [sh, -c, "exit 0"]}
  repo: {git: .}
  list: {tasks: claude}
rules:
  - name: seen
    when: '`+c.when+`'
    stop: it is there
`, "tests:\n  - {name: given, given: "+c.given+", expect: {rule: seen}}\n  - {name: not given, given: "+c.without+", expect: {rule: \"\", stop: true}}\n")
			if got := failures(s.Run(t.Context(), nil)); len(got) > 0 {
				t.Error(strings.Join(got, "\n"))
			}
		})
	}
}

// Literals have the shape that their source would have given them.
func TestLiterals(t *testing.T) {
	s := suite(t, `ralph: 1
facts:
  run: {exec: [x], schema: {properties: {k: {type: integer, default: 7}}}}
  repo: {git: .}
  items: {checklist: t.md}
  found: {glob: "*.json", schema: {properties: {n: {type: integer, default: 0}}}}
  doc: {frontmatter: d.md, schema: {properties: {n: {type: integer, default: 5}}}}
  left: {input: {type: integer}}
rules:
  - name: forgotten
    when: missing(left)
    stop: nothing is given
    notice: ${problem(left)}
  - name: all
    when:
      - run.stdout == "a\nb\n" and len(run.lines) == 2 and run.code == 0 and run.json.k == 7
      - repo.dirty and repo.branch == "" and repo.ahead == 0
      - items[0].text == "one" and not items[0].done and items[1].done and items[1].source == "- [x] two"
      - len(found) == 1 and found[0].name == "a" and found[0].value.n == 3 and found[0].age == duration("5m")
      - problem(found) contains "b.json"
      - doc.n == 5 and doc.body == "text" and left == 3
    stop: ok
`, `
tests:
  - name: shapes
    given:
      facts:
        run: {lines: [a, b], json: {}}
        repo: {changed: [x]}
        items: [one, {text: two, done: true}]
        found: [{path: x/a.json, age: 5m, value: {n: 3}}, {path: b.json, value: {n: no}}]
        doc: {body: text}
        left: 3
    expect: {rule: all}
  - name: what a program does not give
    expect: {rule: forgotten, notice: is not provided by the program}
  - name: a field that a source does not have
    given: {facts: {repo: {brnch: main}}}
    expect: {rule: all}
  - name: the wrong shape
    given: {facts: {items: "- [ ] one"}}
    expect: {rule: all}
  - name: the wrong type
    given: {facts: {items: [{text: one, done: "no"}], left: 3}}
    expect: {rule: ""}
`)
	got := failures(s.Run(t.Context(), nil))
	if len(got) != 3 || !strings.Contains(got[2], `/0/done: is \"no\", expected boolean`) || !strings.Contains(got[0], "unknown field") || !strings.Contains(got[0], "did you mean") ||
		!strings.Contains(got[1], "write Markdown under files") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// A policy with its own when applies to a test that sets the value of the file that it
// reads, and not to one in which that file is missing.
func TestFilesOfValuesExist(t *testing.T) {
	for when, want := range map[string]map[string]bool{ // by test
		`exists("a/state.json")`:             {"given": true, "invalid": true},
		`exists("./a/state.json")`:           {"given": true, "invalid": true},
		`anyfile("a/*.json")`:                {"given": true, "invalid": true},
		`isdir("a/state.json")`:              {},
		`exists("b/one.md")`:                 {"given": true, "other": true},
		`anyfile("b/*.md")`:                  {"given": true, "other": true},
		`exists("holes/x.json")`:             {},
		`transcript.tasks == 2`:              {"given": true, "other": true},
		`transcript.tasks == 0`:              {"invalid": true, "nothing": true},
		`exists("a") or exists("elsewhere")`: {},
	} {
		s := suite(t, `ralph: 1
when: '`+when+`'
facts:
  state: {json: a/state.json, schema: {properties: {name: {type: string, default: x}}}}
  notes: {glob: "b/**", parse: text}
  hole: {json: "holes/${state.name}.json", schema: {}}
  list: {tasks: claude}
rules:
  - name: for-it
    when: ok(state) or ok(notes) or ok(hole) or ok(list) or true
    stop: it is for the event
`, `
tests:
  - name: nothing
    expect: {rule: for-it}
  - name: given
    given: {facts: {state: {}, notes: [{path: b/one.md, value: x}, {value: y}], hole: {}, list: [{subject: a}, {subject: b}]}}
    expect: {rule: for-it}
  - name: other
    given: {facts: {notes: [{path: ./b/one.md, value: x}], list: [{subject: a}, {subject: b}]}, missing: [state, hole]}
    expect: {rule: for-it}
  - name: invalid
    given: {invalid: [state, list]}
    expect: {rule: for-it}
`)
		got := map[string]bool{}
		for _, r := range s.Run(t.Context(), nil) {
			if r.Passed() {
				got[r.Name] = true
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s is true (-want +got)\n%s", when, diff)
		}
	}
}

// A value that cannot be used, because the path of its fact cannot be evaluated,
// is what an author does not think of.
func TestHints(t *testing.T) {
	s := suite(t, counter, `
tests:
  - name: a value without its path
    given: {missing: [state], facts: {other: text}}
    expect: {rule: other}
`)
	r := s.Run(t.Context(), nil)[0]
	if len(r.Hints) != 1 || !strings.Contains(r.Hints[0], "the value of other is not used") {
		t.Errorf("hints: %q", r.Hints)
	}
}

// The loop memory and the counts of unless_repeated are what the test says.
func TestLoop(t *testing.T) {
	s := suite(t, counter, `
given: {facts: {state: {n: 1}}}
tests:
  - name: the bound
    given: {loop: {repeats: 2}}
    expect: {rule: limits.repeats, notice: no progress}
  - name: below it
    given: {loop: {repeats: 1, continuations: 7}}
    expect: {rule: go}
  - name: moving
    given: {loop: {continuations: 7}}
    expect: {rule: go}
  - name: a turn that failed
    given: {transcript: [{failed: rate_limited}]}
    expect: {rule: limits.failures, notice: the turn failed (rate_limited)}
  - name: and the one before it
    given: {loop: {failures: 1}, transcript: [{failed: rate_limited}]}
    expect: {rule: limits.failures, notice: and so did the 1 before it}
`)
	if got := failures(s.Run(t.Context(), nil)); len(got) > 0 {
		t.Error(strings.Join(got, "\n"))
	}
}

// Tests of a policy that cannot be used, or does not exist, are not run.
func TestLoadFindings(t *testing.T) {
	fsys := fstest.MapFS{
		"broken.yaml":        {Data: []byte("ralph: 1\nrules:\n  - name: a\n    when: nosuch\n    stop: x\n")},
		"broken_test.yaml":   {Data: []byte("tests:\n  - name: a\n    expect: {rule: a}\n")},
		"alone_test.yaml":    {Data: []byte("tests:\n  - name: a\n    expect: {rule: a}\n")},
		"shipped_test.yaml":  {Data: []byte("policy: speckit\ntests:\n  - name: a\n    expect: {rule: no-tasks}\n")},
		"elsewhere/my.yaml":  {Data: []byte("ralph: 1\nrules:\n  - name: a\n    stop: x\n")},
		"deep/far_test.yaml": {Data: []byte("policy: ../elsewhere/my.yaml\ntests:\n  - name: a\n    expect: {rule: a}\n")},
	}
	for name, want := range map[string]string{
		"broken_test.yaml":   `unknown name "nosuch"`,
		"alone_test.yaml":    "there is no policy alone.yaml",
		"nosuch_test.yaml":   "the tests cannot be read",
		"shipped_test.yaml":  "",
		"deep/far_test.yaml": "",
	} {
		s, findings := policytest.Load(t.Context(), fsys, name, loop.Config())
		if (s == nil) != (want != "") || !strings.Contains(findings.Format(), want) {
			t.Errorf("%s: %v, %s", name, s, findings.Format())
		}
	}
}

// A policy that evaluates no rule would meet most expectations, so a test has to expect
// that explicitly.
func TestNoRuleIsTried(t *testing.T) {
	s := suite(t, "ralph: 1\nevents: [SubagentStop]\nwhen: permission_mode != \"plan\"\nrules:\n  - {name: enough, when: stop_hook_active, stop: enough}\n", `
tests:
  - name: another event
    expect: {stop: true, rule: "", notice: ""}
  - name: another event, meant
    expect: {stop: does not decide Stop}
  - name: not for it
    event: SubagentStop
    given: {permission_mode: plan}
    expect: {rule: ""}
  - name: not for it, meant
    event: SubagentStop
    given: {permission_mode: plan}
    expect: {reason: not for this event}
  - name: not the reason
    expect: {stop: enough}
  - name: tried
    event: SubagentStop
    expect: {stop: true, rule: ""}
`)
	want := []string{
		`another event: no rule is tried: want "", got "the policy does not decide Stop; if this is intended, write stop: does not decide Stop"`,
		`not for it: no rule is tried: want "", got "the policy is not for this event: its when is not true; if this is intended, write stop: not for this event"`,
		`not the reason: stop: want "enough", got "the policy does not decide Stop"`,
	}
	if diff := cmp.Diff(want, failures(s.Run(t.Context(), nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Rules of a shipped guard do not count: they have tests of their own.
func TestCoverIncluded(t *testing.T) {
	s := suite(t, `ralph: 1
facts:
  todo: {checklist: TODO.md}
limits: {repeats: 3}
rules:
  - include: ralph:guards/plan-mode
  - name: next
    when: any(todo, not .done)
    continue: go on
`, `
tests:
  - name: goes on
    given: {facts: {todo: [one]}}
    expect: {rule: next}
  - name: stops
    given: {facts: {todo: [{text: one, done: true}]}}
    expect: {rule: ""}
`)
	c := policytest.Cover(s.Policy(), s.Program(), s.Run(t.Context(), nil))
	if len(c.Rules) != 2 || !c.Rules[0].Included() || c.Rules[1].Included() {
		t.Fatalf("rules: %+v", c.Rules)
	}
	if held, all, seen, outcomes := c.Counts(); held != 1 || all != 1 || seen != 2 || outcomes != 2 || c.Percent() != 100 {
		t.Errorf("counts: %d of %d rules, %d of %d outcomes, %.1f %%", held, all, seen, outcomes, c.Percent())
	}
}

// Coverage counts the rules that held and both outcomes of each operand.
func TestCover(t *testing.T) {
	s := suite(t, counter, `
given: {facts: {state: {n: 1}}}
tests:
  - name: go
    expect: {rule: go}
  - name: broken
    given: {invalid: [state]}
    expect: {rule: broken}
`)
	c := policytest.Cover(s.Policy(), s.Program(), s.Run(t.Context(), nil))
	type row struct {
		Rule          string
		Reached, Held int
		Missed        []string
	}
	var got []row
	for _, r := range c.Rules {
		line := row{Rule: r.Rule, Reached: r.Reached, Held: r.Held}
		for _, o := range r.Operands {
			line.Missed = append(line.Missed, o.Missed())
		}
		got = append(got, line)
	}
	want := []row{
		{"broken", 2, 1, []string{""}},
		{"go", 1, 1, []string{"false", "false"}},
		{"other", 0, 0, []string{"true or false"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if held, all, seen, outcomes := c.Counts(); held != 2 || all != 3 || seen != 4 || outcomes != 8 {
		t.Errorf("counts: %d of %d rules, %d of %d outcomes", held, all, seen, outcomes)
	}
}

func ExampleLoad() {
	fsys := fstest.MapFS{
		"greet.yaml": {Data: []byte(`ralph: 1
limits: {continuations: 3}
rules:
  - name: greeted
    when: said("HELLO")
    stop: the agent greeted
  - name: greet
    continue: Say HELLO on a line of its own.
`)},
		"greet_test.yaml": {Data: []byte(`tests:
  - name: asks for a greeting
    expect: {rule: greet, continue: HELLO}
  - name: takes a greeting
    given: {last_assistant_message: HELLO}
    expect: {rule: greeted, stop: true}
`)},
	}
	suite, findings := policytest.Load(context.Background(), fsys, "greet_test.yaml", rules.Config{})
	if suite == nil {
		fmt.Print(findings.Format())
		return
	}
	for _, r := range suite.Run(context.Background(), nil) {
		fmt.Println(r.Name, r.Passed())
	}
	// Output:
	// asks for a greeting true
	// takes a greeting true
}

// A decision about a loop whose file was removed needs the past of its session.
func TestDraftOfALoopThatIsGone(t *testing.T) {
	d := policytest.FromRecord(loop.Record{Head: loop.Head{Event: "Stop", Rule: "all-done", Loop: &rules.LoopInfo{State: "state.json", Gone: true}}})
	if diff := cmp.Diff(map[string]any{"seen": true}, d.Given["loop"]); diff != "" {
		t.Error(diff)
	}
}

// A policy without a loop has seen none.
func TestSeenWithoutALoop(t *testing.T) {
	fsys := fstest.MapFS{
		"p.yaml":      {Data: []byte("ralph: 1\nrules:\n  - {name: a, stop: x}\n")},
		"p_test.yaml": {Data: []byte("tests:\n  - name: a\n    given: {loop: {seen: true}}\n    expect: {rule: a}\n")},
	}
	s, findings := policytest.Load(t.Context(), fsys, "p_test.yaml", loop.Config())
	if s == nil {
		t.Fatal(findings)
	}
	r := s.Run(t.Context(), nil)
	if len(r) != 1 || len(r[0].Failures) != 1 || !strings.Contains(r[0].Failures[0].Got, "has no loop") {
		t.Errorf("%+v", r)
	}
}

// A test expects a question, and gives its answer.
func TestQuestions(t *testing.T) {
	s := suite(t, `ralph: 1
limits: {repeats: 2}
rules:
  - {name: answered, when: answer != "", continue: "Take ${answer}"}
  - {name: which, ask: Which of the two}
`, `
tests:
  - {name: asks, expect: {ask: of the two, rule: which, success: false, notice: Which of the two}}
  - {name: takes the answer, given: {answer: the second}, expect: {continue: the second}}
  - {name: does not stop, expect: {stop: of the two}}
`)
	if diff := cmp.Diff([]string{`does not stop: verdict: want "stop", got "ask by rule which"`}, failures(s.Run(t.Context(), nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
