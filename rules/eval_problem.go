package rules

import (
	"cmp"
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// reported is a problem with its fact, nil if there is none.
type reported struct {
	Problem
	of   *Fact
	last bool // it ends the loop: shown like the notice of a stop rule
}

// report adds a problem for the user that no rule reports.
func (ev *evaluation) report(message sentence) { ev.reportProblem(problemOf(message), nil) }

// problemOf returns a problem that is only a sentence.
func problemOf(r sentence) Problem { return Problem{Text: r.full, Private: r.private()} }

func (ev *evaluation) reportProblem(p Problem, of *Fact) {
	ev.meter.charge(1 + len(ev.problems)/8 + len(p.Text)/madeBytes) // it is compared with all previous ones
	if !slices.ContainsFunc(ev.problems, func(q reported) bool { return q.Text == p.Text }) {
		ev.problems = append(ev.problems, reported{Problem: p, of: of})
	}
}

// reportInstead adds a problem instead of those that it ends with.
func (ev *evaluation) reportInstead(why sentence, last bool) {
	ev.reportedBy(why)
	ev.problems = append(ev.problems, reported{Problem: problemOf(why), last: last})
}

// reportEnd reports an end that was not asked for and is not a success, where the policy had continued in this streak or
// a limit ends it, unless the rule that stops has a notice. A run reports its own end.
func (ev *evaluation) reportEnd() {
	v := ev.verdict
	switch {
	case v.Action != Stop && v.Action != Wait, v.Success, ev.untried == Stopped, ev.untried == InRun: // no end, or one that was asked for
	case v.Memory.Streak == 0 && v.Bound == "", ev.event.inRun, !ev.shows():
	case ev.untried != "":
		if v.Show = ev.lastNotice(v.Reason) || v.Show; v.Show {
			ev.reportedBy(public(v.Reason))
		}
		if had := v.Memory.Loop; ev.untried == NoLoop && had != nil {
			v.Loop = &LoopInfo{Name: had.Name, State: had.State, Gone: true}
		}
	case slices.ContainsFunc(ev.problems, func(p reported) bool { return p.last }):
	case v.Rule != "" && slices.ContainsFunc(v.Parts, func(p Part) bool { return p.Rule == v.Rule && p.Notice != "" }):
	default:
		if v.Action == Wait {
			ev.reportInstead(sentencef("the loop waits: %s", masked(cmp.Or(v.Reason, "the rule "+v.Rule), v.Private)), true)
			return
		}
		why := "no rule of the policy continues"
		if v.Rule != "" {
			why = "the rule " + v.Rule + " stops the agent"
		}
		ev.reportInstead(sentencef("the loop ends here: %s", masked(cmp.Or(v.Reason, why), v.Private)), true)
	}
}

// settle adds the problems to the verdict, without those that a shown text contains, and marks those that the session
// has seen.
func (ev *evaluation) settle() {
	ev.reportFacts()
	for _, p := range ev.problems {
		if p.of != nil && slices.Contains(ev.explained, p.of) {
			continue
		}
		if p.last {
			p.Seen = !ev.lastNotice(p.Text)
		} else {
			p.Seen = !ev.once(p.Text)
		}
		ev.verdict.Problems = append(ev.verdict.Problems, p.Problem)
	}
}

// reportField reports a field that cannot be used as it is written.
func (ev *evaluation) reportField(f *Fact, w schema.Violation, text sentence) {
	p := problemOf(text)
	g := ev.got(f)
	p.Fact, p.Field = f.Name, w.Pointer
	if !g.masked {
		p.File, p.Pos = g.Path, Pos{File: g.Path, Line: w.Line, Col: w.Col}
	}
	ev.reportProblem(p, f)
}

// reportFact reports a problem of a fact.
func (ev *evaluation) reportFact(f *Fact, text sentence) {
	p := problemOf(text)
	p.Fact, p.File = f.Name, ev.got(f).Path
	if ev.got(f).masked {
		p.File = ""
	}
	ev.reportProblem(p, f)
}

// reportFacts reports facts that could not be used, or not as written.
func (ev *evaluation) reportFacts() {
	for i, f := range ev.program.facts {
		g := &ev.gotten[i]
		switch {
		case g.Status == Missing && (!g.Quiet || f.Source.given()), g.Status == Invalid, g.Status == Withheld:
			ev.reportFact(f, sentencef("%s: %s", f.Name, g.sentence()))
		case g.Status == OK && g.Problem != "" && (f.Options["lenient"] == true || f.Source.Argument == argumentPattern):
			ev.reportFact(f, sentencef("%s: %s", f.Name, g.problem)) // each line begins with the path
		}
	}
}
