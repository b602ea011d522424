package rules

import "slices"

// slow reports whether gathering the fact takes long: its source has a time limit.
func (f *Fact) slow() bool { return f.Source.Timeout > 0 }

// findSlow determines which slow facts each new operand needs for sure, if there is more than one, and which notes are
// tried last.
func (c *compiler) findSlow() {
	p, slow := c.program, 0
	for _, f := range p.facts {
		if f.slow() {
			slow++
		}
	}
	if slow > 1 {
		for _, o := range c.operands[c.surveyed:] { // others may be in use
			o.surely(map[*symbol]bool{}, func(f *Fact) { o.uses.slow = append(o.uses.slow, f) })
		}
		p.machine.overlaps = slices.ContainsFunc(c.operands, func(o *operand) bool { return len(o.uses.slow) > 0 })
	}
	c.surveyed = len(c.operands)
	for _, r := range p.rules {
		r.late = slow > 0 && r.Verb == verbNote && r.reads((*Fact).slow)
	}
}

// surely calls f for the slow facts that evaluating an operand gathers, whatever their values are: those that it names,
// and those with which its lets and the arguments of its facts begin.
func (o *operand) surely(seen map[*symbol]bool, f func(*Fact)) {
	for _, s := range o.uses.syms {
		if s.kind == askSymbol {
			s = s.fact.plan.sym
		}
		if seen[s] {
			continue
		}
		seen[s] = true
		switch {
		case s.kind == letSymbol && s.let.root != nil:
			s.let.root.first().surely(seen, f)
		case s.kind == factSymbol:
			if s.fact.slow() {
				f(s.fact)
			}
			segs := s.fact.segments()
			if i := slices.IndexFunc(segs, func(s segment) bool { return s.placeholder != nil }); i >= 0 {
				segs[i].placeholder.first().surely(seen, f)
			}
		}
	}
}

// first returns the operand that evaluating a condition begins with.
func (c *cond) first() *operand {
	for c.op != leaf {
		c = c.kids[0]
	}
	return c.operand
}

// reads reports whether the condition of a rule may read such a fact.
func (r *Rule) reads(such func(*Fact) bool) (yes bool) {
	readBy(r.when, map[*symbol]bool{}, func(s *symbol) { yes = yes || s.fact != nil && such(s.fact) })
	return yes
}

// judged reports whether the rule uses a judge.
func (r *Rule) judged() bool { return r.reads(func(f *Fact) bool { return f.Source.Value.Returns }) }
