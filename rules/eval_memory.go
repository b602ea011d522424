package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// remember computes the next memories of a verdict.
func (ev *evaluation) remember() {
	v, now := ev.verdict, ev.event.now
	session, project := &v.Memory, &v.Project
	switch {
	case ev.event.prompt(), ev.watches(), ev.event.watch:
		// Nothing was decided.
	case v.Action == Continue:
		session.continued(v.Progress, ev.used.failed != "", now)
		v.Session.share(ev.counted(), session.Total)
		v.Changed, v.SessionChanged = true, true
	case v.Wait != nil:
		session.waits(v.Rule, v.Wait.Since)
		v.Changed = true
	case v.Bound != "" || v.Cause != "" || ev.passes():
		// The streak continues: a user who raises the limit continues it, and other events do not end it.
	case session.Streak > 0 || len(session.Waits) > 0:
		session.endStreak()
		v.SessionChanged = v.SessionChanged || v.Session.Streak > 0
		v.Session.Streak = 0
		v.Changed = true
	}
	if session.Began.IsZero() && !now.IsZero() && ev.untried == "" && ev.program.machine.table.find(vocab.SessionElapsed) != nil {
		session.Began, v.Changed = now, true
	}
	mine := session.say(v.Parts, ev.parts, false, session.Turn, now)
	ours := project.say(v.Parts, ev.parts, true, session.Turn, now)
	kept, shared := ev.keep(session, project)
	if v.Action == Continue && session.Notice != "" {
		session.Notice = ""
	}
	moved := ev.keepLoop(session)
	v.ProjectChanged = ours || shared
	v.Changed = v.Changed || mine || ours || kept || shared || moved
	v.SessionChanged = v.SessionChanged && v.Changed // another turn need not be stored
}

// counted returns the names under which a session counts the continuations of the policy.
func (ev *evaluation) counted() [2]string { return ev.program.counted(ev.event.policy) }

func (p *Program) counted(policy string) [2]string {
	return [2]string{cmp.Or(policy, p.Name), p.content()}
}

// Recount counts the verdict in o.Session, which other policies of the session changed since Eval: it sets v.Session and
// v.Memory.Total. It reports whether the decision stays; otherwise a limit is reached now, v is unchanged, and Eval must
// decide again.
func (p *Program) Recount(v *Verdict, o Options) bool {
	if v == nil {
		return false
	}
	p = p.loaded()
	session := o.Session
	session.beginTurn(&o)
	if v.Action == Continue {
		names, before := p.counted(o.Policy), v.Memory.Total-1
		for _, name := range names {
			before = max(before, session.Of[name])
		}
		if most := ceilings(); session.negative() || session.Streak >= most.Continuations || session.Total >= most.Total || before >= p.head.limits.Total {
			return false
		}
		v.Memory.Total = before + 1
		session.share(names, v.Memory.Total)
	}
	v.Session = session
	return true
}

// joinSession adds what the session knows of the policy in other directories and under other names, and reports a clock that
// went back.
func (ev *evaluation) joinSession() {
	v := ev.verdict
	if len(v.Session.Of) > 0 {
		for _, name := range ev.counted() {
			v.Memory.Total = max(v.Memory.Total, v.Session.Of[name])
		}
	}
	if latest := later(v.Memory.clock(), v.Project.clock()); !ev.event.now.IsZero() && latest.Sub(ev.event.now) > maxClockBack {
		ev.report(sentencef("the clock is more than an hour behind %s, when the loop was continued last; until then no time passes for it", latest.UTC().Format(time.RFC3339)))
	}
}

// loop returns the value of a name that comes from the loop memory.
func (ev *evaluation) loop(name string) any {
	m, now := &ev.verdict.Memory, ev.event.now
	switch name {
	case vocab.LoopContinuations:
		return m.Streak
	case vocab.LoopName:
		return cmp.Or(ev.verdict.Loop, &LoopInfo{}).Name
	case vocab.Waited:
		return ev.met.waited
	case vocab.LoopTotal:
		return m.Total
	case vocab.LoopElapsed:
		return m.elapsed(now)
	case vocab.LoopStep:
		return m.step(now)
	}
	return m.repeats(ev.progress())
}

// progress returns the fingerprint of what the policy declares as progress; ok is false if it is unknown.
func (ev *evaluation) progress() (string, bool) {
	if len(ev.program.head.progress) == 0 {
		return "", true
	}
	private := false
	values := make([]any, len(ev.program.head.progress))
	for i, c := range ev.program.head.progress {
		v, state := ev.value(c)
		if state != known {
			if state == broken {
				ev.warn(sentencef("progress counts as unchanged: %s", ev.last.why))
			}
			return "", false
		}
		values[i] = v
		private = private || ev.last.mark != nil
	}
	at := ev.here.at
	ev.here.at = ev.program.head.progress[0].last().id
	ev.meter.write(values)
	ev.here.at = at
	return fingerprint(values, private)
}

// fingerprint returns short values as they are, so that a user who reads the loop memory understands them, and a digest
// of long ones. Private values are always a digest, with a prefix.
func fingerprint(values []any, private bool) (string, bool) {
	b, err := json.Marshal(values)
	if err != nil {
		return "", false
	}
	if private {
		sum := sha256.Sum256(b)
		return privateProgress + hex.EncodeToString(sum[:]), true
	}
	const enough = 200
	if len(b) <= enough {
		return string(b), true
	}
	return cut(string(b), enough/2) + " " + strconv.Itoa(len(b)) + " " + digest(string(b)), true
}

// privateProgress is the prefix of a private fingerprint; any other is a list as JSON.
const privateProgress = "private:"

// say adds a verdict to those of its rules, of the ones that count per project or of the others, and drops what no
// longer counts. parts have the same order as rules.
func (m *Memory) say(parts []Part, rules []*Rule, project bool, turn string, now time.Time) (changed bool) {
	for _, r := range rules {
		if len(parts) == 0 || parts[0].Rule != r.Name {
			continue
		}
		parts = parts[1:]
		if r.Unless == nil || (r.Unless.Per == perProject) != project {
			continue
		}
		if !changed {
			m.Said, changed = maps.Clone(m.Said), true
			if m.Said == nil {
				m.Said = map[string][]Said{}
			}
		}
		kept := slices.Clone(m.Said[r.Name])
		if len(kept) > 0 {
			now = later(kept[len(kept)-1].At, now)
		}
		kept = slices.DeleteFunc(kept, func(s Said) bool { return !r.Unless.counts(s, turn, now) })
		kept = append(kept, Said{At: now, Turn: turn})
		m.Said[r.Name] = kept[max(0, len(kept)-r.Unless.Times):]
	}
	return changed
}
