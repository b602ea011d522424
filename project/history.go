package project

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Decision is what a line of the decision log says, without what only explains it. Its fields are those of [loop.Record].
type Decision struct {
	ID      string          `json:"id"`
	Time    time.Time       `json:"time"`
	Policy  string          `json:"policy"`
	Root    string          `json:"root"`
	Host    string          `json:"host"`
	Event   string          `json:"event"`
	Session string          `json:"session"`
	Agent   string          `json:"agent"`
	Action  rules.Action    `json:"action"`
	Command string          `json:"command"` // that ended the loop, where no event did
	Rule    string          `json:"rule"`
	Reason  string          `json:"reason"`
	Success bool            `json:"success"`
	Bound   string          `json:"bound"`
	Skipped string          `json:"skipped"`
	Loop    *rules.LoopInfo `json:"loop"`
	Error   string          `json:"error"`
	Noted   []string        `json:"noted"`
	Notes   []string        `json:"notes"`
	Notices []string        `json:"notices"`
	Measure *Measure        `json:"measure"`
	Effects []rules.Effect  `json:"effects"`

	Trace struct {
		Steps []rules.Step `json:"steps"`
	} `json:"trace"`
}

// Measure is how far the work is.
type Measure struct {
	Done  float64 `json:"done"`
	Total float64 `json:"total"`
}

// ParseDecision reads a line of the decision log.
func ParseDecision(line []byte) (d Decision, err error) {
	err = json.Unmarshal(line, &d)
	return d, err
}

// By returns the rule, limit or command that decided, "error" if there was one, "-" if nothing decided.
func (d Decision) By() string {
	if d.Error != "" {
		return "error"
	}
	return cmp.Or(d.Rule, d.Command, "-")
}

// Said returns the reason or the error in one line, or what happened where no rule decided.
func (d Decision) Said() string {
	if said := cmp.Or(d.Error, d.Reason, d.Skipped); said != "" || d.Rule != "" || d.Command != "" {
		return oneLine(said)
	}
	happened := NothingDecided(d.Event, d.Noted, d.Trace.Steps)
	if d.Event == host.UserPromptSubmit && len(d.Notes) > 0 { // what the agent got
		happened += ": " + oneLine(strings.Join(d.Notes, "; "))
	}
	return happened
}

// NothingDecided returns what happened at an event where no rule decided: which rules noted something, and which held.
func NothingDecided(event string, noted []string, steps []rules.Step) string {
	held := Held(steps)
	switch {
	case len(noted) == 0 && len(held) == 0:
		return "no rule held"
	case len(noted) == 0 && !Decides(event):
		return "by " + strings.Join(held, ", ")
	case len(noted) == 0:
		return "no rule decided, held: " + strings.Join(held, ", ")
	case event == host.UserPromptSubmit:
		return "note by " + strings.Join(noted, ", ")
	}
	return "no rule decided, note by " + strings.Join(noted, ", ")
}

// Held names the rules that held: where none decided, those without a verb and notes.
func Held(steps []rules.Step) (names []string) {
	for _, s := range steps {
		if s.Outcome == rules.Holds {
			names = append(names, s.Rule)
		}
	}
	return names
}

// Decides reports whether rules can stop or continue an agent at an event.
func Decides(event string) bool { return event != host.UserPromptSubmit && !host.Watched(event) }

// Archived returns the file that the decision, or the command, moved the loop's state to, "" if it did not.
func (d Decision) Archived() string {
	for _, e := range d.Effects {
		if d.Action == rules.Stop && e.Kind == rules.ArchiveEffect && (e.Source == "frontmatter" || e.Source == "json") && e.To != "" {
			return e.To
		}
	}
	return ""
}

// session is a session as the log knows it.
type session struct{ policy, host, session, agent string }

// A history is what the log says of a project.
type history struct {
	latest []Decision // of each session with each policy, the latest first
	ends   []Decision // of loops, the latest first
}

// history reads the log.
func (p *Project) history() (h history, err error) {
	seen, ended := map[session]bool{}, map[[2]string]bool{}
	_, err = p.own.ReadLog(func(line []byte) bool {
		d, err := ParseDecision(line)
		if err != nil || d.Root != p.root.Dir() || d.Command == "" && !Decides(d.Event) {
			return false
		}
		if d.Command == "" {
			if key := (session{d.Policy, d.Host, d.Session, d.Agent}); !seen[key] {
				seen[key] = true
				h.latest = append(h.latest, d)
			}
		}
		key := [2]string{d.Policy, d.Archived()}
		if d.Loop != nil && d.Archived() == "" {
			key[1] = d.Loop.State
		}
		if d.Action == rules.Stop && d.Skipped == "" && !ended[key] && (d.Archived() != "" || d.Loop != nil && (d.Success || d.Loop.Gone)) {
			ended[key] = true
			h.ends = append(h.ends, d)
		}
		return false // nothing has to be kept
	}, 0)
	newestFirst := func(a, b Decision) int { return b.Time.Compare(a.Time) }
	slices.SortStableFunc(h.latest, newestFirst)
	slices.SortStableFunc(h.ends, newestFirst)
	return h, err
}

// oneLine returns a text with a blank instead of each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens a text to n characters.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
