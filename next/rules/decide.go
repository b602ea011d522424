package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const promptEvent = "UserPromptSubmit"

// Eval tries the rules. It fails only for a value that the program must give and did not, or whose type is wrong: a *ValueError. What
// cannot be decided is a verdict that lets the agent stop.
func (p *Policy) Eval(ctx context.Context, in Input) (Verdict, error) {
	e := p.evaluation(ctx, &in)
	v := e.decide()
	if e.trace != nil {
		e.traceFacts()
		v.Trace = e.trace
	}
	if e.wrong != nil {
		v = Verdict{Outcome: Failed, Rule: v.Rule, Reason: e.wrong.Error(), Err: e.wrong, Memory: in.Memory, Trace: v.Trace}
		return v, e.wrong
	}
	return v, nil
}

// decide tries the rules in their order.
func (e *evaluation) decide() Verdict {
	v := Verdict{Outcome: Idle}
	event := e.in.Event
	if event == "" {
		event = "Stop"
	}
	prompt := event == promptEvent
	if !prompt && !slices.Contains(e.p.Events, event) {
		v.Memory = e.in.Memory
		return v
	}
	var applied []*rule
	for _, r := range e.p.rules {
		if (r.verb == "note") != prompt {
			continue
		}
		t, why := e.try(r)
		switch {
		case t == yes:
			if r.times > 0 {
				applied = append(applied, r)
			}
			if err := e.apply(&v, r); err != nil {
				return e.failed(r, err)
			}
			if r.decides() {
				return e.end(v, r, applied)
			}
		case t == failed && (r.verb == "stop" || r.verb == "done"):
			return e.failed(r, why)
		case t != no && r.decides() && e.doubt == nil:
			e.doubt = fmt.Errorf("rule %s is unknown: %w", r.name, why)
		}
	}
	v.Memory = e.remember(e.memory, applied, v.Effects)
	return v
}

var errSkipped = errors.New("it was applied as often as at_most says")

// try evaluates the condition of a rule. One that at_most holds back is missing.
func (e *evaluation) try(r *rule) (t truth, why error) {
	done := e.traceRule(r)
	if !e.allows(r) {
		done("skipped")
		return missing, errSkipped
	}
	t, why = e.holds(r.when)
	done(t.String())
	return t, why
}

// apply adds the texts and effects of a rule that holds.
func (e *evaluation) apply(v *Verdict, r *rule) error {
	for _, x := range r.then {
		if err := e.effect(v, x); err != nil {
			return err
		}
	}
	if s := e.render(r.notice); s != "" {
		v.Notices = append(v.Notices, s)
	}
	if s := e.render(r.log); s != "" {
		v.Logs = append(v.Logs, s)
	}
	if r.verb == "note" {
		if s := e.render(r.text); s != "" {
			v.Notes = append(v.Notes, s)
		}
	}
	return nil
}

// failed is the verdict of a rule that cannot be decided, or whose effects cannot be evaluated.
func (e *evaluation) failed(r *rule, why error) Verdict {
	err := fmt.Errorf("rule %s (line %d): %w", r.name, r.line, why)
	return Verdict{Outcome: Failed, Rule: r.name, Reason: err.Error(), Err: err, Memory: e.remember(e.memory, nil, nil)}
}

// end is the verdict of a rule that decides.
func (e *evaluation) end(v Verdict, r *rule, applied []*rule) Verdict {
	v.Rule = r.name
	m := e.memory
	switch r.verb {
	case "continue":
		m = e.counts()
		if name, reason := e.limit(m); name != "" {
			v = Verdict{Outcome: Limit, Rule: "limits." + name, Reason: reason, Memory: e.remember(m, nil, nil)}
			e.count(&v)
			return v
		}
		v.Outcome = Continued
		m = e.continued(m)
	case "stop":
		v.Outcome = Stopped
	case "done":
		if err := e.uncertain(r); err != nil {
			return Verdict{Outcome: Stopped, Rule: r.name, Reason: err.Error(), Notices: []string{err.Error()}, Logs: v.Logs, Err: err,
				Memory: e.remember(m, applied, nil)}
		}
		v.Outcome = Done
	}
	v.Reason = e.render(r.text)
	if v.Reason == "" && r.verb == "continue" {
		v.Reason = fmt.Sprintf("Continue (rule %s).", r.name)
	}
	if r.verb != "stop" {
		e.count(&v)
	}
	v.Memory = e.remember(m, applied, v.Effects)
	return v
}

// count fills in how much is done, for people.
func (e *evaluation) count(v *Verdict) {
	if !e.p.counted {
		return
	}
	if e.counts(); e.progress.state != yes {
		return
	}
	if pair, ok := e.progress.value.([]any); ok && len(pair) == 2 {
		v.Done, _ = wholeNumber(pair[0])
		v.Total, _ = wholeNumber(pair[1])
	}
}

// uncertain says why a done rule that holds is not sure that the work is done, nil if it is: a rule above it is unknown, files were left
// out, or a file that was there in this prompt is gone.
func (e *evaluation) uncertain(r *rule) error {
	if e.doubt != nil {
		return fmt.Errorf("%s is not certain: %w", r.name, e.doubt)
	}
	for _, f := range e.p.Facts {
		if !f.OnePath || !slices.Contains(e.memory.Seen, f.Name) || asksMissing(r.when, f.symbol) {
			continue
		}
		if g := e.get(f.symbol); !g.file && !g.given && g.state != failed {
			at := f.Name
			if g.found.Path != "" {
				at += " (" + g.found.Path + ")"
			}
			return fmt.Errorf("%s is not certain: %s was there in this prompt, and is gone", r.name, at)
		}
	}
	return nil
}

// asksMissing reports whether a condition asks missing(f) itself, or in a let that it reads.
func asksMissing(x *expression, f *symbol) bool {
	if x == nil {
		return false
	}
	seen := map[*expression]bool{}
	var visit func(x *expression) bool
	visit = func(x *expression) bool {
		if seen[x] {
			return false
		}
		seen[x] = true
		if slices.Contains(x.missing, f) {
			return true
		}
		return slices.ContainsFunc(x.needs, func(s *symbol) bool { return s.let != nil && visit(s.let) })
	}
	return visit(x)
}

// effect evaluates an effect.
func (e *evaluation) effect(v *Verdict, x *effect) error {
	out := Effect{Kind: x.kind, Fact: x.fact, Older: x.older}
	switch x.kind {
	case "set":
		return e.setEffect(v, x, out)
	case "archive":
		g := e.get(x.fact.symbol)
		if g.found.Status == Missing {
			return nil
		}
		out.Found = g.found
	case "prune":
		s, state, err := e.path(x.args[0], true)
		if state == missing {
			return nil
		}
		if state != yes {
			return fmt.Errorf("prune: %w", err)
		}
		out.Args = []string{s}
	case "run":
		args, state, err := e.programLine(x.args)
		if state != yes {
			return fmt.Errorf("run %s: %w", x.args[0].lits[0], err)
		}
		out.Args = args
	default:
		out.Args = []string{e.render(x.args[0])}
	}
	v.Effects = append(v.Effects, out)
	return nil
}

func (e *evaluation) setEffect(v *Verdict, x *effect, out Effect) error {
	r := e.value(x.value)
	if r.state != yes {
		return fmt.Errorf("set %s: %w", x.fact.Name, r.why)
	}
	out.Value = r.value
	for _, step := range x.path {
		if step.at.node == nil {
			out.Path = append(out.Path, step.source)
			continue
		}
		r := e.value(step)
		i, ok := wholeNumber(r.value)
		switch {
		case r.state != yes:
			return fmt.Errorf("set %s: %w", x.fact.Name, r.why)
		case ok:
			out.Path = append(out.Path, i)
		case r.value == nil:
			return fmt.Errorf("set %s: the index %s is nil", x.fact.Name, step.source)
		default:
			out.Path = append(out.Path, show(r.value))
		}
	}
	g := e.get(x.fact.symbol)
	if g.state != yes {
		return fmt.Errorf("set %s: %w", x.fact.Name, g.why)
	}
	out.Found = g.found
	if g.found.Status == Missing {
		out.Found.Value = g.value // the default, from which the file is made
	}
	v.Effects = append(v.Effects, out)
	return nil
}

// Start evaluates the effects of start. text is the name text there. A policy without start has none. It is an error if a file that it
// sets exists.
func (p *Policy) Start(ctx context.Context, in Input, text string) ([]Effect, error) {
	e := p.evaluation(ctx, &in)
	e.text = strings.TrimSpace(text)
	var v Verdict
	created := map[*Fact]bool{}
	for _, x := range p.start {
		if x.kind == "set" && !created[x.fact] {
			g := e.get(x.fact.symbol)
			if g.file || g.state == failed {
				return nil, fmt.Errorf("%s exists already", g.found.Path)
			}
			*g = gathered{state: yes, value: g.value, found: g.found}
			created[x.fact] = true
		}
		if err := e.effect(&v, x); err != nil {
			return nil, err
		}
		if x.kind == "set" && len(x.path) == 0 { // a path below may have this value
			g := e.get(x.fact.symbol)
			g.value = v.Effects[len(v.Effects)-1].Value
			e.env[x.fact.Name] = g.value
		}
	}
	if e.wrong != nil {
		return nil, e.wrong
	}
	return v.Effects, nil
}
