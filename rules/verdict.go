package rules

import (
	"fmt"
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

// String gives the word of the policy language.
func (a Action) String() string {
	if a == Continue {
		return "continue"
	}
	return "stop"
}

// MarshalText writes the action as its word, for JSON.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Action) UnmarshalText(b []byte) error {
	switch string(b) {
	case "stop":
		*a = Stop
	case "continue":
		*a = Continue
	default:
		return fmt.Errorf("unknown action %q, expected stop or continue", b)
	}
	return nil
}

// Verdict is the outcome of one evaluation. The zero Verdict lets the agent stop.
type Verdict struct {
	Action   Action
	Rule     string   // the rule that decided, "limits.NAME" for a bound, "" if none did
	Pos      Pos      // where that rule stands
	Reason   string   // what goes to the agent (continue) or why it may stop
	Private  bool     // the reason shows what traces do not
	Bound    string   // name of the limit that turned a continue into a stop, "" if none
	Failed   bool     // a rule, or the policy's own when, could not be worked out and stops
	Idle     bool     // the policy is not for this event: its own when is not true, and no rule was tried
	Progress string   // fingerprint of progress, for the loop memory; only known after a continue
	Parts    []Part   // what each rule of the verdict has to tell and to do, in order
	Problems []string // what the person should know though no rule says it
	Finally  []Effect // done after the verdict was applied, best effort: prune and log
	Trace    Trace
}

// Part is the share of one rule in a verdict. Its log and notice are told only if
// its effects succeeded.
type Part struct {
	Rule    string
	Notice  string   // for the person
	Note    string   // from a note rule: for the person, or as context for the agent
	Log     string   // for stderr
	Effects []Effect // in order
	Private bool     // they show what traces do not: a prompt, words of the agent, the environment
}

// EffectKind tells what an Effect does. The zero kind does nothing.
type EffectKind uint8

// The effects that a rule can ask for.
const (
	SetEffect     EffectKind = iota + 1 // change one value in a JSON or front-matter file
	DeleteEffect                        // remove the file
	ArchiveEffect                       // move the file to .ralph/archive
	PruneEffect                         // remove old files that match a pattern
	LogEffect                           // only in finally: write a log line
)

// String gives the key of the policy language.
func (k EffectKind) String() string {
	switch k {
	case SetEffect:
		return "set"
	case DeleteEffect:
		return "delete"
	case ArchiveEffect:
		return "archive"
	case PruneEffect:
		return "prune"
	case LogEffect:
		return "log"
	}
	return "none"
}

// MarshalText writes the kind as its key, for JSON.
func (k EffectKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Effect is one change, worked out and ready to be made.
type Effect struct {
	Kind    EffectKind
	Fact    string        // set, delete, archive: the fact whose file is meant
	Source  string        // its source: json, frontmatter, …
	File    string        // its path
	Version string        // the version that the decision was made on
	Path    []any         // set: where in the document, string keys and int indexes
	Value   any           // set: the new value
	Glob    string        // prune
	Older   time.Duration // prune
	Text    string        // log
	Private bool          // log: the text shows what traces do not
}

// Outcome is what became of one rule.
type Outcome uint8

// The outcomes, in the order in which a reader meets them.
const (
	NotReached  Outcome = iota // an earlier rule decided
	No                         // its when is false
	Unknown                    // its when reads a missing or invalid fact
	Broken                     // its when could not be worked out
	SteppedOver                // unless_repeated let it step aside
	Holds                      // its when is true
)

// String gives the word that explain shows.
func (o Outcome) String() string {
	return [...]string{"not reached", "no", "unknown", "error", "stepped aside", "holds"}[o]
}

// MarshalText writes the outcome as its word, for JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Outcome) UnmarshalText(b []byte) error {
	for candidate := NotReached; candidate <= Holds; candidate++ {
		if candidate.String() == string(b) {
			*o = candidate
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", b)
}

// Trace tells how a verdict came about. Steps is always filled; the rest only by
// Explain, since it costs.
type Trace struct {
	When     *Step      `json:"when,omitempty"` // the policy's own when, without the name of a rule
	Steps    []Step     `json:"steps"`
	Facts    []FactRead `json:"facts,omitempty"`
	Inputs   []Input    `json:"inputs,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
}

// Step is one rule that was reached.
type Step struct {
	Rule     string        `json:"rule"`
	Outcome  Outcome       `json:"outcome"`
	Because  string        `json:"because,omitempty"` // the first operand that kept it from holding
	Operands []OperandStep `json:"operands,omitempty"`
	Pos      Pos           `json:"pos"`
	Took     time.Duration `json:"took_ns,omitempty"`
}

// OperandStep is one operand that was evaluated.
type OperandStep struct {
	Text    string `json:"text"`
	Value   any    `json:"value,omitempty"` // nil when unknown
	Unknown bool   `json:"unknown,omitempty"`
	Problem string `json:"problem,omitempty"`
	Reads   []Read `json:"reads,omitempty"`
}

// Read is one name or sub-expression of an operand and what it was.
type Read struct {
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	State string `json:"state,omitempty"` // missing, invalid, unusable: why there is no value
}

// FactRead is one fact that was gathered.
type FactRead struct {
	Name      string        `json:"name"`
	Source    string        `json:"source"`
	Status    Status        `json:"status"` // as it was gathered, before its default stood in
	Defaulted bool          `json:"defaulted,omitempty"`
	Path      string        `json:"path,omitempty"`
	Problem   string        `json:"problem,omitempty"`
	Took      time.Duration `json:"took_ns"`

	Meta map[string]any `json:"meta,omitempty"` // as its source gave it
}

// Input is one value that an evaluation read: what a replay of the decision needs
// to decide again. Long and private values are cut out; that they were read stays.
type Input struct {
	// Name is a fact and the JSON pointer into it, joined by # (state#/taskIndex,
	// feature#), one of ralph's names (stop_hook_active), or age(FACT).
	Name  string `json:"name"`
	Value any    `json:"value,omitempty"`
	Cut   bool   `json:"cut,omitempty"`  // the value is too long, private, or only told
	Told  bool   `json:"told,omitempty"` // only texts read it, so that nothing was decided by it
}

// InputName is the name of the input that is read at this path of a fact.
func InputName(fact string, path []any) string { return fact + "#" + schema.PointerOf(path) }
