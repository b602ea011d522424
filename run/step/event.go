package step

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Kind is the kind of an [Event].
type Kind string

// The kinds. All except AgentOutput are in run.jsonl.
const (
	RunStart       Kind = "run_start"
	RunResume      Kind = "run_resume"      // an interrupted run continues
	IterationStart Kind = "iteration_start" // an agent was started
	AgentOutput    Kind = "output"          // the agent reports what it is doing; not in run.jsonl
	IterationEnd   Kind = "iteration_end"
	VerdictMade    Kind = "verdict" // the policy decided
	Waiting        Kind = "waiting" // for what a rule waits for, a rate limit, after a crash, or while the run is paused
	RunEnd         Kind = "run_end"
)

// Event is something that happened in a run. Fields that do not apply to the kind are zero, and their JSON form omits
// them.
type Event struct {
	V    int       `json:"v"` // the version, 1
	Seq  int       `json:"seq,omitempty"`
	Kind Kind      `json:"event"`
	Time time.Time `json:"time"`
	Run  string    `json:"run"`

	Iteration int `json:"iteration,omitempty"` // from 1; each start of the agent has its own number

	Policy string   `json:"policy,omitempty"` // run_start, run_resume
	Client string   `json:"client,omitempty"`
	Args   []string `json:"args,omitempty"` // without the values of variables, as in NAME=VALUE

	Prompt int    `json:"prompt_bytes,omitempty"` // iteration_start: its length
	Shown  string `json:"shown,omitempty"`        // output

	Outcome Outcome    `json:"outcome,omitempty"`   // iteration_end
	Problem string     `json:"problem,omitempty"`   // iteration_end: the client's error message
	Session string     `json:"session,omitempty"`   // iteration_end: the client's session
	Exit    *int       `json:"exit,omitempty"`      // iteration_end: exit status of the process
	Left    int        `json:"left,omitempty"`      // iteration_end: how many processes the agent left; ralph ended them
	Denied  []Denial   `json:"denied,omitempty"`    // iteration_end: what the client did not let the agent do
	Resets  *time.Time `json:"resets_at,omitempty"` // iteration_end, run_end: of the rate limit

	Action  string   `json:"action,omitempty"`  // verdict: continue, stop, ask or wait
	Rule    string   `json:"rule,omitempty"`    // verdict, run_end
	Notices []string `json:"notices,omitempty"` // verdict: messages for the user
	Done    *float64 `json:"done,omitempty"`    // verdict: progress out of Total, if the policy measures it
	Total   *float64 `json:"total,omitempty"`

	Limit string     `json:"limit,omitempty"` // run_end: the limit of the run that was reached: iterations, elapsed, tokens, cost or window
	Until *time.Time `json:"until,omitempty"` // waiting: the latest end, missing while paused
	Why   string     `json:"why,omitempty"`   // waiting, run_end: for the user

	Ended  End    `json:"ended,omitempty"` // run_end
	Totals Totals `json:"totals,omitzero"` // iteration_end, run_end: so far
}

// Totals is what a run has used so far.
type Totals struct {
	Iterations int             `json:"iterations"`
	Tokens     int             `json:"tokens,omitempty"`
	Cost       *float64        `json:"cost_usd,omitempty"` // nil if the client does not report it
	Window     float64         `json:"window,omitempty"`   // how much of the client's usage window is used, by the run or else, in percent; 0 if unknown
	Elapsed    time.Duration   `json:"elapsed_ns"`         // that ralph worked on the run, including its waiting; not while no process of ralph did
	Outcomes   map[Outcome]int `json:"outcomes,omitempty"`
}

// End is why a run ended.
type End string

// The ends. A run can be resumed after any end except Success.
const (
	Success     End = "success"     // a rule with success: true, or the line of the plan
	Stopped     End = "stopped"     // another rule, or none, lets the agent stop
	Asked       End = "asked"       // a rule asks a person, and Why is the question
	Denied      End = "denied"      // the client denied the agent the same in two iterations in a row, and Why says what allows it
	StillWaits  End = "waiting"     // the time of the run is over while a rule waits
	AtLimit     End = "limit"       // a limit of the run or of the policy
	NoProgress  End = "repeats"     // the policy's limit of repeats
	NoReset     End = "rate_limit"  // the rate limit resets after the run's time limit
	NoAccess    End = "auth"        // authentication or billing
	TooManyFail End = "crashes"     // the client crashed three times in a row
	TooManyLost End = "lost"        // three iterations in a row were lost, or the work of the run is out of reach
	Cancelled   End = "interrupted" // by the user or a done context
	Failed      End = "failed"      // an error kept it from running
)

// Outcome is how an iteration ended.
type Outcome string

// The outcomes.
const (
	OK              Outcome = vocab.OK
	RateLimited     Outcome = vocab.RateLimited
	Auth            Outcome = vocab.Auth
	Billing         Outcome = vocab.Billing
	TurnLimit       Outcome = vocab.TurnLimit       // a limit of turns or time set in the client
	ContextOverflow Outcome = vocab.ContextOverflow // the conversation is too long for the model
	OverBudget      Outcome = vocab.OverBudget      // a cost limit set in the client
	Timeout         Outcome = vocab.Timeout         // the iteration took too long
	Crashed         Outcome = vocab.Crashed         // the client failed for any other reason
	Interrupted     Outcome = vocab.Interrupted     // the user ended it
	WasLost         Outcome = vocab.Lost            // ralph was killed during the iteration
)
