package loop_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
)

// A wait lasts over the decisions of a session, counts nothing, and is recorded. Awaits records and counts nothing.
func TestWait(t *testing.T) {
	dir, now, log := t.TempDir(), time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), &looptest.Records{}
	l := load(t, `ralph: 1
facts: {ci: {text: ci.txt}}
rules:
  - {name: ci, when: ok(ci), wait: CI is running, until: ci == "done", for: 30m}
  - {name: late, when: waited, stop: CI takes too long}
  - {name: next, continue: Go on}
`, loop.WithRoot(dir), loop.WithStore(loop.InMemory()), loop.WithRecorder(log), loop.WithClock(func() time.Time { return now }))
	ev := host.Event{SessionID: "s1"}
	type step struct {
		after   time.Duration
		ci      string
		outcome loop.Outcome
		rule    string
		streak  int           // before it
		waited  time.Duration // before it
	}
	begin := now
	for _, want := range []step{
		{0, "", loop.Continued, "next", 0, 0},
		{1 * time.Minute, "queued", loop.Waiting, "ci", 1, 0},
		{21 * time.Minute, "running", loop.Waiting, "ci", 1, 20 * time.Minute},
		{22 * time.Minute, "done", loop.Continued, "next", 1, 21 * time.Minute},
		{23 * time.Minute, "running", loop.Waiting, "ci", 2, 0}, // after a continuation
		{53 * time.Minute, "running", loop.Stopped, "late", 2, 30 * time.Minute},
		{54 * time.Minute, "running", loop.Waiting, "ci", 0, 0},
	} {
		now = begin.Add(want.after)
		if want.ci != "" {
			if err := os.WriteFile(filepath.Join(dir, "ci.txt"), []byte(want.ci), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(filepath.Join(dir, "ci.txt"), begin.Add(-time.Hour), begin.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		records := len(log.All())
		waits, err := l.Awaits(t.Context(), ev, "ci")
		if err != nil || waits != (want.ci != "done") || len(log.All()) != records {
			t.Errorf("after %s: it waits: %v, error %v, %d records", want.after, waits, err, len(log.All())-records)
		}
		d, err := l.Run(t.Context(), ev)
		if err != nil {
			t.Fatal(err)
		}
		all := log.All()
		r := all[len(all)-1]
		got := step{want.after, want.ci, d.Outcome(), r.Rule, r.Streak.Continuations, r.Streak.Waited["ci"]}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if (r.Wait != nil) != (r.Outcome() == loop.Waiting) {
			t.Errorf("after %s the record has the wait %+v", want.after, r.Wait)
		}
	}
}
