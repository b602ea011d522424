package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A record has what was decided and why; of texts it has as much as is useful.
func TestRecord(t *testing.T) {
	dir := project(t, map[string]string{"s.json": `{"n": 1, "secret": "hunter2"}`})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var got loop.Record
	l := load(t, `
facts: {state: {json: s.json}}
progress: {done: state.n, total: 3}
rules:
  - {name: open, when: state.n == 1 and state.secret != "", continue: "`+strings.Repeat("é", 5000)+`", notice: seen}
`, loop.WithRoot(dir), loop.WithScope("tenant"), loop.WithClock(func() time.Time { return now }),
		loop.WithRecorder(func(_ context.Context, r loop.Record) error { got = r; return errors.New("disk full\n") }))
	d := decide(t, l, loop.Event{})
	if !d.Continue() || len(d.Reason) != 10000 || len(d.Log) != 1 || !strings.Contains(d.Log[0], `disk full\n`) {
		t.Errorf("the decision is %s with %d bytes, and the log %q", d.Outcome, len(d.Reason), d.Log)
	}
	if len(got.Reason) > 4100 || !strings.HasSuffix(got.Reason, "é…") {
		t.Errorf("the reason has %d bytes and ends with %q", len(got.Reason), got.Reason[len(got.Reason)-8:])
	}
	if got.Took < 0 || string(got.Progress) != `{"done":1,"total":3}` || got.Counts.Continuations != 1 {
		t.Errorf("the record has %+v", got)
	}
	b, err := json.Marshal(got)
	if err != nil || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("the record is %s, %v", b, err)
	}
	got.Reason, got.Took, got.Progress, got.Counts = "", 0, nil, rules.Memory{}
	want := loop.Record{
		Time: now, Session: "s", Scope: "tenant", Project: dir, Policy: "policy", Event: "Stop", Outcome: rules.Continued, Rule: "open", Notice: "seen",
		Rules: []rules.RuleTrace{{Name: "open", Truth: "true", Line: 6, Operands: []rules.OperandTrace{
			{Text: "state.n == 1", Truth: "true", Values: map[string]any{"state.n": 1}},
			{Text: `state.secret != ""`, Truth: "true", Values: map[string]any{"state.secret": "a text of 7 characters"}},
		}}},
		Facts: []rules.FactTrace{{Name: "state", Status: "ok", Path: "s.json"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
}

// A log has one line a decision, whatever the texts are and whichever process writes.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "decisions.jsonl")
	record := loop.Log(path)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := record(t.Context(), loop.Record{Policy: "p\n", Reason: "<a>\u2028\r\n"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := lines(t, path); len(got) != 160 || got[159].Policy != "p\n" {
		t.Errorf("the log has %d records", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the log is %v, %v", info.Mode(), err)
	}
}

func TestLogRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, strings.Repeat("\n", 8<<20)+`{"policy": "torn`)
	for range 2 {
		if err := loop.Log(path)(t.Context(), loop.Record{Policy: "new"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := lines(t, path); len(got) != 2 || len(content(t, path+".1")) < 8<<20 {
		t.Errorf("the new log has %d records", len(got))
	}
	write(t, path, `{"policy": "torn`)
	if err := loop.Log(path)(t.Context(), loop.Record{Policy: "new"}); err != nil || !strings.HasPrefix(content(t, path), "{\"policy\": \"torn\n{") {
		t.Errorf("after a torn line the log is %q, %v", content(t, path), err)
	}
}

func lines(t *testing.T, path string) (records []loop.Record) {
	t.Helper()
	for line := range strings.FieldsFuncSeq(content(t, path), func(r rune) bool { return r == '\n' }) { // blank lines do not count
		var r loop.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		records = append(records, r)
	}
	return records
}
