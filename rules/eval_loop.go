package rules

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// head reports whether the policy applies to this event: its when, and its loop. An idle policy is silent, except if a
// loop exists that does not continue the session: that is reported once in the session.
func (ev *evaluation) head() bool {
	if !ev.isFor() {
		return false
	}
	l := ev.program.head.loop
	switch {
	case l == nil && ev.event.stopped:
		return ev.idle(Stopped, fmt.Sprintf("the policy %s was stopped; run `ralph start %[1]s` to continue it", ev.called()))
	case l == nil && ev.event.busy != "":
		return ev.idle(InRun, fmt.Sprintf("run %s of the policy %s is in progress; run `ralph stop %[2]s` to end it", ev.event.busy, ev.called()))
	case l == nil:
		return true
	}
	v, state, off := ev.verdict, l.info.State, ""
	if l.on != nil {
		s := &Step{}
		s.Pos, _ = l.on.place()
		v.Trace.On = s
		s.Outcome, s.Because = ev.test(l.on, s)
		switch gone := ev.slots[state.plan.sym.slot].seen && ev.got(state).Status == Missing; {
		case s.Outcome == No:
			off = "the loop is switched off: " + s.Because
		case s.Outcome != Holds && !gone:
			if s.Outcome == Broken {
				ev.report(sentencef("on: %s", ev.last.why))
			}
			off, v.Cause = "it is not known whether the loop is on: "+s.Because, ev.fault(s.Outcome)
		}
	}
	if off != "" && !ev.looking { // Look also reports a loop that is off
		return ev.idle(Off, off)
	}
	ev.need(state.plan.sym)
	g := ev.got(state)
	if g.Status == Missing && !g.defaulted {
		if !ev.gone(g) {
			why, start := g.sentence(), ev.startLine(false)
			file := ev.lacks(g)
			if file != nil {
				why = sentencef("%s is missing", masked(file.Path, file.masked))
			}
			if is := l.info.Argument; is == "prompt" || is == "name" && file != g { // what names the loop is missing
				start = ev.startLine(true)
			}
			if why = sentencef("no loop: %s", why); len(l.start) > 0 {
				why = sentencef("%s; run `%s` to start one", why, start)
			}
			if !g.Quiet {
				v.Cause = FaultFact
			}
			v.Private = why.private()
			ev.idle(NoLoop, why.full)
			v.Show = g.Found && ev.once(why.full)
			return false
		}
		v.Loop = &LoopInfo{Name: ev.verdict.Memory.Loop.Name, State: g.Path, Gone: true}
	} else {
		v.Loop = &LoopInfo{State: g.Path}
		v.Loop.Name = cut(oneLine(ev.render(l.name)), 60)
		if v.Loop.Name == "" {
			v.Loop.Name = g.Path
		}
	}
	var hidden sentence // why the owner of a usable state is unknown; rules can ask for one that is not usable
	if l.owner != nil && !v.Loop.Gone {
		switch owner, was := ev.value(l.owner); {
		case was == known:
			v.Loop.Owner, _ = owner.(string)
		case g.Status == OK && ev.last.lack != ordinary:
			hidden = sentencef("it is not known whose loop %s is: %s", v.Loop.Name, ev.last.why)
			ev.reportedBy(hidden)
		}
	}
	session := ev.session()
	switch name := v.Loop.Name; {
	case off != "":
		return ev.idle(Off, off)
	case ev.event.stopped:
		return ev.idle(Stopped, fmt.Sprintf("the loop %s was stopped; run `ralph start %s` to continue it", name, ev.called()))
	case ev.event.busy != "":
		return ev.idle(InRun, fmt.Sprintf("run %s continues the loop %s; run `ralph stop %s` to end it", ev.event.busy, name, ev.called()))
	case ev.event.untrusted != "":
		return ev.idle(Distrusted, fmt.Sprintf("%s holds a loop, which is not continued: %s", v.Loop.State, ev.event.untrusted))
	case hidden.full != "" && !ev.event.inRun:
		v.Cause, v.Private = FaultFact, hidden.private()
		return ev.idle(Foreign, hidden.full)
	case v.Loop.Owner != "" && v.Loop.Owner != session && !ev.event.inRun:
		how := ""
		if session != "" {
			how = fmt.Sprintf("; run `ralph start %s --session %s` to move it to this session", ev.called(), session)
		}
		return ev.idle(Foreign, fmt.Sprintf("the loop %s belongs to session %s%s", name, v.Loop.Owner, how))
	}
	return true
}

// startLine returns the command that starts a loop, with the place of its argument.
func (ev *evaluation) startLine(argument bool) string {
	line := "ralph start " + ev.called()
	if argument {
		line += " " + strings.ToUpper(ev.program.head.loop.info.Word)
	}
	return line
}

// called returns the policy's name for commands.
func (ev *evaluation) called() string {
	return cmp.Or(ev.event.policy, ev.program.Name)
}

// idle makes the verdict that of an event at which no rule is tried. A fault that was found before counts.
func (ev *evaluation) idle(a Cause, why string) bool {
	v := ev.verdict
	ev.untried, v.Cause, v.Reason = a, cmp.Or(v.Cause, a), why
	v.Show = a != NoLoop && a != Off && a != Stopped && ev.once(why)
	return false
}

// gone reports whether the session's last decision here had the loop, and its file has since been removed other than by
// ralph or by a pointer to another file.
func (ev *evaluation) gone(g *gathered) bool {
	last := ev.verdict.Memory.Loop
	return last != nil && ev.decides() && !ev.event.stopped && g.noFile() && g.Path == last.State
}

// lacks returns the fact whose missing file means that there is no loop: its state, or one in the path of the state.
func (ev *evaluation) lacks(state *gathered) *gathered {
	if state.noFile() {
		return state
	}
	for _, f := range ev.program.facts {
		if g := ev.got(f); ev.slots[f.plan.sym.slot].seen && g.Status == Missing && state.Path == "" && g.noFile() {
			return g
		}
	}
	return nil
}

// noFile reports whether a fact is missing because its file is.
func (g *gathered) noFile() bool { return g.Quiet && !g.Found && g.Path != "" }

// decides reports whether this event has a decision.
func (ev *evaluation) decides() bool { return !ev.event.prompt() && !ev.watches() && !ev.event.watch }

// missed reports whether a fact is the state of a removed loop.
func (ev *evaluation) missed(f *Fact) bool {
	return ev.verdict.Loop != nil && ev.verdict.Loop.Gone && ev.program.head.loop.info.State == f
}

// keepLoop records in the next memory which loop the session had.
func (ev *evaluation) keepLoop(m *Memory) (changed bool) {
	v := ev.verdict
	if ev.program.head.loop == nil || !ev.decides() || ev.untried != "" && ev.untried != NoLoop || v.Cause.Failed() && v.Loop == nil {
		return false
	}
	var now *LoopInfo
	if v.Loop != nil && !v.Loop.Gone && !ev.putsAway() {
		now = &LoopInfo{Name: v.Loop.Name, State: v.Loop.State}
	}
	if now == nil && m.Loop == nil || now != nil && m.Loop != nil && *now == *m.Loop {
		return false
	}
	m.Loop = now
	return true
}

// putsAway reports whether the verdict removes the file of the loop's state.
func (ev *evaluation) putsAway() bool {
	return slices.ContainsFunc(ev.verdict.Parts, func(p Part) bool {
		return slices.ContainsFunc(p.Effects, func(e Effect) bool {
			return (e.Kind == ArchiveEffect || e.Kind == DeleteEffect) && e.Fact == ev.program.head.loop.info.State.Name
		})
	})
}

// session returns the ID of the session, or "".
func (ev *evaluation) session() string {
	id, _ := ev.builtin(vocab.SessionID, false).(string)
	return id
}

// maxSeen is how many seen texts a session remembers.
const maxSeen = 200

// shows reports whether hosts show notices at this event.
func (ev *evaluation) shows() bool { return ev.decides() && !ev.passes() }

// once reports whether the session should see a text now, and remembers it: the first time, in a session, and only at
// events that show notices.
func (ev *evaluation) once(text string) bool {
	m, mark := &ev.verdict.Memory, digest(text)
	switch {
	case !ev.shows():
		return false
	case ev.session() == "":
		return true
	case slices.Contains(m.Seen, mark):
		return false
	}
	seen := append(slices.Clone(m.Seen), mark)
	m.Seen, ev.verdict.Changed = seen[max(0, len(seen)-maxSeen):], true
	return true
}

// lastNotice reports whether to show the notice of a stop: not if it equals the session's last one, unless the policy
// continued the session in between.
func (ev *evaluation) lastNotice(text string) bool {
	if text == "" || !ev.shows() || ev.session() == "" {
		return true
	}
	m, mark := &ev.verdict.Memory, digest(text)
	if m.Notice == mark {
		return false
	}
	m.Notice, ev.verdict.Changed = mark, true
	return true
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// oneLine returns the words of a text on one line, without control characters.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
}

// Look returns what a decision would find of the loop, and its progress: it evaluates the head of the policy and tries
// no rule. The result is in the verdict's Loop, Cause, Reason, Problems and Measure; nothing is remembered. For a
// loop whose state is missing, the trace of [TraceFull] has the file.
func (p *Program) Look(ctx context.Context, f Facts, o Options) *Verdict {
	return p.eval(ctx, f, &o, func(ev *evaluation) {
		ev.looking = true
		if ev.head() || ev.verdict.Loop != nil {
			ev.complete()
		}
	})
}

// HeadFiles returns the files that identify a project of the policy: those of the facts that its head reads, if their
// paths depend on neither an event nor another file.
func (p *Program) HeadFiles() (files []string) {
	p.eval(context.Background(), values(nil), &Options{}, func(ev *evaluation) {
		seen := map[*symbol]bool{}
		var look func(root *cond)
		look = func(root *cond) {
			readBy(root, seen, func(s *symbol) {
				if s.fact == nil || !s.fact.Source.File || s.fact.Source.Argument == argumentPattern || len(s.fact.plan.handed) == 0 {
					return
				}
				path, problem, _ := ev.argument(s.fact.plan.handed[0].path)
				if problem.full == "" && !strings.HasPrefix(path, "~") && !slices.Contains(files, path) {
					files = append(files, path)
				}
				for _, seg := range s.fact.segments() {
					look(seg.placeholder)
				}
			})
		}
		look(ev.program.head.when)
		if l := ev.program.head.loop; l != nil {
			look(l.on)
			look(&cond{op: leaf, operand: &operand{uses: uses{syms: []*symbol{l.info.State.plan.sym}}}})
			look(l.owner)
		}
	})
	return files
}
