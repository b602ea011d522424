package project

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// ending is an end of a run: its outcome, and what a person can do about it.
type ending struct {
	outcome loop.Outcome
	advice  advice // nil if there is nothing to do
}

// advice says what to do about an end, and whether that resumes the run. The text names at most one command, which is true
// as it is printed: it changes the next end, or shows what must change first.
type advice func(run.Info) (text string, resumes bool)

// resume returns the advice to resume the run with flags, and what to do first.
func resume(first, flags string) advice {
	return func(i run.Info) (string, bool) {
		return first + "run `ralph run --resume=" + i.ID + flags + "` to continue", true
	}
}

// endings returns every end of a run.
func endings() map[run.End]ending {
	return map[run.End]ending{
		"":              {loop.Lost, resume("", "")}, // killed
		run.Success:     {loop.Done, nil},
		run.Stopped:     {loop.Stopped, why},
		run.Asked:       {loop.Asked, answer},
		run.Denied:      {loop.Asked, resume("allow it or take the tool away, then ", "")},
		run.StillWaits:  {loop.Waiting, atLimit},
		run.AtLimit:     {loop.Limited, atLimit},
		run.NoProgress:  {loop.Limited, resume("", "")},
		run.NoReset:     {loop.Limited, func(i run.Info) (string, bool) { return resume("", " --for "+seconds(untilReset(i)))(i) }},
		run.NoAccess:    {loop.Failed, func(i run.Info) (string, bool) { return resume("sign in to "+i.Client+" or pay, then ", "")(i) }},
		run.TooManyFail: {loop.Failed, resume("make the agent work again, then ", "")},
		run.TooManyLost: {loop.Lost, resume("find out what ended the iterations, then ", "")},
		run.Cancelled:   {loop.Asked, resume("", "")},
		run.Failed:      {loop.Failed, resume("remove the cause, then ", "")},
	}
}

// answer returns how to answer the question of a run.
func answer(i run.Info) (string, bool) {
	return "run `ralph run --resume=" + i.ID + " --answer TEXT` to answer", true
}

// why returns the command that shows why a policy ended a run. Resumed, the run would end again for the same reason.
func why(i run.Info) (string, bool) {
	return "run `ralph explain --session " + run.Session(i.ID) + "` to see what the policy read", false
}

// atLimit returns how to continue a run beyond a limit: with twice the limit of the run, or after a limit of a streak,
// which a resumed run begins again. Other limits of the policy end the resumed run too.
func atLimit(i run.Info) (string, bool) {
	flag := ""
	switch l, t := i.Limits, i.Totals; i.Limit {
	case "iterations":
		flag = " --max " + strconv.Itoa(2*max(l.Iterations, t.Iterations))
	case "elapsed":
		flag = " --for " + seconds(2*max(l.Elapsed, t.Elapsed, time.Second))
	case "tokens":
		flag = " --budget " + strconv.Itoa(max(1, 2*max(l.Tokens, t.Tokens)/1000)) + "k"
	case "cost":
		flag = fmt.Sprintf(" --budget %.2fusd", 2*max(l.Cost, *cmp.Or(t.Cost, &l.Cost)))
	case "window":
		return resume("once the usage window resets, ", "")(i)
	default:
		if i.Rule != "limits.continuations" && i.Rule != "limits.elapsed" {
			return "it ends again until you raise " + i.Rule + " in the policy " + Short(i.Policy), false
		}
	}
	return resume("", flag)(i)
}

func seconds(d time.Duration) string { return amount.Time(d.Round(time.Second)) }

// untilReset returns the time of a run that waits for the reset of its rate limit and then has its time again.
func untilReset(i run.Info) time.Duration {
	d := i.Totals.Elapsed + i.Limits.Elapsed
	if i.Resets != nil {
		d += max(0, i.Resets.Sub(i.Latest))
	}
	return d
}

// RunState returns what a run does or how it ended in one word, which is running or a [loop.Outcome], and why.
func RunState(i run.Info) (word, why string) {
	switch {
	case i.Ended != "":
		return string(Outcome(i.Ended)), i.Why
	case !i.Running:
		return string(loop.Lost), "the run was killed"
	case i.Waiting != "":
		return string(loop.Waiting), i.Waiting
	}
	return "running", ""
}

// Outcome returns how a run ended; a run without an end was killed.
func Outcome(e run.End) loop.Outcome { return cmp.Or(endings()[e].outcome, loop.Failed) } // an end of a later version too

// Cause returns why a run ended.
func Cause(i run.Info) rules.Cause {
	switch i.Ended {
	case "", run.Success:
		return ""
	case run.AtLimit, run.StillWaits:
		return rules.Cause(cmp.Or(i.Limit, strings.TrimPrefix(i.Rule, "limits.")))
	case run.Stopped:
		if i.Rule == "" {
			return "no_rule"
		}
		return ""
	}
	return rules.Cause(i.Ended)
}

// Advice returns what a person can do about an ended or killed run, or "". A run whose loop has ended is not resumed, and
// one whose loop is stopped only after its start.
func (p *Project) Advice(ctx context.Context, i run.Info) string {
	fruitless := i.Totals.Iterations == 0 && (i.Ended == run.Failed || i.Ended == run.Stopped)
	e := endings()[i.Ended]
	if e.advice == nil || fruitless {
		return ""
	}
	text, resumes := e.advice(i)
	if !resumes {
		return text
	}
	switch exists, stopped := p.loopOf(ctx, i); {
	case !exists:
		return ""
	case stopped:
		return "run `ralph start " + Short(i.Policy) + "` to continue the loop, then resume the run " + i.ID
	}
	return text
}

// loopOf reports whether the loop of a run's policy exists or its policy has none, and whether it is stopped.
func (p *Project) loopOf(ctx context.Context, i run.Info) (exists, stopped bool) {
	if i.Labels[labelUntil] != "" {
		return true, false
	}
	if i.Root != p.dir {
		tree, err := p.at(i.Root)
		if err != nil {
			return true, false // to resume it reports why
		}
		defer tree.Close()
		p = tree
	}
	policy, err := p.policy(ctx, i.Policy)
	if err != nil || policy.Program == nil || policy.Program.Loop() == nil {
		return true, false
	}
	now, err := p.look(ctx, policy, "")
	if err != nil {
		return true, false
	}
	return now.exists(), now.verdict.Cause == rules.Stopped
}

// Advice returns what a person can do now that the run has ended, or "".
func (r *Run) Advice(ctx context.Context) string {
	info, err := run.Find(ctx, r.home.kept, r.home.scope, r.runner.ID())
	if err != nil {
		return ""
	}
	return r.home.Advice(ctx, info)
}
