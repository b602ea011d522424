package looptest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Recorder tests a recorder. open returns an empty one and read, which returns what it has received; read is nil if
// that cannot be read back. Texts of up to 4 KiB must come back as they are, and longer ones may be cut.
func Recorder(t *testing.T, open func(t *testing.T) (r loop.Recorder, read func() []*loop.Record)) {
	const goroutines, each = 8, 8
	r, read := open(t)
	var all []*loop.Record
	want := map[string]string{}
	var wg sync.WaitGroup
	worst := worstRecords()
	for i := range goroutines {
		own := worst[i*len(worst)/goroutines : (i+1)*len(worst)/goroutines]
		for n := range each {
			own = append(slices.Clip(own), decision(fmt.Sprintf("%d-%d", i, n)))
		}
		for _, record := range own {
			want[record.ID] = asJSON(t, record)
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
		long(t, r)
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
	long(t, r)
}

// decision returns a record with a value in most fields.
func decision(id string) *loop.Record {
	r := &loop.Record{
		Head: loop.Head{
			V: 1, ID: id, Time: time.Date(2026, 1, 2, 15, 4, 5, 123456789, time.UTC), Policy: "policy.yaml", Digest: "d", Root: "/project",
			Host: host.ClaudeCode, Event: vocab.Stop, Session: "s", Agent: "a", Action: rules.Continue, Rule: "go", Reason: "go on",
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

// worstRecords returns records each of which has the worst legal strings in another field, as many bytes as the log keeps of a text.
func worstRecords() []*loop.Record {
	text := worstStrings[0] + worstStrings[1]
	return filled("worst", text+strings.Repeat("x", 4<<10-len(text)))
}

// filled returns records each of which has a text in another field, with a name and a number as their IDs.
func filled(name, text string) (all []*loop.Record) {
	for n := 0; ; n++ {
		r := decision(fmt.Sprint(name, n))
		if fill(r, n, text) == "" {
			return all
		}
		all = append(all, r)
	}
}

// long tests that a recorder takes a long text in each field, which it may cut.
func long(t *testing.T, r loop.Recorder) {
	for n, record := range filled("long", worstStrings[2]) {
		if err := r.Record(t.Context(), record); err != nil {
			t.Fatalf("Record of a text of 1 MiB in %s fails: %v", fill(new(loop.Record), n, "x"), err)
		}
	}
}
