package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Memory is what a loop remembers between events. [Program.Eval] returns the next one in the verdict; the
// caller of Eval stores it. The zero Memory is that of a loop that has not continued yet.
//
// A Memory may be copied: Eval does not modify it. Its JSON form is
//
//	{"v": 1, "turn": "t1", "streak": 2, "total": 7, "progress": "[3]", "same": 1,
//	 "since": "2026-01-02T15:04:05Z", "latest": "2026-01-02T15:06:00Z",
//	 "loop": {"name": "001-login", "state": ".specify/specs/001-login/.speckit-state.json"}, "seen": ["5d41402abc4b2a76"],
//	 "of": {"speckit": 7}, "notice": "7d793037a0760186", "shown": ["2d711642b726b044"], "began": "2026-01-02T13:00:00Z", "said": {"hurry": [{"at": "2026-01-02T15:06:00Z", "turn": "t1"}]},
//	 "waits": {"ci": "2026-01-02T15:05:00Z"}, "values": {"section": "Parser"}, "private": ["section"]}
//
// without zero fields. Any version other than 1 is an error.
type Memory struct {
	Turn   string    `json:"turn,omitempty"`   // of the latest event, as the host names it, otherwise #1, #2, …
	Streak int       `json:"streak,omitempty"` // continuations since the user's last prompt, or since a later stop that no limit and no error caused
	Total  int       `json:"total,omitempty"`  // continuations in all, of this loop and those that Of counts with it
	Since  time.Time `json:"since,omitzero"`   // of the first continuation of the streak
	Latest time.Time `json:"latest,omitzero"`  // of the latest one

	// Progress is the fingerprint of the policy's progress at the latest continuation, a digest with the prefix
	// "private:" if it is private, and Same is how many of the latest continuations had it. "=" equals any progress,
	// for tests, which know the number of repeats but not the fingerprint.
	Progress string `json:"progress,omitempty"`
	Same     int    `json:"same,omitempty"`

	// Reset is when a command started or ended the loop, in the memory of a project: counts and seen texts from before
	// do not apply. In the memory of a session it is the latest reset that the session noticed.
	Reset time.Time `json:"reset,omitzero"`

	// Of counts the continuations of a session by policy, under its name and under the digest of its content, in whatever
	// directory. It is set only in the memory that all policies of a session share.
	Of map[string]int `json:"of,omitempty"`

	// Loop is the loop of the session's last decision, with Name and State; nil if it had none.
	Loop *LoopInfo `json:"loop,omitempty"`

	// Seen are digests of texts that the session has seen, and Notice is the digest of the last notice of a rule that
	// stopped it since it was continued.
	Seen   []string `json:"seen,omitempty"`
	Notice string   `json:"notice,omitempty"`

	// Shown are digests of the lines before the markers in texts that the agent got, so that a text repeated is no promise.
	Shown []string `json:"shown,omitempty"`

	// Began is when the policy saw the session's first event, if it uses session.elapsed.
	Began time.Time `json:"began,omitzero"`

	// Failures is how many of the latest continuations followed a failed turn.
	Failures int `json:"failures,omitempty"`

	// Said lists the verdicts of rules with unless_repeated, oldest first.
	Said map[string][]Said `json:"said,omitempty"`

	// Waits is since when rules with wait have waited, by rule, over consecutive verdicts that wait. Any other verdict that was
	// decided ends them.
	Waits map[string]time.Time `json:"waits,omitempty"`

	// Values has the values of memory that rules have changed, by name, as JSON types. Private names those that contain
	// something private.
	Values  map[string]any `json:"values,omitempty"`
	Private []string       `json:"private,omitempty"`
}

// sameProgress is a Progress that equals any other.
const sameProgress = "="

// Said is one verdict of a rule with unless_repeated.
type Said struct {
	At   time.Time `json:"at"`
	Turn string    `json:"turn,omitempty"`
}

// memoryVersion is that of the JSON form.
const memoryVersion = 1

// memoryForm is a Memory without its methods.
type memoryForm Memory

// MarshalJSON writes the documented form, with times in UTC.
func (m Memory) MarshalJSON() ([]byte, error) {
	said := make(map[string][]Said, len(m.Said))
	for rule, times := range m.Said {
		times = slices.Clone(times)
		for i := range times {
			times[i].At = times[i].At.UTC()
		}
		said[rule] = times
	}
	m.Waits = maps.Clone(m.Waits)
	for rule, at := range m.Waits {
		m.Waits[rule] = at.UTC()
	}
	m.Said, m.Since, m.Latest, m.Reset, m.Began = said, m.Since.UTC(), m.Latest.UTC(), m.Reset.UTC(), m.Began.UTC()
	return json.Marshal(struct {
		V int `json:"v"`
		memoryForm
	}{memoryVersion, memoryForm(m)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Memory) UnmarshalJSON(b []byte) error {
	var j struct {
		V int `json:"v"`
		memoryForm
		Values map[string]json.RawMessage `json:"values"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	switch {
	case j.V != memoryVersion:
		return fmt.Errorf("the memory has version %d; this release reads version %d", j.V, memoryVersion)
	case (*Memory)(&j.memoryForm).negative():
		return errNegative
	}
	*m = Memory(j.memoryForm)
	for name, b := range j.Values {
		v, err := schema.ParseJSON(b)
		if err != nil {
			return fmt.Errorf("the value %s: %w", name, err)
		}
		if m.Values == nil {
			m.Values = make(map[string]any, len(j.Values))
		}
		m.Values[name] = new(schema.Schema).Check(v).Value
	}
	return nil
}

var errNegative = errors.New("a count of the memory is negative")

// negative reports whether a count is below zero.
func (m *Memory) negative() bool {
	for _, n := range m.Of {
		if n < 0 {
			return true
		}
	}
	return min(m.Streak, m.Total, m.Same, m.Failures) < 0
}

// elapsed returns the time since the first continuation of the streak, 0 for a zero now.
func (m *Memory) elapsed(now time.Time) time.Duration { return m.ofStreak(m.Since, now) }

// step returns the time since the latest continuation of the streak.
func (m *Memory) step(now time.Time) time.Duration { return m.ofStreak(m.Latest, now) }

func (m *Memory) ofStreak(from, now time.Time) time.Duration {
	if m.Streak == 0 || now.IsZero() {
		return 0
	}
	return since(from, later(m.Latest, now))
}

func since(from, now time.Time) time.Duration {
	if now.IsZero() || from.IsZero() {
		return 0
	}
	return max(0, now.Sub(from))
}

// later returns the later of two times: while the clock is back, no time passes in a streak or a window.
func later(latest, now time.Time) time.Time {
	if now.Before(latest) {
		return latest
	}
	return now
}

// maxClockBack is how far a clock may go back unreported.
const maxClockBack = time.Hour

// clock returns the latest time that counts for the streak or a rule.
func (m *Memory) clock() (latest time.Time) {
	if m.Streak > 0 {
		latest = m.Latest
	}
	for _, all := range m.Said {
		if len(all) > 0 {
			latest = later(all[len(all)-1].At, latest)
		}
	}
	return latest
}

// repeats returns how many of the latest continuations had the current progress. Unknown progress counts as unchanged,
// so that a loop does not continue because its measure failed.
func (m *Memory) repeats(now string, known bool) int {
	if m.Streak == 0 || known && now != m.Progress && m.Progress != sameProgress {
		return 0
	}
	return m.Same
}

// begin updates the memory for an event: a loop that was started or ended since, and a new turn, end the streak.
func (m *Memory) begin(o *Options) (newTurn bool) {
	if o.Project.Reset.After(m.Reset) {
		m.endStreak()
		m.Loop, m.Notice, m.Reset = nil, "", o.Project.Reset
	}
	return m.beginTurn(o)
}

// beginTurn ends the streak if the event is of another turn.
func (m *Memory) beginTurn(o *Options) bool {
	turn := o.Turn
	switch {
	case turn == "" && o.NewTurn:
		turn = nextTurn(m.Turn)
	case turn == "" || turn == m.Turn:
		return false
	}
	m.endStreak()
	m.Turn = turn
	return true
}

// nextTurn returns the next name for a turn that the host does not name: #1, #2, …
func nextTurn(turn string) string {
	n := 0
	if count, ok := strings.CutPrefix(turn, "#"); ok {
		n, _ = strconv.Atoi(count) // any other name starts at 1
	}
	return "#" + strconv.Itoa(n+1)
}

// endStreak resets the streak, but neither the total nor the verdicts of rules.
func (m *Memory) endStreak() {
	m.Streak, m.Progress, m.Same, m.Failures = 0, "", 0, 0
	m.Since, m.Latest, m.Waits = time.Time{}, time.Time{}, nil
}

// continued counts a continuation.
func (m *Memory) continued(progress string, failed bool, now time.Time) {
	if m.Streak == 0 {
		m.Since = now
	}
	if m.Streak > 0 && (m.Progress == progress || m.Progress == sameProgress) {
		m.Same++
	} else {
		m.Same = 1
	}
	m.Waits = nil
	m.Latest, m.Progress = later(m.Latest, now), progress
	m.Streak++
	m.Failures++
	if !failed {
		m.Failures = 0
	}
	m.Total++
}

// share counts a continuation in the memory that all policies of a session share. total is what the policy's names count
// after it.
func (m *Memory) share(names [2]string, total int) {
	m.Streak++
	m.Total++
	of := make(map[string]int, len(m.Of)+len(names))
	maps.Copy(of, m.Of)
	for _, name := range names {
		of[name] = max(of[name], total)
	}
	m.Of = of
}

// counts reports whether an earlier verdict of a rule still counts for it.
func (u *Unless) counts(s Said, turn string, now time.Time) bool {
	return (u.Per != perPrompt || s.Turn == turn) && (u.Within == 0 || now.Sub(s.At) < u.Within)
}

// memoryFor returns the memory that holds a value of this scope.
func memoryFor(per string, session, project *Memory) *Memory {
	if per == perProject {
		return project
	}
	return session
}

// said counts the verdicts of a rule within its window.
func (m *Memory) said(rule string, u *Unless, turn string, now time.Time) int {
	n, all := 0, m.Said[rule]
	if len(all) > 0 {
		now = later(all[len(all)-1].At, now)
	}
	for _, s := range all {
		if u.counts(s, turn, now) {
			n++
		}
	}
	return n
}

// maxSaid bounds the remembered verdicts of one rule.
const maxSaid = 1000
