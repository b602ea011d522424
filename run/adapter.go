package run

import "time"

// Adapter builds the command line of a client and parses its output. It must be safe for concurrent use.
type Adapter interface {
	// Name returns what users call the client, such as "claude".
	Name() string

	// Host returns the name of the client as a host of hooks, in whose format its session files are read; "" if it is
	// not one.
	Host() string

	// Reports returns what the client reports about itself. A limit on anything else is an error.
	Reports() Reports

	// Command builds the command line of an iteration. The error is for the user: an argument conflicts with one that
	// ralph needs.
	Command(i Invocation) (Command, error)

	// Output returns a parser for the output of one iteration.
	Output() Output
}

// Reports is what a client reports. The zero value is nothing.
type Reports struct{ Tokens, Cost, Window bool }

// Invocation describes an iteration to the adapter.
type Invocation struct {
	Args    []string // the program and its flags, as the user wrote them
	Prompt  string
	Session string // the client's session to resume, "" for a fresh one
	Dir     string // the working directory
}

// Command is a command line. Env is added to the environment of this process and overrides it.
type Command struct {
	Args  []string
	Env   []string // NAME=VALUE
	Stdin string   // sent to the client's stdin, which is then closed
}

// Output parses the stdout of one iteration. It is used from one goroutine, and must not keep a line: the next one
// overwrites it.
type Output interface {
	// Line parses a line without its end, cut to [MaxLine] bytes. shown is what the agent is doing, in a few words for
	// the user, "" for nothing new. end is an outcome that ends the iteration immediately, such as auth if the client
	// would retry for minutes, otherwise "".
	Line(line []byte) (shown string, end Outcome)

	// Result returns how the iteration ended; it is called after the process has ended. Outcome and Text are required;
	// Outcome is "" if the client does not report one, and then follows from the exit of the process. A process that a
	// signal ended is never OK.
	Result(p Process) Result
}

// MaxLine bounds a line of output that an [Output] receives, in bytes.
const MaxLine = 4 << 20

// Process is how the process of an iteration ended.
type Process struct {
	Exit   int    // the exit status, -1 if a signal ended the process
	Signal string // the signal, "" if none
	Stderr []byte // the end of stderr
	Dir    string // the working directory
	Env    []string
	Start  time.Time
}

// Result is how an iteration ended, as the client reports it.
type Result struct {
	Outcome    Outcome
	Text       string    // the agent's last message
	Problem    string    // the client's error message
	Session    string    // the client's session
	Transcript string    // the session file, "" if there is none
	Tokens     int       // input and output, cached tokens included
	Used       int       // tokens of the whole session so far, if the client reports only those; Tokens is then 0
	Cost       *float64  // US dollars; nil if unknown
	Window     float64   // how much of the client's usage window is used, in percent, of several the fullest; 0 if unknown
	ResetsAt   time.Time // with RateLimited: when the limit resets, zero if unknown
	Denied     []Denial  // what the client did not let the agent do
}
