package rules

import (
	"context"
	"fmt"
	"strings"
)

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
		out.Found = *g.found
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
		if step.index == nil {
			out.Path = append(out.Path, step.field)
			continue
		}
		index := e.value(step.index)
		i, ok := wholeNumber(index.value)
		switch {
		case index.state != yes:
			return fmt.Errorf("set %s: %w", x.fact.Name, index.why)
		case index.value == nil:
			return fmt.Errorf("set %s: the index %s is nil", x.fact.Name, step.index.source)
		case ok:
			out.Path = append(out.Path, i)
		default:
			out.Path = append(out.Path, show(index.value))
		}
	}
	g := e.get(x.fact.symbol)
	if g.state != yes {
		return fmt.Errorf("set %s: %w", x.fact.Name, g.why)
	}
	out.Found = *g.found
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
			g.take(yes, g.value, nil)
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
