package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Action is what a verdict says. The zero Action is Stop, so that a bug lets the
// agent stop and never traps it.
type Action uint8

// The two actions.
const (
	Stop Action = iota
	Continue
)

var actions = [...]string{Stop: "stop", Continue: "continue"}

// String returns the word of the policy language.
func (a Action) String() string {
	if int(a) >= len(actions) {
		return fmt.Sprintf("action %d", uint8(a))
	}
	return actions[a]
}

// MarshalText writes the action as its word, for JSON. An action that is none is an error.
func (a Action) MarshalText() ([]byte, error) {
	if a > Continue {
		return nil, fmt.Errorf("there is no %s", a)
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (a *Action) UnmarshalText(b []byte) error {
	i := slices.Index(actions[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown action %q, expected stop or continue", b)
	}
	*a = Action(i)
	return nil
}

// Verdict is the outcome of one evaluation. The zero Verdict lets the agent stop.
//
// Its JSON form has these fields in snake_case, times as RFC 3339 and durations in
// nanoseconds under names that end with _ns; zero fields are left out, but for the
// action. It reads back. Values that a trace shows are cut to what a line can hold.
type Verdict struct {
	Action   Action    `json:"action"`
	Rule     string    `json:"rule,omitempty"`     // the rule that decided, "limits.NAME" for a limit, "" if none did
	Pos      Pos       `json:"pos,omitzero"`       // where that rule stands
	Reason   string    `json:"reason,omitempty"`   // what goes to the agent (continue) or why it may stop
	Private  bool      `json:"private,omitempty"`  // of a stop: the reason shows what traces do not. The reason of a continue is for the agent, so it always counts as private
	Success  bool      `json:"success,omitempty"`  // of a stop: its rule says that the work is done, and nothing that could not be used kept a rule above it from continuing
	Idle     bool      `json:"idle,omitempty"`     // the policy is not for this event: no rule was tried, and Reason says why
	Show     bool      `json:"show,omitempty"`     // of an idle verdict: the session is to see Reason, for the first time
	Bound    string    `json:"bound,omitempty"`    // name of the limit that turned a continue into a stop, "" if none
	Fault    Fault     `json:"fault,omitempty"`    // why it could not judge, so the agent may stop; "" if it could. Problems has the words
	Aside    Aside     `json:"aside,omitempty"`    // of an idle verdict: why the loop of the policy is not for the event
	Loop     *LoopInfo `json:"loop,omitempty"`     // the loop that the event found, nil if there is none or the policy names none
	Progress string    `json:"progress,omitempty"` // fingerprint of progress, only a SHA-256 digest where it is private; only known where a rule chose to continue
	Parts    []Part    `json:"parts,omitempty"`    // what each rule of the verdict has to say and to do, in order
	Problems []Problem `json:"problems,omitempty"` // reported to the user though no rule says it
	Finally  []Effect  `json:"finally,omitempty"`  // done after the verdict was applied, best effort: prune and log

	// Limits are those of the policy as they stood before the verdict. Only with
	// [TraceFull], and not if Idle.
	Limits []Limit `json:"limits,omitempty"`

	// Measure is how far the work is, where the policy says how to measure it and the
	// decision read what that takes.
	Measure *struct {
		Done  float64 `json:"done"`
		Total float64 `json:"total"`
	} `json:"measure,omitempty"`

	// Memory and Project are the memories after this verdict. If Changed, store both,
	// on stops too, by compare-and-set, before you act on the verdict.
	Memory  Memory `json:"memory"`
	Project Memory `json:"project"`
	Changed bool   `json:"changed,omitempty"`

	Cost  Budget `json:"cost"` // what the evaluation spent
	Trace Trace  `json:"trace"`
}

// Limit is a limit as it stood: a count, nanoseconds for elapsed, or millionths of a
// US dollar for cost.
type Limit struct {
	Name string `json:"name"` // a key of limits
	At   int    `json:"at"`
	Of   int    `json:"of"`
}

// Part is the share of one rule in a verdict. Its log and notice are shown only if
// its effects succeeded.
type Part struct {
	Rule    string   `json:"rule"`
	Notice  string   `json:"notice,omitempty"`  // for the user
	Seen    bool     `json:"seen,omitempty"`    // of a rule that stops: Notice is what the session saw last, so it is for the log alone
	Note    string   `json:"note,omitempty"`    // from a note rule: for the user, or as context for the agent
	Log     string   `json:"log,omitempty"`     // for stderr
	Effects []Effect `json:"effects,omitempty"` // in order
	Private bool     `json:"private,omitempty"` // the texts show what traces do not: a prompt, words of the agent, the environment, and what is made of them
}

// EffectKind is what an Effect does; it is the key of the policy language. The
// zero kind does nothing.
type EffectKind string

// The effects that a rule can ask for.
const (
	SetEffect      EffectKind = "set"      // change one value in a file
	RememberEffect EffectKind = "remember" // change one value of the memory
	DeleteEffect   EffectKind = "delete"   // remove the file
	ArchiveEffect  EffectKind = "archive"  // move the file to .ralph/archive
	PruneEffect    EffectKind = "prune"    // remove old files that match a pattern
	RunEffect      EffectKind = "run"      // run a program
	LogEffect      EffectKind = "log"      // only in finally: write a log line
	VerbEffect     EffectKind = "verb"     // a verb of the program that embeds ralph
)

// Effect is one change, evaluated and ready to be made.
type Effect struct {
	Kind    EffectKind    `json:"kind"`
	Fact    string        `json:"fact,omitempty"`       // set, delete, archive: the fact whose file is meant; run: its name among Rule.Runs
	Source  string        `json:"source,omitempty"`     // its source: json, frontmatter, …
	File    string        `json:"file,omitempty"`       // its path
	Version string        `json:"version,omitempty"`    // the version that the decision was made on
	Path    []any         `json:"path,omitempty"`       // set: where in the document, string keys and int indexes
	Old     any           `json:"old,omitempty"`        // set, remember: what stands there
	Value   any           `json:"new,omitempty"`        // set, remember: the new value; verb: the arguments
	Glob    string        `json:"glob,omitempty"`       // prune
	Older   time.Duration `json:"older_ns,omitempty"`   // prune
	Name    string        `json:"name,omitempty"`       // remember: the value of the memory
	Text    string        `json:"text,omitempty"`       // log
	Args    []string      `json:"args,omitempty"`       // run: the program and its arguments
	Timeout time.Duration `json:"timeout_ns,omitempty"` // run; 0 leaves it to who runs it
	Verb    string        `json:"verb,omitempty"`       // verb: its name
	To      string        `json:"to,omitempty"`         // archive: where the file is, in the record of a decision that was applied
	Create  bool          `json:"create,omitempty"`     // set: there is no file yet; it begins as the default of the fact
	Private bool          `json:"private,omitempty"`    // its path, values, pattern or text show what traces do not
}

// UnmarshalJSON reads the JSON form; indexes of the path are int again.
func (e *Effect) UnmarshalJSON(b []byte) error {
	type form Effect // without this method
	if err := json.Unmarshal(b, (*form)(e)); err != nil {
		return err
	}
	for i, step := range e.Path {
		if n, ok := step.(float64); ok {
			e.Path[i] = int(n)
		}
	}
	return nil
}

// Fault is why a verdict could not judge. The agent may stop then, whatever the policy
// means. "" is no fault.
type Fault string

// The faults.
const (
	FaultBudget  Fault = "budget"  // the evaluation takes more steps than its Budget
	FaultContext Fault = "context" // the context is done
	FaultPanic   Fault = "panic"   // a bug, or a Facts that panics
	FaultRule    Fault = "rule"    // a rule, the policy's own when, or what Config.Lazy put off cannot be evaluated, and no other rule decides
	FaultFact    Fault = "fact"    // a rule, the policy's own when or its loop is undecided because a fact cannot be used, and no rule decides
)

// Outcome is what became of one rule that was reached, as explain shows it.
type Outcome string

// The outcomes, in the order in which a reader meets them.
const (
	No          Outcome = "no"            // its when is false
	Unknown     Outcome = "unknown"       // its when reads a missing or invalid fact
	Broken      Outcome = "error"         // its when could not be evaluated
	SteppedOver Outcome = "stepped aside" // unless_repeated let it step aside
	Holds       Outcome = "holds"         // its when is true
)

// Trace shows how a verdict came about. When, Steps and Warnings are always filled;
// the rest only with [TraceFull], since it costs.
type Trace struct {
	When     *Step      `json:"when,omitempty"` // the policy's own when, without the name of a rule
	On       *Step      `json:"on,omitempty"`   // the loop's on, without the name of a rule
	Steps    []*Step    `json:"steps"`          // must not be changed: verdicts share those without operands
	Facts    []FactRead `json:"facts,omitempty"`
	Inputs   []Input    `json:"inputs,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`

	// Calls holds what functions that ask the world answered, by name and quoted
	// argument, as in said("DONE"): true or false, or a text. Questions that are long or
	// private are left out.
	Calls map[string]any `json:"-"`
}

// Step is one rule that was reached.
type Step struct {
	Rule     string        `json:"rule"`
	Outcome  Outcome       `json:"outcome"`
	Repeated int           `json:"repeated,omitempty"` // in how many verdicts it has been, for unless_repeated
	Because  string        `json:"because,omitempty"`  // why it does not hold: the operand that is false, or why one is unknown or an error
	Operands []OperandStep `json:"operands,omitempty"`
	Pos      Pos           `json:"pos"`
	Start    time.Duration `json:"start_ns,omitempty"` // since the evaluation began; only in a full trace
	Took     time.Duration `json:"took_ns,omitempty"`  // only in a full trace
}

// OperandStep is one operand that was evaluated.
type OperandStep struct {
	Text    string `json:"text"`            // as the policy writes it, with its not
	Value   any    `json:"value,omitempty"` // nil when unknown
	Unknown bool   `json:"unknown,omitempty"`
	Problem string `json:"problem,omitempty"`
	Reads   []Read `json:"reads,omitempty"`
}

// Read is one name or sub-expression of an operand and what it was.
type Read struct {
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	State string `json:"state,omitempty"` // missing, invalid, unusable, unknown or error: why there is no value
}

// FactRead is one fact that was gathered.
type FactRead struct {
	Name      string        `json:"name"`
	Source    string        `json:"source"`
	Status    Status        `json:"status,omitempty"` // as it was gathered, before its default replaced it; left out if it is OK
	Defaulted bool          `json:"defaulted,omitempty"`
	Path      string        `json:"path,omitempty"`
	Problem   string        `json:"problem,omitempty"`
	Modified  time.Time     `json:"modified,omitzero"` // when the file was written last, where the fact is one
	Start     time.Duration `json:"start_ns"`          // since the evaluation began
	Took      time.Duration `json:"took_ns"`

	Meta map[string]any `json:"meta,omitempty"` // as its source gave it
}

// Input is one value that an evaluation read: what a replay of the decision needs
// to decide again. Long and private values are cut out; that they were read stays.
type Input struct {
	// Name is a fact and the JSON pointer into it, joined by # (state#/taskIndex,
	// feature#), one of ralph's names (stop_hook_active), memory.NAME, or age(FACT).
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	Cut   bool   `json:"cut,omitempty"` // the value is too long, private, or only reported

	// Reported says that only texts read it, so that nothing was decided by it.
	Reported bool `json:"reported,omitempty"`
}

// inputName is the name of the input that is read at this path of a fact.
func inputName(fact string, path []string) string { return fact + "#" + schema.PointerOf(path) }
