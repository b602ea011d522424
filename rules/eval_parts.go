package rules

import "cmp"

// reportParts evaluates what the rules of the verdict say and do.
func (ev *evaluation) reportParts(prompt bool) {
	v := ev.verdict
	if len(ev.parts) > cap(v.Parts) {
		v.Parts = make([]Part, 0, len(ev.parts))
	}
	for _, r := range ev.parts {
		if v.Bound != "" && (r.Verb == VerbContinue || len(r.then) > 0) {
			continue // its continuation does not happen, nor what belongs to it
		}
		ev.rule = r
		part := Part{Rule: r.Name}
		ev.quoted = false
		if !prompt {
			var broken string
			if part.Effects, broken = ev.effects(r); broken != "" {
				v.Action, v.Failed, v.Fault, v.Parts, v.Bound = Stop, true, faultRule, nil, ""
				v.Rule, v.Pos = r.Name, r.Pos
				v.Reason = "its effects could not be evaluated: " + broken
				ev.report("rule " + r.Name + ": " + broken)
				return
			}
		}
		if r.Verb == VerbNote {
			part.Note = ev.render(r.text)
		}
		part.Notice = ev.render(r.notice)
		part.Log = ev.render(r.log)
		part.Private = ev.quoted
		v.Parts = append(v.Parts, part)
	}
}

// effects evaluates what a rule changes. broken says why the verdict cannot be
// followed.
func (ev *evaluation) effects(r *Rule) (out []Effect, broken string) {
	for _, e := range r.then {
		eff, skip, broken := ev.workOut(e)
		switch {
		case broken != "":
			return nil, broken
		case skip != "":
			ev.warn("rule " + r.Name + ": " + e.src + " is left out: " + skip)
		default:
			out = append(out, eff)
		}
	}
	return out, ""
}

// reportFacts reports facts that could not be used, or not as they are written, and
// that no rule asks about.
func (ev *evaluation) reportFacts() {
	for i, f := range ev.program.facts {
		v := &ev.gotten[i]
		switch {
		case v.Status == Missing && !v.Quiet:
			ev.report(f.Name + ": " + v.sentence())
		case v.Status == Invalid && !f.asked:
			ev.report(f.Name + ": " + v.sentence())
		case v.Status == OK && v.Problem != "" && !f.told && f.Options["lenient"] == true:
			ev.report(f.Name + ": " + v.Problem) // each line begins with the path
		}
	}
}

// finish evaluates what is to be done after the verdict was applied. It is best
// effort: what cannot be evaluated shows in the trace.
func (ev *evaluation) finish() {
	v := ev.verdict
	for _, f := range ev.program.finally {
		if f.when != nil {
			holds, state, _ := ev.truth(f.when)
			if state == broken {
				ev.warn(f.name + ": " + ev.why)
			}
			if !holds || state != known {
				continue
			}
		}
		if f.effect != nil {
			eff, skip, broken := ev.workOut(f.effect)
			if problem := cmp.Or(skip, broken); problem != "" {
				ev.warn(f.name + ": " + f.effect.src + " is left out: " + problem)
			} else {
				v.Finally = append(v.Finally, eff)
			}
		}
		if f.log != nil {
			ev.quoted = false
			if text := ev.render(f.log); text != "" {
				v.Finally = append(v.Finally, Effect{Kind: LogEffect, Text: text, Private: ev.quoted})
			}
		}
	}
}
