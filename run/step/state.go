package step

import (
	"cmp"
	"maps"
	"math"
	"time"
)

// version is that of the JSON form of a state.
const version = 1

// phase is what a run does next.
type phase string

const (
	first     phase = ""          // get the first prompt
	ready     phase = "ready"     // start an iteration
	rested    phase = "rested"    // the same, after a wait
	waiting   phase = "waiting"   // for Wait.Until
	awaiting  phase = "awaiting"  // the until of a rule that waits is evaluated
	iterating phase = "iterating" // an iteration is running
	merging   phase = "merging"   // its work is added to the run's branch
	deciding  phase = "deciding"  // evaluate the policy
)

// State is all that is needed to continue a run: its JSON form can be kept, and be taken up by another driver. It has at
// most 64 KiB, if the plan is within [Plan.Check]. [New] makes one; a state is a value, which no method changes.
type State struct {
	V     int       `json:"v"` // the version, 1
	Plan  Plan      `json:"plan"`
	Phase phase     `json:"phase"`
	Due   Command   `json:"due,omitzero"` // the latest command
	Given int       `json:"given"`        // how many commands were given
	Seq   int       `json:"seq"`          // the number of the latest event
	At    time.Time `json:"at"`           // of the latest input

	Paused   string `json:"paused,omitempty"`   // why nothing new is started, "" if the run is not paused
	Stopping string `json:"stopping,omitempty"` // why the run ends after the command under way
	Later    bool   `json:"later,omitempty"`    // a decision that is due is made before

	Iterations int           `json:"iterations"`        // iterations started
	Resumed    int           `json:"resumed,omitempty"` // how often it was resumed after its end
	Elapsed    time.Duration `json:"elapsed_ns"`        // that drivers lived for the run, up to At
	Prompt     Text          `json:"prompt,omitzero"`   // of the latest iteration, or the next one
	Answer     Text          `json:"answer,omitzero"`   // for the next decision
	Memory     Text          `json:"memory,omitzero"`   // of the loop, which only run.Decide reads
	Pending    *Pending      `json:"pending,omitempty"` // while it waits

	Spent  Spent  `json:"spent"`
	Latest Latest `json:"latest"`
	Final  *Final `json:"final,omitempty"` // how the run ended, nil before
}

// Pending is a wait of a run.
type Pending struct {
	Until  time.Time     `json:"until,omitzero"`     // the latest end
	Every  time.Duration `json:"every_ns,omitempty"` // how often to look meanwhile, 0 for not
	Rule   string        `json:"rule,omitempty"`     // that waits
	Why    string        `json:"why"`
	Resume phase         `json:"resume,omitempty"` // what it does after the wait
	Kind   waitKind      `json:"kind"`
}

// Latest returns the latest end of the wait; nil while a person has paused the run.
func (p Pending) Latest() *time.Time {
	if p.Kind == forPerson {
		return nil
	}
	return &p.Until
}

// waitKind is what a run waits for.
type waitKind string

const (
	forPerson  waitKind = "paused"
	forAnswer  waitKind = "asked"
	forBackoff waitKind = "failed"
	forPolicy  waitKind = "policy"
)

// Spent is what a run has used, and how its iterations ended.
type Spent struct {
	Tokens   int             `json:"tokens,omitempty"`
	UsedBy   string          `json:"used_by,omitempty"` // the session to which Used applies
	Used     int             `json:"used,omitempty"`
	Cost     *float64        `json:"cost_usd,omitempty"`
	Window   float64         `json:"window,omitempty"`
	Outcomes map[Outcome]int `json:"outcomes,omitempty"`
	Crashes  int             `json:"crashes,omitempty"` // in a row
	Limited  int             `json:"limited,omitempty"` // rate limits in a row
	Losses   int             `json:"losses,omitempty"`  // in a row
}

// Latest is the latest iteration that the policy evaluates.
type Latest struct {
	Outcome    Outcome   `json:"outcome,omitempty"`
	Text       Text      `json:"text,omitzero"`
	Promised   bool      `json:"promised,omitempty"`
	Problem    string    `json:"problem,omitempty"`
	Exit       int       `json:"exit,omitempty"`
	Session    string    `json:"session,omitempty"`
	Transcript string    `json:"transcript,omitempty"`
	ResetsAt   time.Time `json:"resets_at,omitzero"` // of any iteration
	Denied     []Denial  `json:"denied,omitempty"`
	Again      *Denial   `json:"again,omitempty"` // one that the iteration before had too
}

// Final is how a run ended.
type Final struct {
	End    End        `json:"end"`
	Rule   string     `json:"rule,omitempty"`
	Limit  string     `json:"limit,omitempty"` // iterations, elapsed, tokens, cost or window
	Why    string     `json:"why,omitempty"`   // cut to 4 KiB
	Resets *time.Time `json:"resets_at,omitempty"`
}

// New returns the state of a run that has not begun. Its first input is [Start].
func New(p Plan) State {
	p.Limits = p.Limits.Or(Limits{Iterations: DefaultIterations, Elapsed: DefaultElapsed})
	p.Iteration = cmp.Or(p.Iteration, DefaultIteration)
	return State{V: version, Plan: p}
}

// Totals returns what the run has used at a time, until which its driver lives.
func (s State) Totals(at time.Time) Totals {
	return Totals{Iterations: s.Iterations, Tokens: s.Spent.Tokens, Cost: s.Spent.Cost, Window: s.Spent.Window, Elapsed: s.Elapsed + max(0, at.Sub(s.At)), Outcomes: s.Spent.Outcomes}
}

// over returns when the time of the run is over, if its driver lives until then.
func (s *State) over() time.Time { return s.At.Add(s.Plan.Limits.Elapsed - s.Elapsed) }

// live counts the time since the previous input.
func (s *State) live(at time.Time) {
	if !s.At.IsZero() {
		s.Elapsed += max(0, at.Sub(s.At))
	}
	s.At = at
}

// count counts an outcome, in a new map because events keep the old one.
func (s *Spent) count(o Outcome) {
	if s.Outcomes = maps.Clone(s.Outcomes); s.Outcomes == nil {
		s.Outcomes = map[Outcome]int{}
	}
	if _, known := s.Outcomes[o]; !known && len(s.Outcomes) >= maxOutcomes {
		o = Crashed
	}
	s.Outcomes[o]++
}

// MaxTokens bounds a count of tokens, so that a sum of two is an int.
const MaxTokens = math.MaxInt >> 8

// Bounds on what an input adds to a state.
const (
	maxOutcomes = 32
	maxName     = 256
	maxAllow    = 512
)

// spend adds what an iteration used.
func (s *Spent) spend(it Iteration) {
	s.Tokens = min(s.Tokens+min(max(s.tokens(it), 0), MaxTokens), MaxTokens)
	if it.Cost != nil && *it.Cost >= 0 {
		sum := *it.Cost
		if s.Cost != nil {
			sum += *s.Cost
		}
		s.Cost = &sum
	}
	s.Window = cmp.Or(it.Window, s.Window)
}

// tokens returns the tokens of an iteration: those that a resumed session had used before are already counted.
func (s *Spent) tokens(it Iteration) int {
	if it.Used == 0 {
		return it.Tokens
	}
	before := 0
	if it.Session == s.UsedBy {
		before = s.Used
	}
	s.UsedBy, s.Used = it.Session, it.Used
	return it.Used - before
}
