package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Action is the decision of a verdict. The zero Action is Stop, so that a bug lets the agent stop instead of trapping
// it.
type Action uint8

// The actions. A verdict that asks or waits lets the agent stop, too.
const (
	Stop Action = iota
	Continue
	Ask  // a person is asked, and Reason is the question
	Wait // for what Reason says, see [Verdict].Wait
)

var actions = [...]string{Stop: verbStop, Continue: verbContinue, Ask: verbAsk, Wait: verbWait}

// String returns the action's word in the policy language.
func (a Action) String() string {
	if int(a) >= len(actions) {
		return fmt.Sprintf("action %d", uint8(a))
	}
	return actions[a]
}

// MarshalText returns the action's word, for JSON. An invalid action is an error.
func (a Action) MarshalText() ([]byte, error) {
	if int(a) >= len(actions) {
		return nil, fmt.Errorf("there is no %s", a)
	}
	return []byte(a.String()), nil
}

// UnmarshalText parses the result of MarshalText.
func (a *Action) UnmarshalText(b []byte) error {
	i := slices.Index(actions[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown action %q; expected stop, continue, ask or wait", b)
	}
	*a = Action(i)
	return nil
}

// Verdict is the result of one evaluation. The zero Verdict lets the agent stop.
//
// Its JSON form has these fields in snake_case, times as RFC 3339 and durations in nanoseconds with names that end with
// _ns; zero fields except the action are omitted. It can be unmarshaled. Values in a trace are shortened to fit on a
// line.
type Verdict struct {
	Action   Action      `json:"action"`
	Rule     string      `json:"rule,omitempty"`     // the rule that decided, "limits.NAME" for a limit, "" if none did
	Pos      Pos         `json:"pos,omitzero"`       // the position of that rule
	Reason   string      `json:"reason,omitempty"`   // the message to the agent (continue), the question (ask), what it waits for (wait) or why it may stop
	Private  bool        `json:"private,omitempty"`  // of a stop or a question: the reason contains what traces do not show. The reason of a continue always counts as private
	Success  bool        `json:"success,omitempty"`  // of a stop: its rule has success, and nothing unusable kept a rule above it from continuing
	Show     bool        `json:"show,omitempty"`     // with no rule tried: show Reason to the session, for the first time
	Bound    string      `json:"bound,omitempty"`    // the limit that turned a continue into a stop, "" if none
	Cause    Cause       `json:"cause,omitempty"`    // why no rule decided, which Reason says to a person; "" if rules were tried without a fault
	Panic    *PanicError `json:"-"`                  // with FaultPanic, if something panicked
	Loop     *LoopInfo   `json:"loop,omitempty"`     // the loop that the event found, or nil
	Progress string      `json:"progress,omitempty"` // fingerprint of progress, only a SHA-256 digest if it is private; known only if a rule chose to continue
	Wait     *Waiting    `json:"wait,omitempty"`     // with the action Wait
	Parts    []Part      `json:"parts,omitempty"`    // the texts and effects of each rule of the verdict, in order
	Problems []Problem   `json:"problems,omitempty"` // for the user, in addition to the rules' texts
	Finally  []Effect    `json:"finally,omitempty"`  // to do after the verdict is applied, best effort: prune and log

	// Limits has the policy's limits before the verdict, only with [TraceFull] and if rules were tried.
	Limits []Limit `json:"limits,omitempty"`

	// Measure is the progress, if the policy declares how to measure it and the decision read what that needs.
	Measure *Measure `json:"measure,omitempty"`

	// Memory, Project and Session are the memories after this verdict. If Changed, store Memory by compare-and-set, and with it
	// Project and Session if they changed too, also on stops, before you act on the verdict.
	Memory         Memory `json:"memory"`
	Project        Memory `json:"project"`
	Session        Memory `json:"session"`
	Changed        bool   `json:"changed,omitempty"`
	ProjectChanged bool   `json:"project_changed,omitempty"`
	SessionChanged bool   `json:"session_changed,omitempty"`

	Cost  Budget `json:"cost"` // what the evaluation spent
	Trace Trace  `json:"trace"`
}

// Waiting is how a verdict waits. A caller that can start the agent evaluates the until of the rule, with
// [Program.Awaits], at each Every, and decides again once it does not wait or at Until.
type Waiting struct {
	Since time.Time     `json:"since,omitzero"` // of the first of consecutive waits by the rule; zero without a time
	Until time.Time     `json:"until,omitzero"` // the latest end
	Every time.Duration `json:"every_ns"`
}

// Limit is a limit and its current value: a count, nanoseconds for elapsed, or millionths of a US dollar for cost.
type Limit struct {
	Name string `json:"name"` // a key of limits
	At   int    `json:"at"`
	Of   int    `json:"of"`
}

// Measure is the progress of the work, in a unit that the policy chooses.
type Measure struct {
	Done  float64 `json:"done"`
	Total float64 `json:"total"`
}

// Part is the part of one rule in a verdict. Show its log and notice only if its effects succeeded.
type Part struct {
	Rule    string   `json:"rule"`
	Notice  string   `json:"notice,omitempty"`  // for the user
	Seen    bool     `json:"seen,omitempty"`    // of a stop rule: the session has just seen Notice, so only log it
	Note    string   `json:"note,omitempty"`    // of a note rule: for the user, or as context for the agent
	Log     string   `json:"log,omitempty"`     // for stderr
	Effects []Effect `json:"effects,omitempty"` // in order
	Private bool     `json:"private,omitempty"` // the texts contain what traces do not show: prompts, the agent's words, environment values, and anything derived from them
}

// EffectKind is the kind of an Effect; it is the key of the policy language. The zero kind does nothing.
type EffectKind string

// The effects that a rule can have.
const (
	SetEffect      EffectKind = "set"      // change one value in a file
	RememberEffect EffectKind = "remember" // change one value of the memory
	DeleteEffect   EffectKind = "delete"   // remove the file
	ArchiveEffect  EffectKind = "archive"  // move the file to .ralph/archive
	PruneEffect    EffectKind = "prune"    // remove old files that match a pattern
	RunEffect      EffectKind = "run"      // run a program
	LogEffect      EffectKind = "log"      // only in finally: write a log line
	OwnEffect      EffectKind = "own"      // an effect of the embedding program
)

// Effect is one change, evaluated and ready to be made.
type Effect struct {
	Kind    EffectKind    `json:"kind"`
	Fact    string        `json:"fact,omitempty"`       // set, delete, archive: the fact whose file it changes; run: its name in Rule.Runs
	Source  string        `json:"source,omitempty"`     // its source: json, frontmatter, …
	File    string        `json:"file,omitempty"`       // its path
	Version string        `json:"version,omitempty"`    // the version that the decision read
	Path    []any         `json:"path,omitempty"`       // set: the path in the document, string keys and int indexes
	Old     any           `json:"old,omitempty"`        // set, remember: the current value
	Value   any           `json:"new,omitempty"`        // set, remember: the new value; own: the arguments
	Glob    string        `json:"glob,omitempty"`       // prune
	Older   time.Duration `json:"older_ns,omitempty"`   // prune
	Name    string        `json:"name,omitempty"`       // remember: the value of the memory; own: its name
	Text    string        `json:"text,omitempty"`       // log
	Args    []string      `json:"args,omitempty"`       // run: the program and its arguments
	Timeout time.Duration `json:"timeout_ns,omitempty"` // run; 0 means the default
	To      string        `json:"to,omitempty"`         // archive: the new path, in the record of an applied decision
	Create  bool          `json:"create,omitempty"`     // set: the file is missing; create it with the fact's default
	Private bool          `json:"private,omitempty"`    // its path, values, pattern or text contain what traces do not show
}

// UnmarshalJSON parses the JSON form; indexes of the path are int, and values are as rules have them.
func (e *Effect) UnmarshalJSON(b []byte) error {
	type form Effect // without this method
	kept := struct {
		*form
		Old json.RawMessage `json:"old"`
		New json.RawMessage `json:"new"`
	}{form: (*form)(e)}
	if err := json.Unmarshal(b, &kept); err != nil {
		return err
	}
	for text, value := range map[*json.RawMessage]*any{&kept.Old: &e.Old, &kept.New: &e.Value} {
		*value = nil
		if len(*text) > 0 {
			v, err := schema.ParseJSON(*text)
			if err != nil {
				return err
			}
			*value = new(schema.Schema).Check(v).Value
		}
	}
	for i, step := range e.Path {
		if n, ok := step.(float64); ok {
			e.Path[i] = int(n)
		}
	}
	return nil
}

// PanicError is the error of a panic. Its text has no stack.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // as formatted by [debug.Stack]
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Cause is why no rule decided: why none was tried, or what kept the policy from deciding, which counts where both hold. ""
// is neither.
type Cause string

// The causes for which no rule is tried. The first five are ordinary and not logged. The others are about an existing
// loop; a session sees once why it is not continued. A caller that does not evaluate a policy at all uses the words too,
// and Paused is only theirs.
const (
	NotListed  Cause = "event"     // the policy does not decide the event
	NotFor     Cause = "when"      // the policy's own when is not true
	NoLoop     Cause = "none"      // the state is missing
	Off        Cause = "off"       // on: is not true, or all loops are switched off
	Paused     Cause = "paused"    // ralph pause, until ralph resume
	Stopped    Cause = "stopped"   // ralph stop, until ralph start
	InRun      Cause = "run"       // a run of the policy is under way
	Foreign    Cause = "owner"     // the loop belongs to another session
	Distrusted Cause = "untrusted" // the user has not trusted the project of the loop
)

// The faults, which kept the policy from deciding, so that the agent may stop. Problems of the verdict have the messages.
const (
	FaultBudget   Cause = "budget"   // the evaluation takes more steps than its Budget
	FaultContext  Cause = "context"  // the context is done
	FaultPanic    Cause = "panic"    // a bug, or something that the program gave panicked
	FaultRule     Cause = "rule"     // a rule, the policy's own when, or what Config.Lazy deferred cannot be evaluated, and no other rule decides
	FaultApproval Cause = "approval" // a rule needs a fact that a person has not approved
	FaultMemory   Cause = "memory"   // the counts of the loop are unknown, or cannot be stored
	FaultFact     Cause = "fact"     // a rule, the policy's own when or its loop is unknown because a fact cannot be used, and no rule decides
	FaultInput    Cause = "input"    // the event, its values or its project cannot be used; only of package loop
	FaultEffect   Cause = "effect"   // the verdict's changes cannot be made; only of package loop
)

// Untried reports whether no rule was tried, and nothing failed.
func (c Cause) Untried() bool {
	switch c {
	case NotListed, NotFor, NoLoop, Off, Paused:
		return true
	}
	return c.Loop()
}

// Loop reports whether no rule was tried because of an existing loop.
func (c Cause) Loop() bool {
	switch c {
	case Stopped, InRun, Foreign, Distrusted:
		return true
	}
	return false
}

// Failed reports whether something kept the policy from deciding.
func (c Cause) Failed() bool {
	switch c {
	case FaultContext, FaultPanic, FaultMemory, FaultInput, FaultEffect:
		return true
	}
	return c.Undecided()
}

// Undecided reports whether the policy was followed, and leaves undecided what to do.
func (c Cause) Undecided() bool {
	switch c {
	case FaultBudget, FaultRule, FaultApproval, FaultFact:
		return true
	}
	return false
}

// Outcome is the result of one rule that was reached, as explain shows it.
type Outcome string

// The outcomes.
const (
	No          Outcome = "no"            // its when is false
	Unknown     Outcome = "unknown"       // its when reads a missing or invalid fact
	Broken      Outcome = "error"         // its when could not be evaluated
	SteppedOver Outcome = "stepped aside" // unless_repeated skipped it
	Holds       Outcome = "holds"         // its when is true
)

// Trace shows how a verdict was made. When, Steps and Warnings are always set; the rest only with [TraceFull], which
// costs time.
type Trace struct {
	When     *Step      `json:"when,omitempty"` // the policy's own when, without a rule's name
	On       *Step      `json:"on,omitempty"`   // the loop's on, without a rule's name
	Steps    []*Step    `json:"steps"`          // do not modify: verdicts share those without operands
	Facts    []FactRead `json:"facts,omitempty"`
	Inputs   []Input    `json:"inputs,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`

	// Calls has the results of functions that read the world, by name and quoted argument, as in said("DONE"): a
	// boolean, or a string. Long and private arguments are omitted.
	Calls map[string]any `json:"-"`
}

// Step is one rule that was reached.
type Step struct {
	Rule     string        `json:"rule"`
	Outcome  Outcome       `json:"outcome"`
	Repeated int           `json:"repeated,omitempty"` // the number of its verdicts, for unless_repeated
	Because  string        `json:"because,omitempty"`  // why it does not hold: the operand that is false, or the reason for unknown or an error
	Operands []OperandStep `json:"operands,omitempty"`
	Pos      Pos           `json:"pos"`
	Start    time.Duration `json:"start_ns,omitempty"` // since the evaluation began; only in a full trace
	Took     time.Duration `json:"took_ns,omitempty"`  // only in a full trace
}

// OperandStep is one operand that was evaluated.
type OperandStep struct {
	Text    string `json:"text"`            // as written in the policy, with its not
	Value   any    `json:"value,omitempty"` // nil when unknown
	Unknown bool   `json:"unknown,omitempty"`
	Problem string `json:"problem,omitempty"`
	Reads   []Read `json:"reads,omitempty"`
}

// Read is a name or sub-expression of an operand and its value.
type Read struct {
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	State string `json:"state,omitempty"` // missing, invalid, unusable, unknown or error; "" if there is a value
}

// FactRead is one fact that was gathered.
type FactRead struct {
	Name      string        `json:"name"`
	Source    string        `json:"source"`
	Status    Status        `json:"status,omitempty"`   // before a default replaced it; omitted if OK
	Unusable  bool          `json:"unusable,omitempty"` // it exists or was tried, and has no value
	Defaulted bool          `json:"defaulted,omitempty"`
	Path      string        `json:"path,omitempty"`
	Problem   string        `json:"problem,omitempty"`
	Modified  time.Time     `json:"modified,omitzero"` // when the file was written last, where the fact is one
	Start     time.Duration `json:"start_ns"`          // since the evaluation began
	Took      time.Duration `json:"took_ns"`

	Meta map[string]any `json:"meta,omitempty"` // as the source returned it
}

// Input is one value that an evaluation read, which a replay of the decision needs. Long and private values are cut;
// the entry stays.
type Input struct {
	// Name is a fact and a JSON pointer into it, joined by # (state#/taskIndex, feature#), one of ralph's names
	// (stop_hook_active), memory.NAME, or age(FACT).
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	Cut   bool   `json:"cut,omitempty"` // the value is too long, only reported, or private and not empty

	// Reported says that only texts read it, so it did not affect the decision.
	Reported bool `json:"reported,omitempty"`
}

// inputName returns the name of the input at a path of a fact.
func inputName(fact string, path []string) string { return fact + "#" + schema.PointerOf(path) }
