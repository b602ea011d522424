package loop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tasksShown = `${missing(x) ? "missing: " + problem(x) : join(map(x, .id + " " + .subject + " " + .status), ", ") + ";"}`

// home creates a home directory with these files for the project.
func (p *project) home(files map[string]string) string {
	p.t.Helper()
	dir := p.t.TempDir()
	p.env["HOME"] = dir
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	return dir
}

func TestTasks(t *testing.T) {
	files := map[string]string{
		".claude/tasks/s/10.json":      `{"id":"10","subject":"ten","status":"pending","blockedBy":["2"],"extra":{"n":1}}`,
		".claude/tasks/s/2.json":       `{"id":"2","title":"two","status":"completed","owner":"me"}`,
		".claude/tasks/s/bad.json":     `{oops`,
		".claude/tasks/s/type.json":    `{"id":"3","subject":["x"]}`,
		".claude/tasks/s/.lock":        ``,
		".claude/tasks/shared/1.json":  `{"id":1,"subject":"one","status":"in_progress"}`,
		".claude/tasks/empty/.keep":    ``,
		".claude/secret/1.json":        `{"id":"1","subject":"secret","status":"pending"}`,
		"elsewhere/tasks/s/1.json":     `{"id":"1","subject":"elsewhere","status":"pending"}`,
		".claude/tasks/notafolder":     `x`,
		".claude/tasks/.hidden/1.json": `{"id":"1","subject":"hidden","status":"pending"}`,
	}
	for _, c := range []struct {
		name, session, list, listID, config string
		want                                string
	}{
		{name: "the session's own", session: "s", want: "2 two completed, 10 ten pending;"},
		{name: "one that several sessions share", session: "s", listID: "shared", want: "1 one in_progress;"},
		{name: "one that the policy names", session: "s", list: "shared", want: "1 one in_progress;"},
		{name: "none", session: "other", want: "missing: the session has no task list"},
		{name: "none of that name", session: "s", list: "gone", want: "missing: there is no task list gone"},
		{name: "an empty one", session: "empty", want: ";"},
		{name: "no session", session: "", want: "missing: there is no task list: the event names no session"},
		{name: "another folder of settings", session: "s", config: "elsewhere", want: "1 elsewhere pending;"},
		{name: "a name that climbs", session: "s", list: "../secret", want: `missing: "../secret" cannot be the name of a task list`},
		{name: "a session that climbs", session: "../secret", want: "missing: the session has no task list"},
		{name: "a hidden name", session: ".hidden", want: "missing: the session has no task list"},
		{name: "a run", session: "run:20261120-1200-ab", want: "missing: the session has no task list"},
		{name: "a file", session: "s", list: "notafolder", want: "missing: there is no task list notafolder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			home := p.home(files)
			p.env["LIST"], p.env["CLAUDE_CODE_TASK_LIST_ID"] = c.list, c.listID
			if c.config != "" {
				p.env["CLAUDE_CONFIG_DIR"] = filepath.Join(home, c.config)
			}
			ev := p.stop()
			ev.SessionID = c.session
			got := said(p.run(p.loop(shown(`x: {tasks: claude, list: "${env.LIST}"}`, tasksShown)), ev))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Bad files are reported in the problem of the fact, and only there.
func TestTasksBadFiles(t *testing.T) {
	p := newProject(t, nil)
	p.home(map[string]string{".claude/tasks/s/1.json": `{oops`, ".claude/tasks/s/2.json": `{"id":"2","status":7.5}`, ".claude/tasks/s/3.json": `{"id":"3","subject":"three"}`})
	d := p.run(p.loop(shown(`x: {tasks: claude}`, "${len(x)} ${x[0].status == \"\"}\n${problem(x)}")), p.stop())
	lines := strings.Split(said(d), "\n")
	if len(lines) != 3 || lines[0] != "1 true" || !strings.HasPrefix(lines[1], "1.json: ") || lines[2] != "2.json: status is not a string" {
		t.Errorf("it says %q", lines)
	}
	if len(d.Notices) > 0 {
		t.Errorf("the person is told %q", d.Notices)
	}
}

// If the host keeps no task files, the tasks come from the session.
func TestTasksFromTheSession(t *testing.T) {
	p := newProject(t, map[string]string{"session.jsonl": strings.Join([]string{
		`{"type":"user","message":{"role":"user","content":"go"}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"write","status":"completed"},{"content":"ship","status":"pending"}]}}]}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}`,
	}, "\n") + "\n"})
	p.home(nil)
	ev := p.stop()
	ev.TranscriptPath = p.path("session.jsonl")
	got := said(p.run(p.loop(shown(`x: {tasks: claude}`, tasksShown)), ev))
	if diff := cmp.Diff("1 write completed, 2 ship pending;", got); diff != "" {
		t.Error(diff)
	}
	if got := said(p.run(p.loop(shown(`x: {text: none}`, `${transcript.tasks}`)), ev)); got != "2" {
		t.Errorf("transcript.tasks is %q", got)
	}
	if got := said(p.run(p.loop(shown(`x: {text: none}`, `${transcript.tasks}`)), p.stop())); got != "0" {
		t.Errorf("without a session file transcript.tasks is %q", got)
	}
	// A list of a name of its own is not that of the session.
	got = said(p.run(p.loop(shown(`x: {tasks: claude, list: named}`, tasksShown)), ev))
	if diff := cmp.Diff("missing: there is no task list named", got); diff != "" {
		t.Error(diff)
	}
}

// A host that does not name the file of its session is looked after by the session's name.
func TestSessionFileIsFound(t *testing.T) {
	p := newProject(t, nil)
	p.home(map[string]string{
		".claude/projects/other/x.jsonl": "", ".claude/secret.jsonl": `{"type":"assistant","message":{"role":"assistant","content":"secret"}}`,
		".claude/projects/here/s.jsonl": `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"from the file"}]}}` + "\n",
	})
	l := p.loop(shown(`x: {text: none}`, `${transcript.last}.`))
	for session, want := range map[string]string{"s": "from the file.", "none": ".", "../../secret": ".", "": "."} {
		ev := p.stop()
		ev.SessionID = session
		if got := said(p.run(l, ev)); got != want {
			t.Errorf("%q: it says %q, want %q", session, got, want)
		}
	}
}
