package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
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
