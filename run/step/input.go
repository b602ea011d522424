package step

import "time"

// InputKind is what happened.
type InputKind string

// The inputs. Those that answer a command need its key; one that does not fit the state changes nothing.
const (
	Start      InputKind = "start"       // begins a run
	Resume     InputKind = "resume"      // continues one that has ended or whose driver was killed
	Iterated   InputKind = "iterated"    // an iteration ended
	NotStarted InputKind = "not_started" // the command was not carried out, and has no effects; Why is the reason
	Lost       InputKind = "lost"        // an iteration was started, and its end is unknown
	Merged     InputKind = "merged"      // its work is on the run's branch
	Decided    InputKind = "decided"     // the policy decided, or Look found the loop
	Elapsed    InputKind = "elapsed"     // the time of Wait is over
	Awaited    InputKind = "awaited"     // the until of a rule was evaluated; Waits says whether the rule still waits
	Pause      InputKind = "pause"       // a person pauses the run: nothing new is started, and time keeps counting
	Go         InputKind = "go"          // a person continues a paused run
	Answer     InputKind = "answer"      // a person answers the run's question
	Stop       InputKind = "stop"        // a person ends the run: after the command under way, or at once while it waits
	Broken     InputKind = "broken"      // the driver cannot continue; Why is the reason
	Gone       InputKind = "gone"        // the work of the run is out of reach; Why is the reason
)

// Input is something that happened. Fields that do not apply to the kind are zero.
type Input struct {
	Kind InputKind `json:"kind"`
	At   time.Time `json:"at"`
	Key  string    `json:"key,omitempty"` // of the command that it answers

	Iteration *Iteration `json:"iteration,omitempty"` // Iterated
	Decision  *Decision  `json:"decision,omitempty"`  // Decided
	Limits    Limits     `json:"limits,omitzero"`     // Resume: nonzero fields replace those of the run
	Answer    Text       `json:"answer,omitzero"`     // Answer, Resume
	Why       string     `json:"why,omitempty"`       // Pause, Stop, NotStarted, Broken, Gone
	Refused   string     `json:"refused,omitempty"`   // why the agent cannot be started, if the input would start an iteration
	Later     bool       `json:"later,omitempty"`     // Stop: a decision that is due is still made
	Waits     bool       `json:"waits,omitempty"`     // Awaited
}

// Iteration is how an iteration ended.
type Iteration struct {
	Outcome    Outcome   `json:"outcome"`
	Text       Text      `json:"text,omitzero"`        // the agent's last message
	Promised   bool      `json:"promised,omitempty"`   // the message has the line Plan.Said
	Problem    string    `json:"problem,omitempty"`    // the client's error message
	Session    string    `json:"session,omitempty"`    // the client's session
	Transcript string    `json:"transcript,omitempty"` // the session file
	Tokens     int       `json:"tokens,omitempty"`     // input and output, cached tokens included
	Used       int       `json:"used,omitempty"`       // tokens of the whole session so far, if the client reports only those; Tokens is then 0
	Cost       *float64  `json:"cost_usd,omitempty"`   // US dollars; nil if unknown
	Window     float64   `json:"window,omitempty"`     // how much of the client's usage window is used, in percent; 0 if unknown
	ResetsAt   time.Time `json:"resets_at,omitzero"`   // with RateLimited: when the limit resets, zero if unknown
	Exit       int       `json:"exit,omitempty"`       // exit status of the process
	Left       int       `json:"left,omitempty"`       // how many processes the agent left
	Denied     []Denial  `json:"denied,omitempty"`     // what the client did not let the agent do; a state keeps the first MaxDenied
}

// Denial is a use of a tool that a client did not permit. Two with the same tool and input are the same.
type Denial struct {
	Tool  string `json:"tool"`
	Input string `json:"input,omitempty"` // in short, such as a command or a path
	Why   string `json:"why,omitempty"`   // in the client's words
	Allow string `json:"allow,omitempty"` // what a person does to allow it, in the client's own syntax; "" if that is unknown
}

// MaxDenied is the most denials of an iteration that a state keeps.
const MaxDenied = 8

// Decision is what the policy decided. That of Look has only Prompt and Memory, or End and Why.
type Decision struct {
	Action   string    `json:"action,omitempty"` // continue, stop, ask or wait; "" of Look
	Rule     string    `json:"rule,omitempty"`
	Notices  []string  `json:"notices,omitempty"`
	Done     *float64  `json:"done,omitempty"`
	Total    *float64  `json:"total,omitempty"`
	Prompt   Text      `json:"prompt,omitzero"`    // of the next iteration, if the run continues
	Memory   Text      `json:"memory,omitzero"`    // of the loop, after the decision
	Answered bool      `json:"answered,omitempty"` // the decision was made with the answer, which is then used
	End      End       `json:"end,omitempty"`      // how the decision ends the run, "" if it continues
	Why      string    `json:"why,omitempty"`      // for the user: the reason for End, the question, or what Wait is for
	Wait     *Awaiting `json:"wait,omitempty"`     // the rule waits; End and Prompt are then empty
}

// Awaiting is how a rule waits.
type Awaiting struct {
	Until time.Time     `json:"until"`    // the latest end
	Every time.Duration `json:"every_ns"` // how often to look
}
