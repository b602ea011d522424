package looptest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Recorder tests a recorder. open gives an empty one and read, which gives what it has
// taken so far; read is nil if that cannot be read back.
func Recorder(t *testing.T, open func(t *testing.T) (r loop.Recorder, read func() []*loop.Record)) {
	t.Run("one", func(t *testing.T) {
		r, read := open(t)
		record := decision("1")
		before := asJSON(t, record)
		if err := r.Record(t.Context(), record); err != nil {
			t.Fatalf("Record fails: %v", err)
		}
		if after := asJSON(t, record); after != before {
			t.Errorf("the record was changed from\n%s\nto\n%s", before, after)
		}
		if read == nil {
			return
		}
		got := read()
		if len(got) != 1 {
			t.Fatalf("%d records are read back, want 1", len(got))
		}
		if back := asJSON(t, got[0]); back != before {
			t.Errorf("the record comes back as\n%s\nwant\n%s", back, before)
		}
	})
	t.Run("concurrent use", func(t *testing.T) {
		const goroutines, each = 8, 8
		r, read := open(t)
		var wg sync.WaitGroup
		for i := range goroutines {
			wg.Go(func() {
				for n := range each {
					if err := r.Record(t.Context(), decision(fmt.Sprintf("%d-%d", i, n))); err != nil {
						t.Errorf("Record fails: %v", err)
					}
				}
			})
		}
		wg.Wait()
		if read == nil {
			return
		}
		seen := map[string]bool{}
		for _, record := range read() {
			if seen[record.ID] {
				t.Errorf("the record %s is there twice", record.ID)
			}
			seen[record.ID] = true
		}
		if len(seen) != goroutines*each {
			t.Errorf("%d records are read back, want %d", len(seen), goroutines*each)
		}
	})
}

// decision is a record with a value in most fields.
func decision(id string) *loop.Record {
	r := &loop.Record{
		V: 1, ID: id, Time: time.Date(2026, 1, 2, 15, 4, 5, 123456789, time.UTC), Policy: "policy.yaml", Digest: "d", Root: "/project",
		Host: host.ClaudeCode, Event: vocab.Stop, Session: "s", Agent: "a", Turn: "t", Action: rules.Continue, Rule: "go", At: "policy.yaml:3:5",
		Reason: "go on", Applied: true,
		Limits: []rules.Limit{{Name: "total", At: 2, Of: 5000}}, Notices: []string{"a\nnotice"}, Notes: []string{"note"}, Noted: []string{"go"}, Log: []string{"[ralph] <log>"},
		Effects: []rules.Effect{{Kind: rules.SetEffect, Fact: "state", File: "state.json", Path: []any{"n", 0}, Old: "x", Value: []any{"y"}}},
		Tokens:  7, Cost: rules.Budget{Steps: 8}, Calls: map[string]any{`said("DONE")`: false}, Repeated: map[string]int{"go": 1}, Took: 10,
		Trace: rules.Trace{Steps: []*rules.Step{{Rule: "go", Outcome: rules.Holds, Took: time.Microsecond}}, Warnings: []string{"a warning"}},
	}
	r.Streak.Continuations, r.Streak.Total, r.Streak.Same = 1, 2, 1
	r.Streak.Progress, r.Streak.Before = "[3]", "[2]"
	r.Streak.Elapsed, r.Streak.Step = time.Minute, time.Second
	return r
}
