package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run"
)

// On a terminal, one line shows the current iteration, and its time advances without
// events.
func TestRunViewOnATerminal(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ticks, notes := make(chan time.Time), make(chan string)
	var out strings.Builder
	v := &runView{out: withOutlet(&screen{to: &out}, nil), errs: &out, max: 5, bounds: "it ends after 5", feed: feed{tick: ticks, notes: notes}}
	v.live = func() int { // it becomes narrow
		if v.seen.at.Before(start.Add(20 * time.Second)) {
			return 100
		}
		return 44
	}
	v.begin(func() {})
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	done, total, until := 3.0, 10.0, at(60)
	v.event(run.Event{Kind: run.RunStart, Seq: 1, Time: start, Run: "id", Policy: "p", Client: "generic", Args: []string{"agent"}})
	v.event(run.Event{Kind: run.VerdictMade, Seq: 2, Time: start, Done: &done, Total: &total})
	v.event(run.Event{Kind: run.IterationStart, Seq: 3, Time: start, Iteration: 1})
	v.event(run.Event{Kind: run.AgentOutput, Time: start, Iteration: 1, Shown: "reads\x1b[2J a file"})
	ticks <- at(7)
	notes <- "it ends"
	totals := run.Totals{Iterations: 1, Elapsed: 8 * time.Second, Tokens: 1200, Outcomes: map[run.Outcome]int{run.OK: 1, run.RateLimited: 2, run.Crashed: 2}}
	v.event(run.Event{Kind: run.IterationEnd, Seq: 4, Time: at(8), Iteration: 1, Outcome: run.OK, Totals: totals})
	v.event(run.Event{Kind: run.Waiting, Seq: 5, Time: at(8), Until: &until, Why: "the rate limit"})
	ticks <- at(20)
	v.event(run.Event{Kind: run.RunEnd, Seq: 6, Time: at(21), Run: "id", Ended: run.AtLimit, Why: "1 of 1", Totals: totals})
	v.close()
	var got []string
	for line := range strings.SplitSeq(out.String(), "\r\x1b[2K") {
		if line != "" && (len(got) == 0 || got[len(got)-1] != line) {
			got = append(got, line)
		}
	}
	want := []string{
		"run id started: agent, policy p, client generic\n  it ends after 5\n",
		"iteration 1 of 5 · 0s · ███░░░░░░░ 3 of 10 done",
		"iteration 1 of 5 · 0s · ███░░░░░░░ 3 of 10 done · reads\\x1b[2J a file",
		"iteration 1 of 5 · 7s · ███░░░░░░░ 3 of 10 done · reads\\x1b[2J a file",
		"ralph: it ends\n",
		"iteration 1 of 5 · 7s · ███░░░░░░░ 3 of 10 done · reads\\x1b[2J a file",
		"iteration 1 is done (8s, 1.2k tokens in all)\nwaiting until " + until.Local().Format(time.TimeOnly) + ": the rate limit\n",
		"waiting, 52s left · 8s, 1.2k tokens · ███░░░░░░░ 3 of 10 done",
		"waiting, 40s left · 20s, 1.2k tokens · ███…",
		"limit: 1 of 1\n1 iteration; 8s, 1.2k tokens; 3 of 10 done\noutcomes: 2 crashed, 2 rate_limited, 1 ok\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got)\n%s", diff)
	}
}

func TestClosing(t *testing.T) {
	for _, tt := range []struct {
		end       run.End
		why, want string
	}{
		{run.Stopped, "all done", "stopped: all done"},
		{run.Stopped, "", "stopped"},
		{run.Success, "done", "done"},
		{run.Success, "doneness is 1", "done: doneness is 1"},
		{run.NoProgress, "no progress in 3 continuations (limits.repeats)", "limit: no progress in 3 continuations (limits.repeats)"},
		{"later", "of another version", "failed: of another version"},
	} {
		if got := closing(run.Event{Ended: tt.end, Why: tt.why}); got != tt.want {
			t.Errorf("closing(%s, %q) = %q, want %q", tt.end, tt.why, got, tt.want)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 0, 0, 0, time.Local)
	for at, want := range map[time.Time]string{
		now.Add(30 * time.Minute): "23:30:00", now.Add(2 * time.Hour): "2026-03-02 01:00:00", now.AddDate(1, 0, 0): "2027-03-01 23:00:00",
	} {
		if got := clock(at, now); got != want {
			t.Errorf("%s is shown as %q, want %q", at, got, want)
		}
	}
}
