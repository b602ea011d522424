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

// Recorder tests a recorder. open returns an empty one and read, which returns what it has received; read is nil if
// that cannot be read back.
func Recorder(t *testing.T, open func(t *testing.T) (r loop.Recorder, read func() []*loop.Record)) {
	const goroutines, each = 8, 8
	r, read := open(t)
	var all []*loop.Record
	want := map[string]string{}
	var wg sync.WaitGroup
	for i := range goroutines {
		own := make([]*loop.Record, each)
		for n := range own {
			own[n] = decision(fmt.Sprintf("%d-%d", i, n))
			want[own[n].ID] = asJSON(t, own[n])
		}
		all = append(all, own...)
		wg.Go(func() {
			for _, record := range own {
				if err := r.Record(t.Context(), record); err != nil {
					t.Errorf("Record fails: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for _, record := range all {
		if got := asJSON(t, record); got != want[record.ID] {
			t.Errorf("the record %s was changed to\n%s\nfrom\n%s", record.ID, got, want[record.ID])
		}
	}
	if read == nil {
		return
	}
	for _, record := range read() {
		if got := asJSON(t, record); got != want[record.ID] {
			t.Errorf("the record %s comes back as\n%s\nwant, once,\n%s", record.ID, got, want[record.ID])
		}
		delete(want, record.ID)
	}
	if len(want) > 0 {
		t.Errorf("%d records of %d do not come back", len(want), len(all))
	}
}

// decision returns a record with a value in most fields.
func decision(id string) *loop.Record {
	r := &loop.Record{
		Head: loop.Head{
			V: 1, ID: id, Time: time.Date(2026, 1, 2, 15, 4, 5, 123456789, time.UTC), Policy: "policy.yaml", Digest: "d", Root: "/project",
			Host: host.ClaudeCode, Event: vocab.Stop, Session: "s", Agent: "a", Action: rules.Continue, Rule: "go", Reason: "go on" + worstStrings[0] + worstStrings[1],
			Limits: []rules.Limit{{Name: "total", At: 2, Of: 5000}}, Notices: []string{"a\nnotice"}, Notes: []string{"note"}, Noted: []string{"go"},
			Effects: []rules.Effect{{Kind: rules.SetEffect, Fact: "state", File: "state.json", Path: []any{"n", 0}, Old: "x", Value: []any{"y"}}},
			Tokens:  7, Took: 10,
		},
		Turn: "t", At: "policy.yaml:3:5", Kept: true, Log: []string{"[ralph] <log>"}, Cost: rules.Budget{Steps: 8},
		Calls: map[string]any{`said("DONE")`: false}, Repeated: map[string]int{"go": 1},
		Trace: rules.Trace{Steps: []*rules.Step{{Rule: "go", Outcome: rules.Holds, Took: time.Microsecond}}, Warnings: []string{"a warning"}},
	}
	r.Streak.Continuations, r.Streak.Total, r.Streak.Same = 1, 2, 1
	r.Streak.Progress, r.Streak.Before = "[3]", "[2]"
	r.Streak.Elapsed, r.Streak.Step = time.Minute, time.Second
	return r
}
