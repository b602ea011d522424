package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

// Followed, the log goes on with the decisions that come, until the person ends it.
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

// The log shows as much of a session's id as distinguishes it from the others, and --session takes that.
func TestLogSessions(t *testing.T) {
	dir := t.TempDir()
	own := store.Open(dir)
	for _, session := range []string{"019a9f3c-1111-7000-8000-0000000000aa", "019a9f3c-1112-7000-8000-0000000000bb", "try", "", "019a9f3c-1112-7000-8000-0000000000bb"} {
		if err := own.AppendLog([]byte(`{"time":"2026-11-20T12:00:00Z","policy":"p","event":"Stop","session":"` + session + `","action":"stop","rule":"end","reason":"over"}`)); err != nil {
			t.Fatal(err)
		}
	}
	log := func(args ...string) string {
		var out strings.Builder
		a := &app{stdout: &out, stderr: &out, getenv: func(name string) string { return map[string]string{"RALPH_STATE_DIR": dir}[name] }}
		a.run(t.Context(), append([]string{"log", "--all"}, args...))
		return out.String()
	}
	column := func(text string) (sessions []string) {
		for line := range strings.Lines(text) {
			sessions = append(sessions, strings.Fields(strings.ReplaceAll(line, "time ", "date time "))[3])
		}
		return sessions
	}
	text := log()
	if diff := cmp.Diff([]string{"session", "019a9f3c-1111", "019a9f3c-1112", "try", "-", "019a9f3c-1112"}, column(text)); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, text)
	}
	if diff := cmp.Diff([]string{"session", "019a9f3c", "019a9f3c"}, column(log("--session", "019a9f3c-1112"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
