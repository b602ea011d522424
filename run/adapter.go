package run

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Adapter knows the command line of a client and what it prints. It must be safe for concurrent use.
type Adapter interface {
	// Name is what users call the client, such as "claude".
	Name() string

	// Host is the name of the client as a host of hooks, in whose format its session files are read; "" if there is none.
	Host() string

	// Reports says what the client reports about itself. A limit on anything else is refused.
	Reports() Reports

	// Command makes the command line of an iteration. The error is for the user: an argument that cannot be combined with
	// what ralph needs.
	Command(i Invocation) (Command, error)

	// Output begins to read what one iteration prints.
	Output() Output
}

// Reports is what a client reports.
type Reports struct{ Tokens, Cost bool }

// Invocation is what a command line is made for.
type Invocation struct {
	Args    []string // as the user wrote them: the program and its flags
	Prompt  string
	Session string // the client's session that goes on, "" for a fresh one
	Dir     string // the working directory
}

// Command is a command line. Variables are added to the environment of this process, or replace its own.
type Command struct {
	Args  []string
	Env   []string // NAME=VALUE
	Stdin string   // what the client reads from stdin, which is closed after it
}

// Output reads what one iteration prints on stdout. It is used from one goroutine, and keeps no line: the next one is written over it.
type Output interface {
	// Line takes a line, without its end. Lines beyond [MaxLine] bytes are cut. It gives what the agent is doing, in a few
	// words for the user, "" for nothing new; and an outcome with which the iteration is to be ended now, such as auth
	// where the client would try again for minutes, else "".
	Line(line []byte) (shown string, end Outcome)

	// Result says how the iteration went, once the process has ended. Outcome and Text are required; the Outcome is "" where the
	// client does not say, and then follows from how the process ended. A process that a signal ended is never OK.
	Result(p Process) Result
}

// MaxLine is how long a line of output may be that an [Output] is given.
const MaxLine = 4 << 20

// Process is how the process of an iteration ended.
type Process struct {
	Exit   int    // its status, -1 if a signal ended it
	Signal string // that ended it, "" if none
	Stderr []byte // the end of what it printed there
	Dir    string // its working directory
	Env    []string
	Start  time.Time
}

// Result is how an iteration went, as the client reports it.
type Result struct {
	Outcome    Outcome
	Text       string    // the agent's last message
	Problem    string    // what went wrong, in the client's words
	Session    string    // the client's session
	Transcript string    // its session file, "" if it has none
	Tokens     int       // sent and received, those from a cache too
	Used       int       // the tokens of the whole session so far, where the client reports only those; Tokens is 0 then
	Cost       *float64  // in US dollars; nil if it is not known
	ResetsAt   time.Time // with RateLimited: when the limit resets, zero if that is not known
}

// Outcome is how an iteration ended.
type Outcome string

// The outcomes.
const (
	OK              Outcome = vocab.OK
	RateLimited     Outcome = vocab.RateLimited
	Auth            Outcome = vocab.Auth
	Billing         Outcome = vocab.Billing
	TurnLimit       Outcome = vocab.TurnLimit       // a limit of turns or time that the client was given
	ContextOverflow Outcome = vocab.ContextOverflow // the conversation is too long for the model
	OverBudget      Outcome = vocab.OverBudget      // a limit of cost that the client was given
	Timeout         Outcome = vocab.Timeout         // the iteration took longer than its time
	Crashed         Outcome = vocab.Crashed         // the client failed for any other reason
	Interrupted     Outcome = vocab.Interrupted     // it was ended on the user's request
	Lost            Outcome = vocab.Lost            // it died with the runner
)
