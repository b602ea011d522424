package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/schema"
)

// Options say how to evaluate. The zero Options decide a Stop, with a short trace.
type Options struct {
	Event  string // "" means Stop; on UserPromptSubmit rules only note
	Traced bool   // fill the trace with operands, reads and facts
	Clear  bool   // show private values in the trace too: prompts, transcripts, environment
}

// truth is a value of three-valued logic, with the reason for not knowing kept
// apart: a missing fact is ordinary, an error is told to the person.
type truth uint8

const (
	known   truth = iota // there is a value
	unknown              // a fact it reads is missing or invalid
	broken               // a field was unusable or an expression failed
)

// evaluation is the state of one Eval. It is used by one goroutine and reused.
type evaluation struct {
	program *Program
	ctx     context.Context
	facts   Facts
	opts    Options
	vm      vm.VM
	slots   []slot
	names   map[string]any // values by key, as expressions find them
	row     Row
	hasRow  bool
	verdict *Verdict
	why     string // of the latest unknown or broken operand
	step    *Step  // that operands are traced into, nil if not
}

type slot struct {
	seen  bool
	busy  bool
	state truth
	why   string
	value Value // of facts
}

// Eval tries the rules in order and tells what the first one that holds says.
// It never fails: what cannot be worked out leans to stop and is told. f is asked
// only for what a reached operand names.
func (p *Program) Eval(ctx context.Context, f Facts) *Verdict {
	return p.EvalWith(ctx, f, Options{})
}

// Explain is Eval with a full trace: every operand, what it read, and the facts.
func (p *Program) Explain(ctx context.Context, f Facts) *Verdict {
	return p.EvalWith(ctx, f, Options{Traced: true})
}

// EvalWith is Eval with options.
func (p *Program) EvalWith(ctx context.Context, f Facts, o Options) *Verdict {
	ev := p.pool.Get().(*evaluation)
	defer p.release(ev)
	n := p.table.size()
	if cap(ev.slots) < n {
		ev.slots = make([]slot, n, n+8)
	}
	ev.slots = ev.slots[:n]
	if ev.names == nil {
		ev.names = make(map[string]any, n)
	}
	ev.program, ev.ctx, ev.facts, ev.opts = p, ctx, f, o
	ev.verdict = &Verdict{Trace: Trace{Steps: make([]Step, 0, len(p.Rules))}}
	ev.decide()
	return ev.verdict
}

func (p *Program) release(ev *evaluation) {
	clear(ev.slots)
	clear(ev.names)
	*ev = evaluation{slots: ev.slots, names: ev.names, vm: ev.vm}
	p.pool.Put(ev)
}

func (ev *evaluation) warn(message string) {
	ev.verdict.Trace.Warnings = append(ev.verdict.Trace.Warnings, message)
}

func (ev *evaluation) tell(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if !slices.Contains(ev.verdict.Problems, message) {
		ev.verdict.Problems = append(ev.verdict.Problems, message)
	}
}

// decide runs the rules.
func (ev *evaluation) decide() {
	p, v := ev.program, ev.verdict
	prompt := ev.opts.Event == "UserPromptSubmit"
	var deciding *Rule // the rule that continues
	var reasons []string
	var parts []*Rule
	for _, r := range p.Rules {
		if prompt && (r.Verb == VerbContinue || r.Verb == VerbStop) {
			continue
		}
		if r.judged && deciding != nil {
			continue
		}
		outcome := ev.try(r)
		if outcome == Broken && r.Verb == VerbStop {
			v.Action, v.Rule, v.Pos, v.Failed = Stop, r.Name, r.Pos, true
			v.Reason = "the rule could not be worked out"
			deciding = nil
			break
		}
		if outcome != Holds {
			continue
		}
		parts = append(parts, r)
		if r.Verb == VerbStop {
			if deciding == nil {
				v.Rule, v.Pos = r.Name, r.Pos
				v.Reason = ev.render(r.text)
			}
			break
		}
		if r.Verb == VerbContinue {
			if deciding == nil {
				deciding = r
				v.Rule, v.Pos = r.Name, r.Pos
			}
			text := ev.render(r.text)
			if text == "" {
				text = "Continue (rule " + r.Name + ")"
			}
			reasons = append(reasons, text)
			if p.Gate == First {
				break
			}
		}
	}
	if deciding != nil {
		v.Action = Continue
		v.Reason = strings.Join(reasons, "\n\n")
		ev.bound()
	}
	if !v.Failed {
		ev.tellParts(parts, prompt)
	}
	ev.tellFacts()
	if !v.Failed && !prompt {
		ev.finish()
	}
}

// try finds out whether one rule holds.
func (ev *evaluation) try(r *Rule) Outcome {
	v := ev.verdict
	v.Trace.Steps = append(v.Trace.Steps, Step{Rule: r.Name, Pos: r.Pos})
	s := &v.Trace.Steps[len(v.Trace.Steps)-1]
	if r.Unless != nil {
		if n := ev.facts.Given(ev.ctx, r); n >= r.Unless.Times {
			s.Outcome = SteppedOver
			s.Because = "it was in " + strconv.Itoa(n) + " verdicts already"
			return SteppedOver
		}
	}
	if r.when == nil {
		s.Outcome = Holds
		return Holds
	}
	var start time.Time
	if ev.opts.Traced {
		ev.step = s
		start = time.Now()
	}
	holds, state, by := ev.truth(r.when)
	if ev.opts.Traced {
		ev.step = nil
		s.Took = time.Since(start)
	}
	switch {
	case state == broken:
		s.Outcome = Broken
		s.Because = ev.why
		ev.tell("rule %s: %s", r.Name, ev.why)
	case state == unknown:
		s.Outcome = Unknown
		s.Because = ev.why
	case holds:
		s.Outcome = Holds
	default:
		s.Outcome = No
		if by != nil {
			s.Because = by.text
		}
	}
	return s.Outcome
}

// truth evaluates a condition. by is the operand that made it false.
func (ev *evaluation) truth(c *cond) (holds bool, state truth, by *operand) {
	switch c.op {
	case leaf:
		v, state := ev.operand(c.operand)
		if state != known {
			return false, state, nil
		}
		b, ok := v.(bool)
		if !ok {
			if v != nil || c.operand.boolean {
				ev.why = fmt.Sprintf("%s: %s is neither true nor false but %s", c.operand.pos, c.operand.text, kindOf(v))
				return false, broken, nil
			}
			return false, known, c.operand
		}
		return b, known, c.operand
	case not:
		holds, state, by := ev.truth(c.kids[0])
		return !holds, state, by
	case choose:
		first, state, by := ev.truth(c.kids[0])
		if state != known {
			return false, state, by
		}
		if first {
			return ev.truth(c.kids[1])
		}
		return ev.truth(c.kids[2])
	}
	// and stops at the first false, or at the first true; unknown ones are
	// remembered, since a later operand may still decide.
	worst, why := known, ""
	for _, k := range c.kids {
		holds, state, by := ev.truth(k)
		if state == known {
			if holds == (c.op == or) {
				return holds, known, by
			}
			continue
		}
		if state > worst {
			worst, why = state, ev.why
		}
	}
	ev.why = cmp.Or(why, ev.why)
	return c.op == and && worst == known, worst, c.last()
}

// last gives the last operand of a condition, the one that an or ended with.
func (c *cond) last() *operand {
	for c.op != leaf {
		c = c.kids[len(c.kids)-1]
	}
	return c.operand
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case int, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// value evaluates an expression of any type.
func (ev *evaluation) value(c *cond) (any, truth) {
	switch c.op {
	case leaf:
		return ev.operand(c.operand)
	case choose:
		first, state, _ := ev.truth(c.kids[0])
		if state != known {
			return nil, state
		}
		if first {
			return ev.value(c.kids[1])
		}
		return ev.value(c.kids[2])
	}
	holds, state, _ := ev.truth(c)
	return holds, state
}

// operand gathers what an operand names and runs it.
func (ev *evaluation) operand(o *operand) (any, truth) {
	var t *OperandStep
	if step := ev.step; step != nil {
		// Lets that are worked out on the way are shown as values, not traced.
		ev.step = nil
		defer func() { ev.step = step }()
		step.Operands = append(step.Operands, OperandStep{Text: o.text})
		t = &step.Operands[len(step.Operands)-1]
		defer func() {
			if t.Unknown {
				t.Problem = ev.why
			}
			why := ev.why
			ev.traceReads(o, t)
			ev.why = why
		}()
	}
	state := known
	for _, s := range o.syms {
		if st := ev.need(s); st > state {
			state = st
		}
	}
	if state == known {
		for _, a := range o.reads {
			if p := ev.unusable(o, a); p != "" {
				ev.why = p
				state = broken
				break
			}
		}
	}
	if state != known {
		if t != nil {
			t.Unknown = true
		}
		return nil, state
	}
	v, err := run(&ev.vm, o.prog, ev.names)
	if err != nil {
		ev.why = fmt.Sprintf("%s: %s: %s", o.at(err.from), o.text, runMessage(err.message))
		if t != nil {
			t.Unknown = true
		}
		return nil, broken
	}
	if t != nil {
		t.Value = short(v)
	}
	return v, known
}

// runMessage makes a sentence of what the machine says.
func runMessage(s string) string {
	s = strings.TrimPrefix(s, "invalid operation: ")
	s, _, _ = strings.Cut(s, "\n")
	return strings.ReplaceAll(strings.ReplaceAll(s, "<nil>", "nothing"), "interface conversion: interface {} is nil", "nothing")
}

// need makes sure that a symbol has its value among the names. It tells whether
// there is one; ev.why then says why not.
func (ev *evaluation) need(s *symbol) truth {
	for s.slot >= len(ev.slots) { // a text compiled meanwhile brought new names
		ev.slots = append(ev.slots, slot{})
	}
	at := &ev.slots[s.slot]
	if at.seen {
		if at.state != known {
			ev.why = at.why
		}
		return at.state
	}
	if at.busy { // only a cycle that check missed could do this
		ev.why = s.name + " needs itself"
		return broken
	}
	at.busy = true
	var state truth
	switch s.kind {
	case constSymbol:
		ev.names[s.key] = s.value
	case factSymbol:
		state = ev.gather(s)
	case letSymbol:
		var v any
		v, state = ev.value(s.let.root)
		if state == known {
			ev.names[s.key] = v
		}
	case nameSymbol:
		ev.names[s.key] = ev.name(s)
	case askSymbol:
		ev.names[s.key] = ev.asked(s)
	}
	at = &ev.slots[s.slot] // the slots may have moved
	at.seen, at.busy, at.state = true, false, state
	if state != known {
		at.why = ev.why
	}
	return state
}

// fact gives a fact's value, gathering it if need be.
func (ev *evaluation) fact(f *Fact) *Value {
	ev.need(f.sym)
	return &ev.slots[f.sym.slot].value
}

// gather asks the world for a fact, once.
func (ev *evaluation) gather(s *symbol) truth {
	f := s.fact
	args, v := ev.arguments(f)
	var start time.Time
	if ev.opts.Traced {
		start = time.Now()
	}
	if args != nil {
		v = ev.facts.Fact(ev.ctx, f, args)
	}
	if ev.opts.Traced {
		ev.verdict.Trace.Facts = append(ev.verdict.Trace.Facts, FactRead{
			Name: f.Name, Source: f.Source.Name, Status: v.Status, Path: v.Path, Problem: v.Problem, Took: time.Since(start),
		})
	}
	for _, w := range v.Warnings {
		ev.warn(violation(f.Name, w))
	}
	if v.Status == Missing && f.HasDefault {
		if !v.Quiet {
			ev.tell("%s: %s", f.Name, v.sentence())
		}
		v.Status, v.V, v.Version = OK, f.Default, ""
	}
	ev.slots[s.slot].value = v
	if v.Status != OK {
		ev.why = fmt.Sprintf("%s is %s", f.Name, v.Status)
		if v.Problem != "" {
			ev.why += ": " + v.sentence()
		}
		return unknown
	}
	ev.names[s.key] = v.V
	return known
}

// arguments works out what a source is asked. args is nil if it cannot be; the
// value then says why the fact is missing.
func (ev *evaluation) arguments(f *Fact) (args []string, v Value) {
	args = make([]string, 0, len(f.args)+len(f.texts)+1)
	add := func(p *path) bool {
		text, problem, quiet := ev.argument(p)
		if problem != "" {
			v = Value{Status: Missing, Problem: problem, Quiet: quiet}
			return false
		}
		args = append(args, text)
		return true
	}
	if f.question != nil {
		args = append(args, ev.render(f.question))
	}
	for _, a := range f.args {
		if !add(a) {
			return nil, v
		}
	}
	for _, o := range f.texts {
		if o.text != nil {
			args = append(args, ev.render(o.text))
		} else if !add(o.arg) {
			return nil, v
		}
	}
	return args, v
}

func violation(fact string, w schema.Violation) string {
	at := ""
	if w.Line > 0 {
		at = fmt.Sprintf(" at %d:%d", w.Line, w.Col)
	}
	return fmt.Sprintf("%s%s%s: %s", fact, w.Pointer, at, w.Message)
}

// unusable tells why an operand may not read what it reads, or "".
func (ev *evaluation) unusable(o *operand, a access) string {
	v := &ev.slots[a.fact.slot].value
	for _, u := range v.Unusable {
		path := schema.SplitPointer(u.Pointer)
		n := min(len(path), len(a.path))
		same := true
		for i := range n {
			if a.path[i] != path[i] && a.path[i] != "*" {
				same = false
				break
			}
		}
		// A value that is passed on whole is spoilt only if the operand names
		// the bad field somewhere: len(list) does not care for its elements.
		if !same || len(path) > len(a.path) && !o.props[path[len(path)-1]] {
			continue
		}
		return violation(a.fact.name, u)
	}
	return ""
}

// name asks the world for one of ralph's names.
func (ev *evaluation) name(s *symbol) any {
	if s.info.askRow {
		return ev.loop(s.name)
	}
	v := ev.facts.Name(ev.ctx, s.name)
	if v == nil {
		return s.info.zero()
	}
	return v
}

func (ev *evaluation) rowOf() Row {
	if !ev.hasRow {
		ev.row, ev.hasRow = ev.facts.Row(ev.ctx), true
	}
	return ev.row
}

func (ev *evaluation) loop(name string) any {
	row := ev.rowOf()
	switch name {
	case "loop.continuations":
		return row.Continuations
	case "loop.total":
		return row.Total
	case "loop.elapsed":
		return row.Elapsed
	case "loop.step":
		return row.Step
	}
	now, ok := ev.progress()
	return row.repeats(now, ok)
}

// progress gives the fingerprint of what the policy calls progress.
func (ev *evaluation) progress() (string, bool) {
	if len(ev.program.progress) == 0 {
		return "", true
	}
	values := make([]any, len(ev.program.progress))
	for i, c := range ev.program.progress {
		v, state := ev.value(c)
		if state != known {
			return "", false
		}
		values[i] = v
	}
	b, err := json.Marshal(values)
	if err != nil {
		return "", false
	}
	return cut(string(b), 400), true
}

// asked answers missing(f) and its like.
func (ev *evaluation) asked(s *symbol) any {
	v := ev.fact(s.fact)
	switch s.ask {
	case "missing":
		return v.Status == Missing
	case "invalid":
		return v.Status == Invalid
	case "ok":
		return v.Status == OK
	case "problem":
		return v.Problem
	case "path":
		return v.Path
	}
	if v.ModTime.IsZero() {
		return time.Duration(0)
	}
	now, _ := ev.facts.Name(ev.ctx, "now").(time.Time)
	return max(0, now.Sub(v.ModTime))
}

// bound turns a continue into a stop when a limit is reached.
func (ev *evaluation) bound() {
	v, l, row := ev.verdict, ev.program.Limits, ev.rowOf()
	now, ok := ev.progress()
	v.Progress = now
	if !ok {
		v.Progress = row.Progress
	}
	switch {
	case row.Continuations >= l.Continuations:
		v.Bound = "continuations"
		v.Reason = fmt.Sprintf("the limit of %d continuations in a row is reached", l.Continuations)
	case row.Total >= l.Total:
		v.Bound = "total"
		v.Reason = fmt.Sprintf("the limit of %d continuations in a session is reached", l.Total)
	case l.HasRepeats && row.repeats(now, ok) >= l.Repeats:
		v.Bound = "repeats"
		v.Reason = fmt.Sprintf("nothing moved in %d continuations", row.repeats(now, ok))
	case row.Continuations > 0 && row.Elapsed >= l.Elapsed:
		v.Bound = "elapsed"
		v.Reason = fmt.Sprintf("the loop has run for %s, its limit is %s", row.Elapsed.Round(time.Second), l.Elapsed)
	default:
		return
	}
	v.Action, v.Rule, v.Pos = Stop, "limits."+v.Bound, Pos{}
	ev.tell("the loop ends here: %s", v.Reason)
}

// tellParts works out what the rules of the verdict have to tell and to do.
func (ev *evaluation) tellParts(rules []*Rule, prompt bool) {
	v := ev.verdict
	if len(rules) > 0 {
		v.Parts = make([]Part, 0, len(rules))
	}
	for _, r := range rules {
		part := Part{Rule: r.Name}
		if v.Bound != "" && (r.Verb == VerbContinue || len(r.then) > 0) {
			continue // its continuation does not happen, nor what belongs to it
		}
		if !prompt {
			for _, e := range r.then {
				eff, skip, broken := ev.workOut(e)
				if broken != "" {
					v.Action, v.Failed, v.Parts = Stop, true, nil
					v.Rule, v.Pos = r.Name, r.Pos
					v.Reason = "its effects could not be worked out"
					ev.tell("rule %s: %s", r.Name, broken)
					return
				}
				if skip != "" {
					ev.warn(e.src + " is left out: " + skip)
					continue
				}
				part.Effects = append(part.Effects, eff)
			}
		}
		if r.Verb == VerbNote {
			part.Note = ev.render(r.text)
		}
		part.Notice = ev.render(r.notice)
		part.Log = ev.render(r.log)
		v.Parts = append(v.Parts, part)
	}
}

// tellFacts tells of facts that could not be used and that no rule asks about.
func (ev *evaluation) tellFacts() {
	for _, f := range ev.program.facts {
		v := ev.slots[f.sym.slot].value
		switch {
		case v.Status == Missing && !v.Quiet:
			ev.tell("%s: %s", f.Name, v.sentence())
		case v.Status == Invalid && !f.asked.Load():
			ev.tell("%s: %s", f.Name, v.sentence())
		}
	}
}

// finish works out what is to be done after the verdict was applied.
func (ev *evaluation) finish() {
	v := ev.verdict
	for _, f := range ev.program.finally {
		if f.when != nil {
			if holds, state, _ := ev.truth(f.when); !holds || state != known {
				continue
			}
		}
		if f.effect != nil {
			eff, skip, broken := ev.workOut(f.effect)
			if problem := cmp.Or(skip, broken); problem != "" {
				ev.warn("finally: " + f.effect.src + " is left out: " + problem)
			} else {
				v.Finally = append(v.Finally, eff)
			}
		}
		if f.log != nil {
			v.Finally = append(v.Finally, Effect{Kind: LogEffect, Text: ev.render(f.log)})
		}
	}
}

// traceReads notes what an operand read.
func (ev *evaluation) traceReads(o *operand, t *OperandStep) {
	seen := map[*symbol]bool{}
	for _, a := range o.reads {
		seen[a.fact] = true
		v := &ev.slots[a.fact.slot].value
		r := Read{Name: a.name}
		if v.Status != OK {
			r.State = v.Status.String()
		} else {
			r.Value = short(at(v.V, a.path))
		}
		t.Reads = append(t.Reads, r)
	}
	for _, s := range o.syms {
		if seen[s] || s.kind == nameSymbol && s.info.goType != nil && !s.info.askRow {
			continue
		}
		r := Read{Name: s.name, Value: short(ev.names[s.key])}
		switch {
		case ev.slots[s.slot].state != known:
			r.State, r.Value = "unknown", nil
		case s.private && !ev.opts.Clear:
			r.Value = hidden(ev.names[s.key])
		}
		t.Reads = append(t.Reads, r)
	}
	if t.Unknown {
		return
	}
	o.once.Do(func() {
		ev.program.mu.Lock()
		defer ev.program.mu.Unlock()
		o.parts = ev.program.compiler.parts(o)
	})
	for _, p := range o.parts {
		if v, err := run(&ev.vm, p.prog, ev.names); err == nil {
			t.Reads = append(t.Reads, Read{Name: p.text, Value: short(v)})
		}
	}
}

// hidden says how much there is of a private value, without showing it.
func hidden(v any) any {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("(%d bytes)", len(v))
	case []any:
		return fmt.Sprintf("(%d items)", len(v))
	case []string:
		return fmt.Sprintf("(%d items)", len(v))
	}
	return "(hidden)"
}

// at walks a static path as far as it can be walked.
func at(v any, path []string) any {
	for _, step := range path {
		switch t := v.(type) {
		case map[string]any:
			v = t[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(t) {
				return v
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}
