package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/text"
)

const promptEvent = "UserPromptSubmit"

// Eval tries the rules. It fails only for a value that the program must give and did not, or whose type is wrong: a *ValueError. What
// cannot be decided is a verdict that lets the agent stop, and so is what panics in the program's code: functions, a World, methods of
// values. ctx is passed to the World, and nothing else looks at it; nil is context.Background().
func (p *Policy) Eval(ctx context.Context, in Input) (v Verdict, err error) {
	e := p.evaluation(ctx, in)
	v = Verdict{Outcome: Idle, Memory: in.Memory}
	defer func() {
		if r := recover(); r != nil {
			v = Verdict{Outcome: Failed, Memory: in.Memory, Err: panicked(r)}
			v.Reason = v.Err.Error()
		}
	}()
	e.decide(&v)
	if e.trace != nil {
		e.traceFacts()
		v.Trace = e.trace
	}
	if e.wrong != nil {
		v = Verdict{Outcome: Failed, Rule: v.Rule, Reason: e.wrong.Error(), Err: e.wrong, Memory: in.Memory, Trace: v.Trace}
	}
	return v, e.wrong
}

// panicked is the error of code of the program that panicked.
func panicked(r any) error {
	if err, ok := r.(error); ok {
		return fmt.Errorf("the program panicked: %w", err)
	}
	return fmt.Errorf("the program panicked: %v", r)
}

// decide tries the rules in their order.
func (e *evaluation) decide(v *Verdict) {
	if event := cmp.Or(e.in.Event, "Stop"); event != promptEvent && !slices.Contains(e.p.Events, event) {
		return
	}
	switch r, t, why := e.first(e.p.rules, e.try, func(r *rule) error { return e.apply(v, r) }); {
	case r == nil:
		e.see(v)
	case t == yes:
		e.end(v, r)
	default:
		e.failed(v, r, why)
	}
}

// first returns the first of some rules that ends the trying, with the truth of its condition: it decides, or it stops and cannot be
// decided. It is nil if none does. apply is called for each other rule that holds.
func (e *evaluation) first(rules []*rule, try func(*rule) (truth, error), apply func(*rule) error) (*rule, truth, error) {
	for _, r := range rules {
		if (r.Verb == "note") != (e.in.Event == promptEvent) {
			continue
		}
		t, why := try(r)
		decides := r.Verb != "" && r.Verb != "note"
		if t == yes && !decides {
			if err := apply(r); err != nil {
				return r, failed, err
			}
			continue
		}
		switch {
		case t == yes, t == open, t == failed && (r.Verb == "stop" || r.Verb == "done" || errors.As(why, new(Findings))): // the last: it does not compile
			return r, t, why
		case t != no && decides && e.doubt == nil:
			e.doubt = fmt.Errorf("rule %s is unknown: %w", r.Name, why)
		}
	}
	return nil, no, nil
}

var errSkipped = errors.New("it was applied as often as at_most says")

// try evaluates the condition of a rule. One that at_most holds back is missing.
func (e *evaluation) try(r *rule) (truth, error) {
	skipped := r.times > 0 && !e.allows(r)
	if e.trace != nil {
		e.trace.Rules = append(e.trace.Rules, RuleTrace{Name: r.Name, Line: r.Line, Truth: "skipped"})
	}
	if skipped {
		return missing, errSkipped
	}
	t, why := e.holds(r.when)
	if e.trace != nil {
		e.trace.Rules[len(e.trace.Rules)-1].Truth = t.String()
	}
	return t, why
}

// apply adds the texts and effects of a rule that holds, and counts it.
func (e *evaluation) apply(v *Verdict, r *rule) error {
	for _, x := range r.then {
		if err := e.effect(v, x); err != nil {
			return err
		}
	}
	add := func(list *[]string, t *template) {
		if s := e.render(t); s != "" {
			*list = append(*list, s)
		}
	}
	add(&v.Notices, r.notice)
	add(&v.Logs, r.log)
	if r.Verb == "note" {
		add(&v.Notes, r.text)
	}
	if r.times > 0 {
		e.applied(&v.Memory, r)
	}
	return nil
}

// failed is the verdict of a rule that cannot be decided, or whose effects cannot be evaluated.
func (e *evaluation) failed(v *Verdict, r *rule, why error) {
	err := fmt.Errorf("rule %s (line %d): %w", r.Name, r.Line, why)
	*v = Verdict{Outcome: Failed, Rule: r.Name, Reason: err.Error(), Err: err, Memory: e.in.Memory}
	e.see(v)
}

// end is the verdict of a rule that decides. A limit, or a done that is not certain, makes no effects and shows nothing of the rule.
func (e *evaluation) end(v *Verdict, r *rule) {
	limit, reason := "", ""
	v.Outcome, v.Rule = Stopped, r.Name
	switch r.Verb {
	case "continue":
		v.Outcome = Continued
		if limit, reason = e.limit(); limit != "" {
			v.Outcome, v.Rule, v.Reason = Limit, "limits."+limit, reason
		}
	case "done":
		if v.Err = e.uncertain(r); v.Err == nil {
			v.Outcome = Done
		} else {
			v.Reason, v.Notices = v.Err.Error(), append(v.Notices, v.Err.Error())
		}
	}
	if v.Reason != "" {
		v.Effects, v.Memory = nil, e.in.Memory
	} else {
		if err := e.apply(v, r); err != nil {
			e.failed(v, r, err)
			return
		}
		v.Reason = e.render(r.text)
	}
	if v.Outcome == Continued {
		e.continued(&v.Memory)
		if v.Reason == "" {
			v.Reason = fmt.Sprintf("Continue (rule %s).", r.Name)
		}
	}
	if v.Outcome != Stopped && len(e.p.progress) == 2 {
		e.count(v)
	}
	e.see(v)
}

// count fills in how much is done, for people.
func (e *evaluation) count(v *Verdict) {
	e.repeats() // which evaluates progress
	if pair, ok := e.progress.value.([]any); ok && len(pair) == 2 {
		v.Done, _ = wholeNumber(pair[0])
		v.Total, _ = wholeNumber(pair[1])
	}
}

// uncertain says why a done rule that holds is not sure that the work is done, nil if it is: a rule above it is unknown, files were left
// out, or a file that was there in this prompt is gone.
func (e *evaluation) uncertain(r *rule) error {
	if e.doubt != nil {
		return fmt.Errorf("%s is not certain: %w", r.Name, e.doubt)
	}
	for _, f := range e.p.Facts {
		if !f.OnePath || !slices.Contains(e.in.Memory.Seen, f.Name) || r.when != nil && slices.Contains(r.when.missing, f.symbol) {
			continue
		}
		if g := e.get(f.symbol); !g.file && !g.given && g.state != failed {
			at := f.Name
			if g.found.Path != "" {
				at += " (" + g.found.Path + ")"
			}
			return fmt.Errorf("%s is not certain: %s was there in this prompt, and is gone", r.Name, at)
		}
	}
	return nil
}

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

// Verdict is what a policy says of one Input, and changes nothing; loop.Decision is the answer to an event, after limits, effects and
// counts were kept. Everything but Continued lets the agent stop, the zero value too.
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
	Kind  string        // "set", "archive", "prune", "run", or one of Options.Effects
	Fact  *Fact         // of set and archive
	Found Found         // as the fact was read; if it is missing, Value is its default
	Path  []any         // of set: fields and indices into the fact; empty: the whole
	Value any           // of set
	Args  []string      // of run; of prune: the glob; of Options.Effects: the text
	Older time.Duration // of prune
}

// String returns an effect as a policy writes it, with its values: set: state.phase = "plan". What is no text is JSON.
func (e Effect) String() string {
	value := strings.Join(e.Args, " ")
	switch e.Kind {
	case "set":
		value = e.Fact.Name
		for _, step := range e.Path {
			if i, ok := step.(int); ok {
				value += fmt.Sprintf("[%d]", i)
			} else {
				value += fmt.Sprintf(".%v", step)
			}
		}
		value += " = " + text.JSON(e.Value)
	case "archive":
		value = e.Fact.Name
	case "prune":
		value = text.JSON(map[string]any{"glob": value, "older": strings.TrimSuffix(strings.TrimSuffix(e.Older.String(), "0s"), "0m")})
	case "run":
		value = text.JSON(e.Args)
	}
	return e.Kind + ": " + value
}

// Trace shows how a verdict came about.
type Trace struct {
	Rules []RuleTrace // those that were tried
	Facts []FactTrace // those that were gathered
}

// RuleTrace is one rule that was tried.
type RuleTrace struct {
	Name     string         `json:"name"`
	Truth    string         `json:"truth"` // "true", "false", "unknown", "skipped"
	Operands []OperandTrace `json:"operands,omitempty"`
	Line     int            `json:"line"`
}

// OperandTrace is one operand: what it came to, and the values that it read.
type OperandTrace struct {
	Text   string         `json:"text"`
	Truth  string         `json:"truth"`
	Why    string         `json:"why,omitempty"`    // it is unknown
	Values map[string]any `json:"values,omitempty"` // by path
}

// FactTrace is one fact that was gathered.
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
