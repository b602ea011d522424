package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Memory is what is kept of a policy between the decisions of a session. Its zero value is that of a new session. Eval does not change
// the one that it gets.
type Memory struct {
	Continuations int                    `json:"continuations,omitempty"` // of this prompt
	Repeats       int                    `json:"repeats,omitempty"`       // of these, since progress changed
	Since         time.Time              `json:"since,omitzero"`          // of the first of them
	Progress      any                    `json:"progress,omitempty"`
	Prompt        map[string]int         `json:"prompt,omitempty"`  // at_most: N, by rule
	Applied       map[string][]time.Time `json:"applied,omitempty"` // at_most: {times, within}, by rule
	Seen          []string               `json:"seen,omitempty"`    // facts whose file was OK in this prompt
}

// NewPrompt forgets what belongs to one prompt.
func (m Memory) NewPrompt() Memory { return Memory{Applied: m.Applied} }

// repeats returns the continuations since progress changed, as far as progress is known.
func (e *evaluation) repeats() int {
	if e.progress.state == no && len(e.p.progress) > 0 {
		e.progress = result{state: missing} // while it is evaluated it may read loop
		e.progress = e.measure()
	}
	if m := &e.in.Memory; e.progress.state != yes || m.Progress == nil || same(m.Progress, e.progress.value) {
		return m.Repeats
	}
	return 0
}

// maxProgress bounds the numbers of progress that are kept. Of more, and of what has texts, it is the hash: a memory holds no texts.
const maxProgress = 1 << 10

// measure evaluates progress as it is kept.
func (e *evaluation) measure() result {
	var values []any
	for _, x := range e.p.progress {
		r := e.value(x)
		if r.state != yes {
			return r
		}
		values = append(values, r.value)
	}
	var v any = values
	if len(values) == 1 {
		v = values[0]
	}
	b, err := json.Marshal(v)
	if err != nil {
		return result{state: failed, why: fmt.Errorf("progress: %w", err)}
	}
	if len(b) > maxProgress || bytes.ContainsRune(b, '"') {
		v = fmt.Sprintf("sha256:%x", sha256.Sum256(b))
	}
	return result{value: v, state: yes}
}

// same compares values as JSON, since a memory may have been stored.
func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// limit returns the limit that a further continuation would exceed, and what it says; "" if there is none.
func (e *evaluation) limit() (name, reason string) {
	l, c, m := e.p.Limits, e.in.Limits, &e.in.Memory
	l.Continuations, l.Repeats, l.Total = ceiling(l.Continuations, c.Continuations), ceiling(l.Repeats, c.Repeats), ceiling(l.Total, c.Total)
	l.Elapsed = ceiling(l.Elapsed, c.Elapsed)
	switch repeats := e.repeats(); {
	case !e.in.Run && m.Continuations >= l.Continuations:
		return "continuations", fmt.Sprintf("this prompt was continued %d times", m.Continuations)
	case l.Repeats > 0 && repeats >= l.Repeats:
		return "repeats", fmt.Sprintf("progress did not change in %d continuations", repeats)
	case e.in.Total >= l.Total:
		return "total", fmt.Sprintf("this session was continued %d times", e.in.Total)
	case !m.Since.IsZero() && e.in.Now.Sub(m.Since) >= l.Elapsed:
		return "elapsed", fmt.Sprintf("this prompt has been continued for %v", l.Elapsed)
	}
	return "", ""
}

// ceiling returns the smaller of two limits, of which 0 is none.
func ceiling[N int | time.Duration](a, b N) N {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// allows reports whether the at_most of a rule lets it be tried.
func (e *evaluation) allows(r *rule) bool {
	return !r.session && e.in.Memory.Prompt[r.Name] < r.times || r.session && len(e.recent(r)) < r.times
}

// recent returns when a rule was applied, as far as at_most still counts it.
func (e *evaluation) recent(r *rule) []time.Time {
	return slices.DeleteFunc(slices.Clone(e.in.Memory.Applied[r.Name]), func(t time.Time) bool { return r.within > 0 && e.in.Now.Sub(t) >= r.within })
}

// applied counts a rule with at_most in a memory that the caller of Eval has too.
func (e *evaluation) applied(m *Memory, r *rule) {
	if r.session {
		m.Applied = merged(m.Applied, map[string][]time.Time{r.Name: append(e.recent(r), e.in.Now.UTC())})
	} else {
		m.Prompt = merged(m.Prompt, map[string]int{r.Name: m.Prompt[r.Name] + 1})
	}
}

// see notes in the memory of a verdict the facts whose files were there in this prompt, without those that it archives.
func (e *evaluation) see(v *Verdict) {
	names := slices.Clone(v.Memory.Seen)
	for _, f := range e.p.Facts {
		if g := e.known(f.symbol); g != nil && g.file && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	v.Memory.Seen = slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(v.Effects, func(x Effect) bool { return x.Kind == "archive" && x.Fact.Name == name })
	})
}

// continued counts a continuation.
func (e *evaluation) continued(m *Memory) {
	m.Repeats = e.repeats() + 1
	m.Continuations++
	if m.Since.IsZero() {
		m.Since = e.in.Now.UTC() // a hook need not read the zone of the machine
	}
	if e.progress.state == yes {
		b, _ := json.Marshal(e.progress.value) // as measure did; the value may be the program's own, which it changes
		m.Progress = json.RawMessage(b)
	}
}
