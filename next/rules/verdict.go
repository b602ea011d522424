package rules

import "time"

// Outcome says how a decision ended.
type Outcome string

const (
	Continued Outcome = "continued"
	Done      Outcome = "done"    // a rule says that the work is done
	Stopped   Outcome = "stopped" // a stop rule holds
	Limit     Outcome = "limit"
	Idle      Outcome = "idle"   // no rule decides
	Failed    Outcome = "failed" // it could not be decided
)

// Verdict is what a policy decides. Everything but Continued lets the agent stop, the zero value too.
type Verdict struct {
	Outcome     Outcome
	Rule        string // that decided, or "limits.NAME"
	Reason      string // the rule's text, or why it could not be decided
	Notices     []string
	Logs        []string
	Notes       []string
	Effects     []Effect
	Memory      Memory
	Err         error // of Failed, or of a done that was refused
	Done, Total int   // of progress: {done, total}, for people
	Trace       *Trace
}

// Effect is a change that a verdict asks for; its values are evaluated.
type Effect struct {
	Kind  string        // "set", "archive", "prune", "run", or one of WithEffect
	Fact  *Fact         // of set and archive
	Found Found         // as the fact was read; if it is missing, Value is its default
	Path  []any         // of set: fields and indices into the fact; empty: the whole
	Value any           // of set
	Args  []string      // of run; of prune: the glob; of WithEffect: the text
	Older time.Duration // of prune
}

// Trace tells how a verdict came about.
type Trace struct {
	Rules []RuleTrace // those that were tried
	Facts []FactTrace // those that were gathered
}

// RuleTrace tells of one rule.
type RuleTrace struct {
	Name     string         `json:"name"`
	Truth    string         `json:"truth"` // "true", "false", "unknown", "skipped"
	Operands []OperandTrace `json:"operands,omitempty"`
	Line     int            `json:"line"`
}

// OperandTrace tells of one operand: what it came to, and the values that it read.
type OperandTrace struct {
	Text   string         `json:"text"`
	Truth  string         `json:"truth"`
	Why    string         `json:"why,omitempty"`    // it is unknown
	Values map[string]any `json:"values,omitempty"` // by path
}

// FactTrace tells of one fact.
type FactTrace struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // "ok", "missing", "invalid"
	Problem string `json:"problem,omitempty"`
	Path    string `json:"path,omitempty"`
}

// traceOperand adds an operand to the rule that is tried.
func (e *evaluation) traceOperand(o *operand, r result) {
	if len(e.trace.Rules) == 0 {
		return
	}
	x := OperandTrace{Text: o.text, Truth: r.state.String(), Values: map[string]any{}}
	if r.state > yes {
		x.Why = r.why.Error()
	}
	for _, read := range o.reads {
		g := e.known(read.path.root)
		if g == nil || read.path.root.meaning == function {
			continue
		}
		if v, ok := fieldAt(g.value, read.path.steps); ok && g.state == yes {
			x.Values[read.path.String()] = v
		}
	}
	rule := &e.trace.Rules[len(e.trace.Rules)-1]
	rule.Operands = append(rule.Operands, x)
}

func (e *evaluation) traceFacts() {
	for _, f := range e.p.Facts {
		if g := e.known(f.symbol); g != nil {
			status := map[truth]string{yes: "ok", missing: "missing", failed: "invalid"}[g.state]
			e.trace.Facts = append(e.trace.Facts, FactTrace{Name: f.Name, Status: status, Problem: g.problem(), Path: g.found.Path})
		}
	}
}
