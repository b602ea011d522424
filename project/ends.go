package project

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// The results of ended loops and runs.
const (
	ResultDone    = "done"    // a success
	ResultStopped = "stopped" // a rule, or none, ended it
	ResultLimit   = "limit"   // a limit ended it
	ResultAsked   = "asked"   // a person ended it
	ResultFailed  = "failed"  // something kept it from working
)

// ending is an end of a run: its result, and what a person can do about it. The text names at most one command, which
// is true as it is printed: it changes the next end, or shows what must change first.
type ending struct {
	result string
	advice func(run.Info) string // nil if there is nothing to do
}

// endings returns every end of a run.
func endings() map[run.End]ending {
	resume := func(first, flags string) func(run.Info) string {
		return func(i run.Info) string { return first + "run `ralph run --resume=" + i.ID + flags + "` to continue" }
	}
	return map[run.End]ending{
		"":              {"", resume("", "")}, // killed
		run.Success:     {ResultDone, nil},
		run.Stopped:     {ResultStopped, why},
		run.AtLimit:     {ResultLimit, atLimit},
		run.NoProgress:  {ResultLimit, resume("", "")},
		run.NoReset:     {ResultLimit, func(i run.Info) string { return resume("", " --for "+shortly(untilReset(i)))(i) }},
		run.NoAccess:    {ResultFailed, func(i run.Info) string { return resume("sign in to "+i.Client+" or pay, then ", "")(i) }},
		run.TooManyFail: {ResultFailed, resume("make the agent work again, then ", "")},
		run.Cancelled:   {ResultAsked, resume("", "")},
		run.Failed:      {ResultFailed, resume("remove the cause, then ", "")},
	}
}

// why returns the command that shows why a policy ended a run. Resumed, the run would end again for the same reason.
func why(i run.Info) string {
	return "run `ralph explain --session " + run.Session(i.ID) + "` to see what the policy read"
}

// atLimit returns how to continue a run beyond a limit: with twice the limit of the run, or after a limit of a streak,
// which a resumed run begins again. Other limits of the policy end the resumed run too.
func atLimit(i run.Info) string {
	flag := ""
	switch l, t := i.Limits, i.Totals; i.Limit {
	case "iterations":
		flag = " --max " + strconv.Itoa(2*max(l.Iterations, t.Iterations))
	case "elapsed":
		flag = " --for " + shortly(2*max(l.Elapsed, t.Elapsed, time.Second))
	case "tokens":
		flag = " --budget " + strconv.Itoa(max(1, 2*max(l.Tokens, t.Tokens)/1000)) + "k"
	case "cost":
		flag = fmt.Sprintf(" --budget %.2fusd", 2*max(l.Cost, *cmp.Or(t.Cost, &l.Cost)))
	default:
		if i.Rule != "limits.continuations" && i.Rule != "limits.elapsed" {
			return "it ends again until you raise " + i.Rule + " in the policy " + Short(i.Policy)
		}
	}
	return "run `ralph run --resume=" + i.ID + flag + "` to continue"
}

// untilReset returns the time of a run that waits for the reset of its rate limit and then has its time again.
func untilReset(i run.Info) time.Duration {
	d := i.Totals.Elapsed + i.Limits.Elapsed
	if i.Resets != nil {
		d += max(0, i.Resets.Sub(i.Latest))
	}
	return d
}

// Result returns how a run ended, in one word.
func Result(e run.End) string { return cmp.Or(endings()[e].result, ResultFailed) } // an end of a later version too

// Advice returns what a person can do about an ended or killed run, or "". A run whose loop has ended is not resumed, and
// one whose loop is stopped only after its start.
func (p *Project) Advice(ctx context.Context, i run.Info) string {
	fruitless := i.Totals.Iterations == 0 && (i.Ended == run.Failed || i.Ended == run.Stopped)
	e := endings()[i.Ended]
	if e.advice == nil || fruitless {
		return ""
	}
	advice := e.advice(i)
	if !strings.Contains(advice, "--resume") {
		return advice
	}
	switch exists, stopped := p.loopOf(ctx, i); {
	case !exists:
		return ""
	case stopped:
		return "run `ralph start " + Short(i.Policy) + "` to continue the loop, then resume the run " + i.ID
	}
	return advice
}

// loopOf reports whether the loop of a run's policy exists or its policy has none, and whether it is stopped.
func (p *Project) loopOf(ctx context.Context, i run.Info) (exists, stopped bool) {
	if i.Root != p.dir {
		tree, err := Open(Config{Dir: i.Root, State: p.own.Dir(), Options: p.options, Env: p.env, Now: p.now})
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
	return now.exists(), now.verdict.Aside == rules.Stopped
}

// Bounds returns what ends every loop of the policy at the latest; most is the number of iterations that a start sets in
// the loop's file, or 0.
func (p Policy) Bounds(most int) string {
	l := p.Program.Limits()
	var ends []string
	if most > 0 {
		ends = append(ends, plural(most, "iteration")+" (--max)")
	}
	ends = append(ends, repeats(l)...)
	ends = append(ends, plural(l.Continuations, "continuation")+" per prompt", plural(l.Total, "continuation")+" per session")
	if l.Tokens > 0 {
		ends = append(ends, plural(l.Tokens, "token"))
	}
	return bounds(append(ends, shortly(l.Elapsed)))
}

// Bounds returns what ends the run at the latest.
func (r *Run) Bounds() string {
	l, own := r.policy.Program.Limits(), r.limits()
	ends := append([]string{plural(own.Iterations, "iteration")}, repeats(l)...)
	if n := min(l.Continuations, l.Total); n < own.Iterations {
		ends = append(ends, plural(n, "continuation"))
	}
	if own.Tokens > 0 {
		ends = append(ends, plural(own.Tokens, "token"))
	}
	if own.Cost > 0 {
		ends = append(ends, fmt.Sprintf("%.2f US dollars", own.Cost))
	}
	return bounds(append(ends, shortly(own.Elapsed)))
}

// limits returns the limits that end the run: those of the run and of its policy.
func (r *Run) limits() run.Limits {
	l, own := r.policy.Program.Limits(), r.runner.Limits()
	return run.Limits{Iterations: least(own.Iterations, l.Iterations), Elapsed: least(own.Elapsed, l.Elapsed), Tokens: least(own.Tokens, l.Tokens), Cost: least(own.Cost, l.Cost)}
}

// least returns the lower one of two limits, of which 0 is none.
func least[T cmp.Ordered](a, b T) T { return min(cmp.Or(a, b), cmp.Or(b, a)) }

// Advice returns what a person can do now that the run has ended, or "".
func (r *Run) Advice(ctx context.Context) string {
	info, err := run.Find(r.home.own.Dir(), r.runner.ID())
	if err != nil {
		return ""
	}
	return r.home.Advice(ctx, info)
}

func repeats(l rules.Limits) []string {
	if !l.HasRepeats {
		return nil
	}
	return []string{plural(l.Repeats, "continuation") + " without progress"}
}

// bounds returns the sentence about limits, of which the last is a time.
func bounds(ends []string) string {
	last := len(ends) - 1
	return "it ends at the latest after " + strings.Join(ends[:last], ", ") + " or " + ends[last]
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// shortly returns a duration without zero minutes and seconds: 24h.
func shortly(d time.Duration) string {
	s := d.Round(time.Second).String()
	for _, zero := range []string{"0s", "0m"} {
		if rest := strings.TrimSuffix(s, zero); rest != "" && strings.TrimRight(rest, "hm") != rest {
			s = rest
		}
	}
	return s
}
