package step

import (
	"fmt"
	"hash/fnv"
	"time"
)

// backoff returns the delay before retry n: 10 s, 20 s, 40 s … up to ten minutes, each with an addition of up to a tenth
// that differs between runs, so that runs that failed together do not retry together.
func backoff(id string, n int) time.Duration {
	d := 10 * time.Second
	for i := 1; i < n && d < 10*time.Minute; i++ {
		d *= 2
	}
	d = min(d, 10*time.Minute)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", id, n)
	return d + time.Duration(h.Sum64()%uint64(d/10))
}

// wait waits, at most until the time of the run is over.
func (m *machine) wait(p Pending) {
	last := m.over()
	if p.Until.After(last) && p.Kind != forPolicy {
		p.Until = last
	}
	if p.Kind == forPerson {
		p.Until = last // it depends on a person
	}
	p.Why = cut(p.Why, MaxText)
	m.say(Event{Kind: Waiting, Iteration: m.Iterations, Until: p.Latest(), Why: p.Why})
	m.rest(p)
}

// rest waits until the end, the next look, or the time of the run is over, without an event.
func (m *machine) rest(p Pending) {
	m.Phase, m.Pending = waiting, &p
	until := p.Until
	if p.Every > 0 {
		until = earlier(until, earlier(m.At.Add(p.Every), m.over()))
	}
	m.command(Command{Kind: Wait, Until: until})
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// awaited continues after the until of a rule that waits was evaluated.
func (m *machine) awaited(waits bool) {
	p := *m.Pending
	switch {
	case m.Stopping != "":
		m.end(Final{End: Cancelled, Why: m.Stopping})
	case !waits:
		m.done(deciding)
		m.next()
	case !m.At.Before(m.over()):
		m.end(Final{End: StillWaits, Rule: p.Rule, Limit: "elapsed", Why: p.Why})
	default:
		m.rest(p)
	}
}

// elapsed continues when the time of a wait is over.
func (m *machine) elapsed() {
	switch p := *m.Pending; p.Kind {
	case forPerson: // the time of the run is over, too
		m.Phase, m.Pending = p.Resume, nil
		m.next()
	case forAnswer:
		m.Phase, m.Pending = deciding, nil
		m.end(Final{End: Asked, Why: p.Why})
	case forPolicy:
		switch {
		case !m.At.Before(p.Until), m.Paused != "" && m.At.Before(m.over()): // a paused policy decides again once it is resumed
			m.done(deciding)
			m.next()
		default:
			m.Phase = awaiting
			m.next()
		}
	default:
		m.Phase, m.Pending = rested, nil
		m.next()
	}
}

// awake ends a wait early.
func (m *machine) awake() {
	m.Phase, m.Pending = m.Pending.Resume, nil
	m.next()
}

// pause waits while a person has paused the run, unless its time is over. It reports whether.
func (m *machine) pause() bool {
	if m.Paused == "" || m.Stopping != "" || !m.over().After(m.At) {
		return false
	}
	m.wait(Pending{Why: m.Paused, Resume: m.Phase, Kind: forPerson})
	return true
}

// waitAfterFailure waits before the agent is started again: until a rate limit resets, or with growing delays if the
// client does not report when.
func (m *machine) waitAfterFailure() {
	id := m.Plan.ID
	if m.Spent.Limited == 0 {
		m.wait(Pending{Until: m.At.Add(backoff(id, m.Spent.Crashes)), Why: "the agent failed", Resume: ready, Kind: forBackoff})
		return
	}
	at := m.Latest.ResetsAt
	if at.After(m.over()) {
		m.end(Final{End: NoReset, Why: fmt.Sprintf("the rate limit resets at %s, after the time of the run is over", at.Format(time.DateTime)), Resets: &at})
		return
	}
	if least := m.At.Add(backoff(id, m.Spent.Limited)); at.Before(least) { // even if the client reports an earlier reset
		at = least
	}
	m.wait(Pending{Until: at, Why: "the rate limit of the client is reached", Resume: ready, Kind: forBackoff})
}
