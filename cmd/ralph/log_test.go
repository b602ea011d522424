package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
)

// With --follow, the log also prints the decisions that come, until the user ends it.
func TestLogFollow(t *testing.T) {
	dir := t.TempDir()
	own := store.Open(dir)
	add := func(rule string) {
		if err := own.AppendLog([]byte(`{"time":"2026-11-20T12:00:00Z","policy":"p","event":"Stop","session":"s","action":"continue","rule":"` + rule + `","reason":"(9 bytes)"}`)); err != nil {
			t.Error(err)
		}
	}
	add("first")
	add("second")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := watched{see: map[string]func(){"second": func() { add("third") }, "third": cancel}}
	a := &app{stdout: &out, stderr: &out, getenv: func(name string) string {
		return map[string]string{"RALPH_STATE_DIR": dir}[name]
	}}
	status := a.run(ctx, []string{"log", "--all", "-f", "-n", "1", "--policy", "p"})
	text := out.text.String()
	if status != exitOK || strings.Contains(text, "first") || strings.Count(text, "\n") != 2 || strings.Index(text, "second") > strings.Index(text, "third") {
		t.Errorf("status %d:\n%s", status, text)
	}
}

// watched calls a function once a word was written.
type watched struct {
	mu   sync.Mutex
	text strings.Builder
	see  map[string]func()
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	for word, do := range w.see {
		if strings.Contains(string(b), word) {
			delete(w.see, word)
			do()
		}
	}
	return len(b), nil
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"90m":                  now.Add(-90 * time.Minute),
		"2d":                   now.AddDate(0, 0, -2),
		"2026-11-19":           time.Date(2026, 11, 19, 0, 0, 0, 0, time.Local),
		"2026-11-19 08:30:00":  time.Date(2026, 11, 19, 8, 30, 0, 0, time.Local),
		"2026-11-19T08:30:00Z": time.Date(2026, 11, 19, 8, 30, 0, 0, time.UTC),
	} {
		if got, err := parseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "soon", "-1h", "-2d", "d", "99999999999d"} {
		if got, err := parseSince(text, now); err == nil && got.After(now) {
			t.Errorf("%q: %v", text, got)
		} else if err == nil && text != "99999999999d" {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// The log shows as much of a session's id as distinguishes it from all others, and every --session takes that.
// Its numbers and ids are those that explain takes.
func TestLogIsTaken(t *testing.T) {
	dir, project := t.TempDir(), t.TempDir()
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	own := store.Open(dir)
	for i, l := range []struct{ root, session, more string }{
		{project, "019a9f3c-1111-7000-8000-0000000000aa", `"event":"Stop","action":"stop","rule":"first"`},
		{project, "019a9f3c-1112-7000-8000-0000000000bb", `"event":"Stop","action":"continue","rule":"second"`},
		{project, "try", `"event":"Stop","action":"stop","noted":["third"]`},
		{"/elsewhere", "019a9f3c-1113", `"event":"Stop","action":"stop","rule":"far"`},
		{project, "", `"event":"SessionEnd","action":"stop","trace":{"steps":[{"rule":"fourth","outcome":"holds"}]}`},
		{project, "try", `"command":"ralph stop","action":"stop","reason":"at iteration 2"`},
	} {
		id := fmt.Sprintf("18a%02d%019d", i, i)
		root, _ := json.Marshal(l.root)
		event, rest, _ := strings.Cut(l.more, `"action"`)
		if l.session != "" {
			event += `"session":"` + l.session + `",`
		}
		if err := own.AppendLog(fmt.Appendf(nil, `{"v":1,"id":"%s","time":"2026-11-20T12:00:0%dZ","policy":"p","root":%s,%s"action"%s}`, id, i, root, event, rest)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		var out strings.Builder
		a := &app{stdout: &out, stderr: &out, getenv: func(name string) string { return map[string]string{"RALPH_STATE_DIR": dir}[name] }}
		a.run(t.Context(), append(args, "--project", project))
		return out.String()
	}
	columns := func(text string) (rows []string) {
		for line := range strings.Lines(text) {
			f := strings.Fields(strings.ReplaceAll(line, "time ", "date time "))
			rows = append(rows, f[0]+" "+f[4])
		}
		return rows
	}
	if diff := cmp.Diff([]string{"# session", "5 019a9f3c-1111", "4 019a9f3c-1112", "3 try", "2 -", "1 try"}, columns(run("log"))); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, run("log"))
	}
	if diff := cmp.Diff([]string{"# session", "4 019a9f3c-1112"}, columns(run("log", "--session", "019a9f3c-1112"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := columns(run("log", "--all"))[4]; got != "18a03"+fmt.Sprintf("%019d", 3)+" 019a9f3c-1113" {
		t.Errorf("log --all shows %q", got)
	}
	if err := own.ChangeHints(t.Context(), project, func([]store.Hint) []store.Hint { return []store.Hint{{Session: "019a9f3c-1112-8"}} }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"# session", "4 019a9f3c-1112-7"}, columns(run("log", "--rule", "second"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := own.ChangeHints(t.Context(), project, func([]store.Hint) []store.Hint { return nil }); err != nil {
		t.Fatal(err)
	}
	first := func(args ...string) string { line, _, _ := strings.Cut(run(args...), "\n"); return line }
	_, off := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Local().Zone()
	hour := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(time.Duration(off) * time.Second).Format("2006-01-02 15:04:")
	for _, tt := range []struct {
		args, want string
	}{
		{"explain", hour + "01  p: continued by rule second"},
		{"explain 5", hour + "00  p: stopped by rule first"},
		{"explain 3", hour + "02  p: stopped: no rule decided, note by third"},
		{"explain 2", hour + "04  p: by fourth"},
		{"explain 1", hour + "05  p: ended by ralph stop"},
		{"explain 18a00", hour + "00  p: stopped by rule first"},
		{"explain 18a030000000000000000003", hour + "03  p: stopped by rule far"},
		{"explain --session 019a9f3c-1111", hour + "00  p: stopped by rule first"},
		{"explain 6", `ralph: there is no decision "6"; write a number from 1, the latest, to 5, as ralph log shows it, or an ID of ralph log --all or --format json; name a policy with --policy`},
		{"explain 18a0", `ralph: the IDs of 6 decisions begin with "18a0", such as 18a000000000000000000000 and 18a010000000000000000001; write a longer prefix`},
		{"explain 0", `ralph: there is no decision "0"; write a number from 1, the latest, to 5, as ralph log shows it, or an ID of ralph log --all or --format json; name a policy with --policy`},
		{"explain 1 --session try", "ralph: 1 names one decision: remove --session, or run `ralph explain` without 1"},
		{"explain --session try", "ralph: no such decision let an agent stop or continued it; run `ralph log` to list the others, `ralph explain N` to show one"},
		{"explain --session 019a9f3c", `ralph: the IDs of 2 sessions begin with "019a9f3c": 019a9f3c-1112-7000-8000-0000000000bb, 019a9f3c-1111-7000-8000-0000000000aa; write a longer prefix after --session`},
		{"pause --session zz", `ralph: unknown session "zz"; the sessions are, latest first: try, 019a9f3c-1112-7000-8000-0000000000bb, 019a9f3c-1111-7000-8000-0000000000aa`},
		{"pause --session tr", "paused session try; run `ralph resume --session try` to resume it"},
		{"resume --session 019a9f3c-1111", "session 019a9f3c-1111-7000-8000-0000000000aa is not paused"},
		{"resume --session t", "resumed session try"},
		{"pause --session=", `ralph: --session must be an ID or a unique prefix of one, as ralph log prints it; got ""`},
		{"hint --session 019a9f3c-1112 text", "The agent sees it with its next continuation in session 019a9f3c-1112-7000-8000-0000000000bb."},
		{"hint --session new text", `ralph: unknown session "new"; the sessions are, latest first: try, 019a9f3c-1112-7000-8000-0000000000bb, 019a9f3c-1111-7000-8000-0000000000aa`},
	} {
		if diff := cmp.Diff(tt.want, strings.TrimSpace(first(strings.Fields(tt.args)...))); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.args, diff)
		}
	}
}

// On a terminal each line of the log has its number and fits, however narrow the terminal is.
func TestLogFits(t *testing.T) {
	e := project.Entry{Number: 12, Decision: project.Decision{Head: loop.Head{
		ID: "18a000000000000000000000", Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local), Policy: ".ralph/a-policy-with-a-long-name.yaml", Event: host.Stop,
		Session: "019a9f3c-1111-7000-8000-0000000000aa", Agent: "subagent-1", Rule: "a/rule-with-a-name-that-is-long", Reason: strings.Repeat("because ", 40), Root: "/a/project",
	}}}
	for _, width := range []int{20, 60, 80, 120, 200} {
		for _, ids := range []bool{false, true} {
			table := logTable{ids: ids, all: ids, prefix: 8, widths: []int{0, len(time.DateTime), len("continue"), 8, 14, 16}}
			table.narrow(width)
			table.fit(table.cells(e))
			var out strings.Builder
			table.write(&out, e, "a goal")
			line := strings.TrimSuffix(out.String(), "\n")
			if n := utf8.RuneCountInString(line); n > width || n < min(width-1, 120) || !ids && !strings.HasPrefix(line, "12  ") || strings.Contains(line, "\n") {
				t.Errorf("%d of %d characters: %q", n, width, line)
			}
			if head := table.cutLine(table.titles(), bold, "reason"); utf8.RuneCountInString(head) > width {
				t.Errorf("the titles have more than %d characters: %q", width, head)
			}
		}
	}
}
