package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reaches lists what of the policy reaches beyond the project and so needs approval, such as "runs go", "asks a model", "reads the
// variable HOME", "reads ~/notes.md"; empty if nothing does.
func (p *Policy) Reaches() []string {
	var out []string
	add := func(format string, a ...any) {
		if s := fmt.Sprintf(format, a...); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, f := range p.Facts {
		switch f.Source {
		case "exec":
			add("runs %s", f.args[0].lits[0])
		case "judge":
			if len(f.command) > 0 {
				add("runs %s", f.command[0].lits[0])
			} else {
				add("asks a model")
			}
		default:
			if strings.HasPrefix(f.args[0].lits[0], "~") && f.source.argument <= aPattern {
				add("reads %s", f.args[0].node.Value)
			}
		}
		if dir := f.options["dir"]; dir != nil && strings.HasPrefix(dir.lits[0], "~") {
			add("runs in %s", dir.node.Value)
		}
	}
	for _, x := range p.effects() {
		if x.kind == "run" {
			add("runs %s", x.args[0].lits[0])
		}
		if x.kind == "prune" && strings.HasPrefix(x.args[0].lits[0], "~") {
			add("removes files at %s", x.args[0].node.Value)
		}
	}
	for _, name := range p.variables() {
		add("reads %s", name)
	}
	return out
}

func (p *Policy) effects() []*effect {
	out := slices.Clone(p.start)
	for _, r := range p.rules {
		out = append(out, r.then...)
	}
	return out
}

// variables returns the variables of the environment that expressions name.
func (p *Policy) variables() (out []string) {
	c := p.compiler
	for _, x := range c.expressions {
		x.ready(c)
	}
	c.lock <- struct{}{}
	defer func() { <-c.lock }()
	for _, path := range c.paths {
		switch {
		case path.root.meaning != ralphName || path.root.name != "env":
		case len(path.steps) == 0:
			out = append(out, "the environment")
		default:
			out = append(out, "the variable "+path.steps[0])
		}
	}
	slices.Sort(out)
	return out
}

// Bound says in one sentence which limit ends a loop of this policy at the latest.
func (p *Policy) Bound() string {
	l := p.Limits
	most, name := l.Continuations, "limits.continuations"
	what := "a prompt"
	if l.Total <= most {
		most, name, what = l.Total, "limits.total", "a session"
	}
	s := fmt.Sprintf("It continues %s at most %d times (%s)", what, most, name)
	if l.Repeats > 0 && l.Repeats < most {
		s += fmt.Sprintf(", and at most %d times without progress (limits.repeats)", l.Repeats)
	}
	if l.Elapsed < 24*time.Hour {
		s += fmt.Sprintf(", for at most %v (limits.elapsed)", l.Elapsed)
	}
	return s + "."
}
