package simulate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// What an iteration uses.
const (
	tokensOfIteration = 10_000
	costOfIteration   = 0.1
)

// maxCrashes is how often in a row an agent may crash, as in ralph run.
const maxCrashes = 3

// iteration is where a run of ralph run stands.
type iteration struct {
	n       int
	outcome string
	began   time.Time
}

// iterations is run with the iterations of ralph run: one turn, in which each of them has a session of its own. Before the
// first one the policy is asked for its prompt.
func (s *session) iterations(ctx context.Context) (*Report, error) {
	r := &s.report
	s.iteration.began = s.now
	d, crashes := s.decide(ctx, ""), 0
	s.note(1, 0, "the run begins", d)
	for d.Verdict.Action == rules.Continue {
		if r.Most = s.iteration.n; r.Most >= s.options.MaxStops {
			r.Ended = false
			return r, ctx.Err()
		}
		s.now = s.now.Add(s.options.Step)
		s.iteration.n++
		if err := os.Remove(s.transcript()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err := s.say("user", false, d.Verdict.Reason); err != nil {
			return nil, err
		}
		did, words, err := s.agent.act()
		if err == nil && words != "" {
			err = s.say("assistant", false, words)
		}
		if err == nil {
			err = s.age()
		}
		if err != nil {
			return nil, err
		}
		s.iteration.outcome = s.agent.outcome()
		d = s.decide(ctx, words)
		s.note(1, s.iteration.n, did, d)
		r.Stops[len(r.Stops)-1].Outcome = s.iteration.outcome
		if crashes++; s.iteration.outcome != "crashed" {
			crashes = 0
		}
		if crashes == maxCrashes {
			r.Crashed = true
			break
		}
	}
	r.Most, r.Last = s.iteration.n, ""
	if d.Verdict.Action == rules.Stop {
		r.Last = d.Verdict.Rule
	}
	return r, ctx.Err()
}

// decide asks the policy after an iteration.
func (s *session) decide(ctx context.Context, words string) *loop.Decision {
	d, _ := s.loop.Apply(ctx, s.loop.Decide(ctx, s.event(host.Stop, 1, s.iteration.n, words))) // the error is in d
	s.agent.see(d)
	return d
}

// name answers run.NAME.
func (i iteration) name(name string, now time.Time) any {
	switch name {
	case "run.outcome":
		return i.outcome
	case "run.iteration":
		return i.n
	case "run.elapsed":
		return now.Sub(i.began)
	case "run.tokens":
		return i.n * tokensOfIteration
	case "run.cost":
		return float64(i.n) * costOfIteration
	case "run.exit_code":
		if i.outcome == "crashed" {
			return 1
		}
	case "run.session_id":
		if i.n > 0 {
			return "iteration-" + strconv.Itoa(i.n)
		}
	}
	return nil
}

// outcome is how the agent's iteration ended. One that does now this, now that also meets what the policy is asked about.
func (a *agent) outcome() string {
	others := []string{"turn_limit", "context_overflow", "budget", "timeout"}
	switch {
	case a.crashed:
		return "crashed"
	case a.kind == Random && a.rand.IntN(2) == 0:
		return others[a.rand.IntN(len(others))]
	}
	return "ok"
}
