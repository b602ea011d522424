package run

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"
)

// backoff returns the delay before retry n: 10 s, 20 s, 40 s … up to ten minutes, each with a random addition, so that
// runs that failed together do not retry together.
func backoff(n int) time.Duration {
	d := 10 * time.Second
	for i := 1; i < n && d < 10*time.Minute; i++ {
		d *= 2
	}
	d = min(d, 10*time.Minute)
	return d + rand.N(d/10)
}

// wait waits until a time, and reports why. It returns early with an error if the run is interrupted or its time is
// over.
func (r *Runner) wait(ctx context.Context, until time.Time, why string) error {
	if last := r.over(); until.After(last) {
		until = last
	}
	if err := r.say(Event{Kind: Waiting, Iteration: r.progress.Iterations, Until: &until, Why: why}); err != nil {
		return err
	}
	return r.sleep(ctx, until)
}

// sleep returns at a time, or earlier with an error if the run should end.
func (r *Runner) sleep(ctx context.Context, until time.Time) error {
	for left := until.Sub(r.clock.now()); left > 0; left = until.Sub(r.clock.now()) {
		if err := r.tick(ctx, min(left, poll)); err != nil {
			return err
		}
	}
	return nil
}

// await is a rule that waits.
type await struct {
	Rule  string        `json:"rule"`
	For   string        `json:"for"` // what it waits for
	Until time.Time     `json:"until"`
	Every time.Duration `json:"every_ns"`
}

// await waits for what a rule waits for: it evaluates the rule's until again and again, until the policy has to decide. Nothing
// is recorded meanwhile.
func (r *Runner) await(ctx context.Context) error {
	w, last := r.progress.Await, r.over()
	for said := false; ; {
		if err := r.waitWhilePaused(ctx); err != nil {
			return err
		}
		if !said {
			if err := r.say(Event{Kind: Waiting, Iteration: r.progress.Iterations, Until: &w.Until, Why: w.For}); err != nil {
				return err
			}
		}
		next := r.clock.now().Add(w.Every)
		for _, end := range []time.Time{w.Until, last} {
			if end.Before(next) {
				next = end
			}
		}
		if err := r.sleep(ctx, next); err != nil {
			return err
		}
		if said = r.user.control() != Pause; !said {
			continue
		}
		now := r.clock.now()
		waits := now.Before(w.Until)
		if waits {
			yet, err := r.loop.Awaits(ctx, r.stop(), w.Rule)
			if ctx.Err() != nil {
				return r.user.interrupted(ctx)
			}
			waits = yet && err == nil // otherwise the decision reports why
		}
		switch {
		case !waits:
			r.progress.Phase = deciding
			return nil
		case !now.Before(last):
			return &ended{end: StillWaits, rule: w.Rule, limit: "elapsed", why: w.For}
		}
	}
}

// poll is how often a waiting run checks its control.
const poll = time.Second

// tick waits for d, and returns an error if the run should end.
func (r *Runner) tick(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.user.interrupt:
	case <-ctx.Done():
	}
	return r.user.interrupted(ctx)
}

// waitAfterFailure waits before the agent is started again: until a rate limit resets, or with growing delays if the
// client does not report when.
func (r *Runner) waitAfterFailure(ctx context.Context) error {
	p := &r.progress
	if p.Limited == 0 {
		return r.wait(ctx, r.clock.now().Add(r.clock.backoff(p.Crashes)), "the agent failed")
	}
	at := p.ResetsAt
	if at.After(r.over()) {
		e := endf(NoReset, "the rate limit resets at %s, after the time of the run is over", at.Local().Format(time.DateTime))
		e.resets = &at
		return e
	}
	if least := r.clock.now().Add(r.clock.backoff(p.Limited)); at.Before(least) { // even if the client reports an earlier reset
		at = least
	}
	return r.wait(ctx, at, "the rate limit of the client is reached")
}

// waitWhilePaused waits until the user resumes the run, or its time is over.
func (r *Runner) waitWhilePaused(ctx context.Context) error {
	for said := false; r.user.control() == Pause && r.over().After(r.clock.now()); said = true {
		if !said {
			if err := r.say(Event{Kind: Waiting, Iteration: r.progress.Iterations, Why: "loops are paused in this project; run `ralph resume` in another terminal to continue"}); err != nil {
				return err
			}
		}
		if err := r.tick(ctx, poll); err != nil {
			return err
		}
	}
	return nil
}

// maxShort bounds how much of a string short reads.
const maxShort = 4 << 10

// short returns the beginning of s on one line.
func short(s string) string {
	const most = 200
	s = strings.TrimSpace(s)
	s = s[:min(len(s), maxShort)]
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
