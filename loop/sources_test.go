package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// found decides by a policy that shows a fact v: whether it is ok, missing or invalid, and its value or problem.
func found(t testing.TB, fact, value string, ev loop.Event, opts ...loop.Option) string {
	t.Helper()
	l := load(t, fmt.Sprintf(`
facts:
  v: %s
rules:
  - {name: ok, when: ok(v), continue: 'ok: ${%s} ${problem(v)}'}
  - {name: missing, when: missing(v), continue: 'missing: ${problem(v)}'}
  - {name: invalid, when: invalid(v), continue: 'invalid: ${problem(v)}'}
`, fact, value), opts...)
	return strings.TrimSpace(decide(t, l, ev).Reason)
}

// Nothing there is missing; something that cannot be read is invalid.
func TestFiles(t *testing.T) {
	home := project(t, map[string]string{"note.txt": "mine"})
	t.Setenv("HOME", home)
	dir := project(t, map[string]string{
		"a.txt": " hello \n", "empty.txt": "\n", "a.json": `{"n": 1}`, "bad.json": "{", "dir/x": "", "a.md": "---\nn: 2\n---\nbody\n", "plain.md": "text\n",
		"tasks.md": "- [x] one\n- [ ] two\n", "g/1.json": `{"n": 1}`, "g/2.json": "{", "report.xml": "<testsuite><testcase name='T'/></testsuite>",
	})
	if err := os.Symlink(filepath.Join(home, "note.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ fact, value, want string }{
		{"{text: a.txt}", "v", "ok: hello"},
		{"{text: empty.txt}", "v", "missing:"},
		{"{text: none.txt}", "v", "missing:"},
		{"{text: dir}", "v", "invalid: is a directory"},
		{"{text: link.txt}", "v", "invalid: a link leaves"},
		{"{text: ~/note.txt}", "v", "ok: mine"},
		{"{text: ~/none.txt}", "v", "missing:"},
		{"{json: a.json}", "v.n", "ok: 1"},
		{"{json: bad.json}", "v", "invalid:"},
		{"{frontmatter: a.md}", "v.n", "ok: 2"},
		{"{frontmatter: plain.md}", "v", "missing:"},
		{"{checklist: tasks.md}", "len(v)", "ok: 2"},
		{"{checklist: none.md}", "v", "missing:"},
		{"{glob: '*.txt'}", "v", "ok: a.txt\nempty.txt"},
		{"{glob: 'none/*'}", "len(v)", "ok: 0"},
		{"{glob: 'g/*.json', parse: json}", "len(v)", "ok: 1 g/2.json:"},
		{"{junit: report.xml}", "v.tests", "ok: 1"},
		{"{junit: a.txt}", "v", "invalid:"},
		{"{git: .}", "v", "missing:"},
		{"{tasks: claude}", "v", "missing:"},
	} {
		got := found(t, c.fact, c.value, loop.Event{}, loop.WithRoot(dir), loop.WithAllow("home"))
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s is %q, want %q", c.fact, got, c.want)
		}
	}
}

// Young files of a glob that cannot be used are read again, for a second together, and are left out then.
func TestYoungFiles(t *testing.T) {
	dir := project(t, map[string]string{"ok.json": `{"n": 1}`})
	for _, name := range []string{"a", "b", "c", "d"} {
		write(t, filepath.Join(dir, name+".json"), "{")
	}
	got := found(t, "{glob: '*.json', parse: json}", "map(v, .path)", loop.Event{}, loop.WithRoot(dir))
	if !strings.HasPrefix(got, "ok: ok.json a.json: ") || !strings.Contains(got, "d.json: ") {
		t.Errorf("it is %q", got)
	}
}

// The files of a glob are bounded together: each is read whole. These are old, so none is read again.
func TestLargeGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md", "e.md"} {
		path := filepath.Join(dir, name)
		write(t, path, "")
		if err := errors.Join(os.Truncate(path, state.MaxFile), os.Chtimes(path, time.Time{}, time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{"[a-d].md": "ok: 0 a.md: has no front matter", "*.md": "invalid: the files have more than 64 MiB together: write a narrower pattern"} {
		got := found(t, "{glob: '"+pattern+"', parse: frontmatter, timeout: 20s}", "len(v)", loop.Event{}, loop.WithRoot(dir))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", pattern, got, want)
		}
	}
}

func TestExec(t *testing.T) {
	sh, dir := "sh", project(t, map[string]string{"sub/x": "", "bin/tool": "#!/bin/sh\necho tool\n"})
	if err := os.Chmod(filepath.Join(dir, "bin", "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	yes, no := loop.WithApproval(func() string { return "" }), loop.WithApproval(func() string { return "ask a person" })
	run := func(script string) string { return fmt.Sprintf("{exec: [%s, -c, %q]}", sh, script) }
	for _, c := range []struct {
		fact, value, want string
		opt               loop.Option
	}{
		{run("echo a; echo b >&2; echo; echo c; exit 3"), `string(v.code) + v.stderr + join(v.lines, "|")`, "ok: 3b\na||c", loop.WithAllow("exec")},
		{run("echo $RALPH_OFF"), "v.stdout", "ok: 1", loop.WithAllow("all")},
		{run("echo a"), "v.output", "ok: a", yes},
		{run("echo a"), "v.output", "invalid: it needs a person's approval", no},
		{run("echo a"), "v.output", "invalid: it needs a person's approval", loop.WithAllow("run", "judge")},
		{"{exec: [pwd], dir: sub}", `v.stdout contains "sub"`, "ok: true", yes},
		{"{exec: [pwd], dir: none}", "v", "invalid:", yes},
		{"{exec: [no-such-program-of-ralph]}", "v", "invalid:", yes},
		{"{exec: [tool]}", "v.output", "ok: tool", yes},
		{"{exec: [tool]}", "v.output", "invalid: PATH finds", loop.WithAllow("all")},
		{"{exec: [./bin/tool]}", "v.output", "ok: tool", loop.WithAllow("all")},
		{"{exec: [sleep, '60'], timeout: 1ms}", "v", "invalid: it took longer than 1ms", yes},
	} {
		if got := found(t, c.fact, c.value, loop.Event{}, loop.WithRoot(dir), c.opt); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s is %q, want %q", c.fact, got, c.want)
		}
	}
}

// A source's timeout is its own: a source that heeds its context is invalid, and the decision is made.
func TestSources(t *testing.T) {
	mine := errors.New("mine")
	source := func(f loop.SourceFunc) loop.Option { return loop.WithSource("own", f) }
	for _, c := range []struct {
		name string
		f    loop.SourceFunc
		want string
	}{
		{"a value", func(_ context.Context, _ loop.Event, q rules.Query) (any, error) { return q.Args[0] + "!", nil }, "ok: x!"},
		{"the event", func(_ context.Context, ev loop.Event, _ rules.Query) (any, error) { return ev.Session, nil }, "ok: s"},
		{"nothing", func(context.Context, loop.Event, rules.Query) (any, error) {
			return nil, fmt.Errorf("no row: %w", fs.ErrNotExist)
		}, "missing: no row"},
		{"an error", func(context.Context, loop.Event, rules.Query) (any, error) { return nil, mine }, "invalid: mine"},
		{"too late", func(ctx context.Context, _ loop.Event, _ rules.Query) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "invalid: it took longer than 5ms"},
	} {
		if got := found(t, "{own: x, timeout: 5ms}", "v", loop.Event{}, source(c.f)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	l := load(t, "facts: {v: {own: x}}\nrules:\n  - {name: end, when: v == 1, stop: x}\n  - {name: go, continue: go}\n",
		source(func(context.Context, loop.Event, rules.Query) (any, error) { return nil, mine }))
	if d := decide(t, l, loop.Event{}); d.Outcome != rules.Failed || !errors.Is(d.Err, mine) {
		t.Errorf("a stop rule over a source that failed: %+v", d)
	}
}

func TestTasks(t *testing.T) {
	tasks := func(list []any, err error) func(context.Context) ([]any, error) {
		return func(context.Context) ([]any, error) { return list, err }
	}
	for want, ev := range map[string]loop.Event{
		"ok: 1":         {Tasks: tasks([]any{map[string]any{"id": "1"}}, nil)},
		"missing:":      {Tasks: tasks(nil, fs.ErrNotExist)},
		"invalid: oops": {Tasks: tasks(nil, errors.New("oops"))},
	} {
		if got := found(t, "{tasks: claude}", "len(v)", ev); !strings.HasPrefix(got, want) {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}

// What reaches beyond the project is off until it is allowed: the agent learns that, and only the person how to allow it.
func TestApproval(t *testing.T) {
	t.Setenv("SECRET", "s3cret")
	t.Setenv("HOME", project(t, map[string]string{"key": "s3cret"}))
	asked := 0
	for name, src := range map[string]string{
		"env":   "facts: {v: {text: '${env.SECRET}.txt'}}\nrules:\n  - {name: end, when: env.SECRET == '', stop: x}\n",
		"home":  "facts: {v: {text: ~/key}}\nrules:\n  - {name: end, when: v == '', stop: x}\n",
		"exec":  "facts: {v: {exec: [echo, x]}}\nrules:\n  - {name: end, when: v.code > 0, stop: x}\n",
		"judge": "facts: {v: {judge: what}}\nrules:\n  - {name: end, when: v == 1, stop: x}\n",
	} {
		judge := loop.WithSource("judge", func(context.Context, loop.Event, rules.Query) (any, error) { return 1, nil })
		no := loop.WithApproval(func() string { asked++; return "run ralph trust" })
		asked = 0
		l := load(t, src+"  - {name: again, when: missing(v), stop: x}\n", judge, no,
			loop.WithRoot(t.TempDir()), loop.WithEnv(os.LookupEnv))
		d := decide(t, l, loop.Event{})
		if d.Outcome != rules.Failed || strings.Contains(d.Reason, "trust") || !strings.Contains(d.Notice, "run ralph trust") || asked != 1 {
			t.Errorf("%s, not approved, after %d questions: %+v", name, asked, d)
		}
		if d := decide(t, l, loop.Event{}); d.Notice != "" {
			t.Errorf("%s: the person sees it again in one prompt: %s", name, d.Notice)
		}
		if d := decide(t, load(t, src, judge, loop.WithAllow(name), loop.WithRoot(t.TempDir()), loop.WithEnv(os.LookupEnv)), loop.Event{}); d.Outcome == rules.Failed {
			t.Errorf("%s, allowed: %+v", name, d)
		}
	}
}

// A variable that is not set is empty. A program may have variables of its own.
func TestEnv(t *testing.T) {
	own := loop.WithEnv(func(name string) (string, bool) { return "mine", name == "OWN_OF_RALPH" })
	l := load(t, `rules: [{name: go, when: env.NO_SUCH_OF_RALPH == "", continue: "${env.OWN_OF_RALPH}"}]`, own, loop.WithAllow("env"))
	if d := decide(t, l, loop.Event{}); d.Reason != "mine" {
		t.Errorf("the decision is %+v", d)
	}
}

// talk is a conversation that counts how often it is read.
type talk struct {
	turns []loop.Turn
	reads int
	err   error
}

func (c *talk) Turns(_ context.Context, n int) ([]loop.Turn, error) {
	c.reads++
	return c.turns[max(0, len(c.turns)-n):], c.err
}

func TestNames(t *testing.T) {
	said := func(role, text string, tools ...loop.Tool) loop.Turn {
		return loop.Turn{Role: role, Text: text, Tools: tools, Tokens: 7}
	}
	names := func(name string, v any) loop.Event { return loop.Event{Names: map[string]any{name: v}} }
	asking := &talk{turns: []loop.Turn{said("user", "Do it."), said("assistant", "Shall I?", loop.Tool{Name: "Read"}, loop.Tool{Name: "AskUserQuestion"})}}
	prompted := &talk{turns: []loop.Turn{said("assistant", "DONE"), said("user", "Go on.")}}
	dir := project(t, map[string]string{"a.txt": "", "d/x": ""})
	for _, c := range []struct {
		ev         loop.Event
		expression string
		want       string
	}{
		{loop.Event{Session: "s1", Dir: "/d"}, `session_id + cwd`, "s1/d"},
		{names("permission_mode", "plan"), `permission_mode + string(your_turn)`, "plantrue"},
		{loop.Event{Conversation: asking}, `string(your_turn) + string(asked)`, "truetrue"},
		{loop.Event{Conversation: asking, Run: true}, `your_turn`, "false"},
		{loop.Event{Conversation: asking}, `last_assistant_message + join(transcript.tools, ",") + string(transcript.tokens)`, "Shall I?Read,AskUserQuestion7"},
		{loop.Event{Conversation: asking}, `transcript.turns(9)[0].text + string(len(transcript.turns(1)))`, "Do it.1"},
		{loop.Event{Conversation: asking, Message: "It is done"}, `last_assistant_message + string(asked)`, "It is donefalse"},
		{loop.Event{Conversation: prompted}, `said("DONE") or last_assistant_message != ""`, "false"},
		{loop.Event{Conversation: prompted, Message: "DONE"}, `said("DONE") and mentions("don")`, "true"},
		{loop.Event{Conversation: asking, Message: "x"}, `said("Shall I?")`, "true"},
		{loop.Event{}, `busy or your_turn or asked or said("x") or stop_hook_active`, "false"},
		{names("background_tasks", []any{map[string]any{"status": "running", "type": "shell"}, "x"}), "busy", "false"},
		{names("background_tasks", []any{map[string]any{"status": "running", "type": "subagent"}}), "busy", "true"},
		{names("session_crons", []any{map[string]any{"recurring": true}}), "busy", "false"},
		{names("session_crons", []any{map[string]any{"recurring": false}}), "busy", "true"},
		{names("run", map[string]any{"iteration": 3}), "run.iteration + run.tokens", "3"},
		{loop.Event{}, `string(exists("*.txt")) + string(exists("a.txt/")) + string(exists("d/")) + string(exists("none"))`, "truefalsetruefalse"},
		{loop.Event{}, `(which("sh") != "") and which("no-such-program-of-ralph") + which("/bin/sh") == ""`, "true"},
		{loop.Event{Conversation: &talk{err: errors.New("torn")}}, `said("x")`, "(?)"},
	} {
		l := load(t, "rules:\n  - {name: go, continue: '${"+strings.ReplaceAll(c.expression, "'", "''")+"}'}\n", loop.WithRoot(dir))
		if diff := cmp.Diff(c.want, decide(t, l, c.ev).Reason); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.expression, diff)
		}
	}
}

// The conversation is read once, whatever number of rules ask.
func TestTextsAreReadOnce(t *testing.T) {
	c := &talk{turns: []loop.Turn{{Role: "assistant", Text: strings.Repeat("a line\n", 100_000)}}}
	src := "rules:\n"
	for i := range 200 {
		src += fmt.Sprintf("  - {name: r%d, when: 'said(\"M%d\") or mentions(\"N%d\")', stop: x}\n", i, i, i)
	}
	if d := decide(t, load(t, src), loop.Event{Conversation: c}); d.Outcome != rules.Idle || c.reads != 1 {
		t.Errorf("after %d readings: %+v", c.reads, d)
	}
}
