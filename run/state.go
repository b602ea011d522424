package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

// Defaults of Limits.
const (
	DefaultMax = 100
	DefaultFor = 24 * time.Hour
)

// Limits bound a run. The zero value is the defaults, and no budget.
type Limits struct {
	Max    int           `json:"max,omitempty"`    // processes of the agent that are started
	For    time.Duration `json:"for,omitempty"`    // while a process of ralph works on the run, its waiting included
	Budget float64       `json:"budget,omitempty"` // US dollars; it is known after an iteration, so a run may exceed it by one
}

// or returns the limits with those of another for the fields that are zero.
func (l Limits) or(other Limits) Limits {
	if l.Max == 0 {
		l.Max = other.Max
	}
	if l.For == 0 {
		l.For = other.For
	}
	if l.Budget == 0 {
		l.Budget = other.Budget
	}
	return l
}

// Plan is what a run does. Only its limits change, when the run is resumed. At most one of Policy, Until and Promise is set.
type Plan struct {
	ID      string    `json:"id"`
	Root    string    `json:"root"` // of the project
	Dir     string    `json:"dir"`  // where the agent works
	Name    string    `json:"name"` // of the policy
	Policy  string    `json:"policy,omitempty"`
	Until   string    `json:"until,omitempty"`
	Promise string    `json:"promise,omitempty"`
	Args    []string  `json:"args"` // the agent's command
	Limits  Limits    `json:"limits"`
	Losses  int       `json:"losses,omitempty"` // in a row, that end the run; 0 is 3
	Started time.Time `json:"started"`
}

// Holds returns the name that the run holds in its project: that of its policy, or its ID if the policy was made for it alone.
func (p Plan) Holds() string {
	if p.Until+p.Promise != "" {
		return p.ID
	}
	return p.Name
}

// The sizes of parts of a state, in bytes of their JSON form.
const (
	maxPlan    = 32 << 10
	maxTexts   = 20 << 10 // of the agent's texts the end is kept
	maxReason  = 4 << 10
	maxProblem = 1 << 10
	maxName    = 256
	maxDenied  = 8
)

// New returns the state of a run that has not begun. The error says that the plan is too large.
func New(p Plan) (State, error) {
	p.Limits = p.Limits.or(Limits{Max: DefaultMax, For: DefaultFor})
	if n := size(p); n > maxPlan {
		return State{}, fmt.Errorf("the agent's command has %d bytes, and a run keeps %d at most: put long texts into a file that the agent reads", n, maxPlan)
	}
	return State{Version: version, Plan: p}, nil
}

const version = 1

// Phase says for what a run waits.
type Phase string

// The phases.
const (
	Deciding  Phase = "" // for a decision
	Iterating Phase = "iterating"
	Resting   Phase = "resting" // for the time State.Until
)

// State is all that is kept of a run. Its JSON form has at most 64 KiB.
type State struct {
	Version   int        `json:"version"`
	Plan      Plan       `json:"plan"`
	Phase     Phase      `json:"phase,omitempty"`
	Iteration int        `json:"iteration"`          // processes that were started
	Decision  int        `json:"decision"`           // the number of the one that is due, or was made last
	Resumed   int        `json:"resumed,omitempty"`  // how often after an end: then a new prompt begins for the policy
	Stopping  bool       `json:"stopping,omitempty"` // the run ends after this iteration
	Row       Row        `json:"row,omitzero"`
	Until     time.Time  `json:"until,omitzero"`
	Rested    bool       `json:"rested,omitempty"` // after the last iteration
	At        time.Time  `json:"at"`               // of the last input
	Spent     Spent      `json:"spent,omitzero"`
	Last      *Iteration `json:"last,omitempty"` // the last one after which something is decided
	End       *End       `json:"end,omitempty"`
}

// Spent is what a run has used so far.
type Spent struct {
	Elapsed time.Duration `json:"elapsed,omitempty"` // while a process of ralph worked on it
	Tokens  int           `json:"tokens,omitempty"`
	Cost    float64       `json:"cost,omitempty"` // US dollars
}

// Row counts failures in a row.
type Row struct {
	Crashes int `json:"crashes,omitempty"`
	Losses  int `json:"losses,omitempty"`
	Limited int `json:"limited,omitempty"`
}

// The outcomes of an iteration. Crashed, Lost and Interrupted are outcomes of a run too, beside those of package rules.
const (
	OK          = "ok"
	TurnLimit   = "turn_limit"       // a limit of the agent's own
	Overflow    = "context_overflow" // the conversation is too long for the model
	OverBudget  = "budget"           // the agent's own
	Timeout     = "timeout"          // the time of the run is over
	RateLimited = "rate_limited"
	SignIn      = "auth"
	Billing     = "billing"
	Crashed     = "crashed"
	Lost        = "lost"        // ralph was killed, so that its end is not known
	Interrupted = "interrupted" // by a person
)

// Iteration is how a process of the agent ended.
type Iteration struct {
	Outcome string        `json:"outcome"`
	Texts   []string      `json:"texts,omitempty"` // the agent's own, the last one last
	Problem string        `json:"problem,omitempty"`
	Session string        `json:"session,omitempty"` // the agent's
	Denied  []string      `json:"denied,omitempty"`  // what the agent was not allowed to do
	Tokens  int           `json:"tokens,omitempty"`
	Cost    *float64      `json:"cost,omitempty"` // US dollars; nil if it is not known
	Resets  time.Time     `json:"resets,omitzero"`
	Took    time.Duration `json:"took,omitempty"`
}

// End is how a run ended.
type End struct {
	Outcome rules.Outcome `json:"outcome"`
	Rule    string        `json:"rule,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Decided bool          `json:"decided,omitempty"` // by the policy: when the run is resumed, another decision is due
}

// fit returns an iteration as a state keeps it.
func (it Iteration) fit() Iteration {
	var texts, denied []string
	for left, i := maxTexts, len(it.Texts)-1; i >= 0 && left > maxName; i-- {
		s := fit(it.Texts[i], left, tail)
		left -= size(s) + 1
		texts = append(texts, s)
	}
	slices.Reverse(texts)
	for _, d := range it.Denied[:min(len(it.Denied), maxDenied)] {
		denied = append(denied, fit(d, maxName, head))
	}
	it.Texts, it.Denied = texts, denied
	it.Problem, it.Session = fit(it.Problem, maxProblem, head), fit(it.Session, maxName, head)
	return it
}

// size returns the length of a value's JSON form.
func size(v any) int {
	b, _ := json.Marshal(v)
	return len(b)
}

// fit returns the part of a text that keep keeps, so that its JSON form has at most so many bytes.
func fit(s string, most int, keep func(s string, n int) string) string {
	s = keep(s, most)
	for over := size(s) - most; over > 0; over = size(s) - most {
		s = keep(s, max(0, len(s)-(over+5)/6)) // a byte has at most six in JSON
	}
	return s
}

func head(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

func tail(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }
