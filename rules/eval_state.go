package rules

import (
	"context"
	"time"

	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// evaluation is the state of one Eval. It is used by one goroutine and reused.
type evaluation struct {
	current
	meter     meter
	vm        vm.VM
	slots     []slot         // by symbol
	gotten    []gathered     // by fact
	names     map[string]any // values by key, for expr's machine
	builtins  []*symbol      // names that every evaluation reads
	parts     []*Rule        // rules with texts for the verdict
	ran       []*operand     // of lets, evaluated where not all are
	causes    []string       // of rules with errors, each reported once
	problems  []reported
	explained []*Fact // facts whose problem a shown text contains
	latest    []*Step // of the trace: the first same of them, then the rest of the latest short one
	buf       []byte  // for texts
}

// got returns where the evaluation keeps a fact.
func (ev *evaluation) got(f *Fact) *gathered { return &ev.gotten[f.plan.index] }

// current is the part of an evaluation that each event resets. The memories are those of the verdict, initially as the
// event finds them.
type current struct {
	program *Program
	facts   Facts
	verdict *Verdict

	event     event
	here      position
	last      finding
	met       met
	used      usage
	gathering gathering
	trace     tracing

	untried Cause // why no rule is tried, also where a fault counts
	looking bool  // called by Look, which decides nothing
	settled bool  // the verdict is final; gather no new facts
}

// event is what the policy decides about, from Options.
type event struct {
	name      string
	now       time.Time
	busy      string
	untrusted string
	policy    string
	allow     []Capabilities
	watch     bool
	inRun     bool
	stopped   bool
}

// prompt reports whether the event is a prompt, which has no decision.
func (e *event) prompt() bool { return e.name == vocab.UserPromptSubmit }

// position is what is being evaluated.
type position struct {
	rule      *Rule // that is tried or rendered
	trying    bool  // its condition is being evaluated
	at        int   // the current operand, 0 if none
	in        *text // the current text, outside of its placeholders
	rendering bool  // a text is being rendered: what it reads does not decide
	goesOut   bool  // the current text is for the agent or the user
	quoted    bool  // a text contains what traces do not show
}

// finding is what is known of the latest operand beside its value.
type finding struct {
	why  sentence // it is unknown or invalid
	lack lack     // why it is unknown
	mark *mask    // of its value
}

// met is what the evaluation has come across.
type met struct {
	gap        *gap     // of the lists that operands read, or nil
	given      bool     // some fact is a Go value, of which operands read parts
	flawed     bool     // some value of a fact cannot be used, or not as written
	doubt      bool     // something unusable may have kept a rule from deciding
	unapproved sentence // why an operand was unknown, if that is because a person has not approved what it reads
	read       bool     // anything private was read
	waited     bool     // a rule has waited as long as it may, and is skipped
}

// usage is what limits are compared with, known once a rule chose to continue.
type usage struct {
	failed    string // how the turn failed, or ""
	repeats   int    // latest continuations with the current progress, as far as known
	iteration int    // of the run, 0 outside of one
	tokens    int    // used, where there is a limit
	cost      float64
}

// gathering is how facts are gathered beside others.
type gathering struct {
	overlaps bool            // facts may be gathered at the same time
	earlier  []*request      // for facts that were gathered beside others
	noting   bool            // a note is tried or rendered
	notes    context.Context // for the slow facts of notes, nil before the first; endNotes ends it
	endNotes func()
}

// tracing is how the evaluation is recorded.
type tracing struct {
	level   TraceLevel
	start   time.Time // of a full trace
	scratch meter     // for what only a full trace shows
	step    *Step     // where operands are traced, or nil
	same    int       // number of steps in the trace
}

// full reports whether to record operands, facts and durations.
func (t *tracing) full() bool { return t.level > TraceShort }

// hides returns the mask that a value has in this evaluation. Every value gets it where it enters, so what is derived
// from the value has the same class.
func (t *tracing) hides(m *mask) *mask {
	if m != nil && m.words && t.level == TraceClear {
		return nil
	}
	return m
}

// shown truncates a value for a trace. Of private strings, lists and objects it shows only the size.
func (t *tracing) shown(v any, mark *mask) any { return short(mark.masked(v)) }

// slot is the state of one symbol in an evaluation.
type slot struct {
	value any
	mark  *mask
	gap   *gap      // of a value that is known
	why   *sentence // of a missing value
	state truth
	lack  lack
	seen  bool
	busy  bool
}
