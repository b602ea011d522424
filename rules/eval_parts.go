package rules

import (
	"cmp"
	"strings"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// reportParts evaluates the texts and effects of the verdict's rules.
func (ev *evaluation) reportParts(prompt bool) {
	v := ev.verdict
	for _, r := range ev.parts {
		if v.Bound != "" && (r.Verb == verbContinue || len(r.then) > 0) {
			continue // its continuation does not happen, nor do its parts
		}
		if ev.gathering.noting = r.Verb == verbNote; ev.gathering.noting && v.Action == Continue && ev.wouldWait(&r.says) {
			continue
		}
		ev.here.rule = r
		v.Parts = append(v.Parts, Part{Rule: r.Name})
		part := &v.Parts[len(v.Parts)-1]
		ev.here.quoted = false
		if !prompt {
			var broken sentence
			if part.Effects, broken = ev.effects(r); broken.full != "" {
				v.Action, v.Cause, v.Parts, v.Bound, v.Success, v.Wait = Stop, FaultRule, nil, "", false, nil
				v.Rule, v.Pos = r.Name, r.Pos
				why := sentencef("its effects could not be evaluated: %s", broken)
				v.Reason, v.Private = why.full, why.private()
				ev.reportInstead(sentencef("rule %s: %s", r.Name, broken), true)
				return
			}
		}
		if r.Verb == verbNote {
			part.Note = ev.shownText(r.says.text)
			if prompt { // it goes to the agent
				part.Note = ev.capped(r, part.Note)
			} else {
				part.Note = escape.Person(part.Note)
			}
		}
		part.Notice = escape.Person(ev.shownText(r.says.notice))
		if r.Verb == verbAsk && !ev.event.inRun { // a run shows the question as its end
			part.Notice = strings.TrimSpace(v.Reason + "\n" + part.Notice)
			ev.here.quoted = ev.here.quoted || v.Private
		}
		part.Seen = r.stops() && r.Verb != verbAsk && !ev.lastNotice(part.Notice)
		part.Log = escape.Person(ev.render(r.says.log))
		part.Private = ev.here.quoted
	}
	ev.gathering.noting = false
}

// effects evaluates a rule's changes. broken says why the verdict cannot be followed.
func (ev *evaluation) effects(r *Rule) (out []Effect, broken sentence) {
	for _, e := range r.then {
		eff, skip, broken := ev.workOut(e)
		switch {
		case broken.full != "":
			return nil, broken
		case skip.full != "":
			ev.warn(sentencef("rule %s: %s is left out: %s", r.Name, e.src, skip))
		case eff.Kind == RememberEffect && ev.remembers(eff, out): // nothing changes
		default:
			out = append(out, eff)
		}
	}
	return out, sentence{}
}

// finish evaluates the effects to make after the verdict is applied. It is best effort: errors are in the trace.
func (ev *evaluation) finish() {
	v := ev.verdict
	for _, f := range ev.program.finally {
		if f.when != nil {
			holds, state, _ := ev.truth(f.when)
			if state == broken {
				ev.warn(sentencef("%s: %s", f.name, ev.last.why))
			}
			if !holds || state != known {
				continue
			}
		}
		if f.effect != nil {
			eff, skip, broken := ev.workOut(f.effect)
			if problem := cmp.Or(skip, broken); problem.full != "" {
				ev.warn(sentencef("%s: %s is left out: %s", f.name, f.effect.src, problem))
			} else {
				v.Finally = append(v.Finally, eff)
			}
		}
		if f.log != nil {
			ev.here.quoted = false
			if text := ev.render(f.log); text != "" {
				v.Finally = append(v.Finally, Effect{Kind: LogEffect, Text: text, Private: ev.here.quoted})
			}
		}
	}
}
