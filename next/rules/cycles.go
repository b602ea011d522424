package rules

import (
	"fmt"
	"slices"
	"strings"
)

// cycles reports lets and facts that depend on themselves, each cycle once.
func (c *compiler) cycles() {
	done := map[*symbol]bool{}
	var open []*symbol
	var visit func(s *symbol)
	visit = func(s *symbol) {
		if i := slices.Index(open, s); i >= 0 {
			var names []string
			for _, x := range append(slices.Clone(open[i:]), s) {
				names = append(names, x.name)
			}
			c.reportSymbol(s, "cycle", fmt.Sprintf("%s depends on itself: %s", s.name, strings.Join(names, " needs ")), "")
			return
		}
		if done[s] {
			return
		}
		open = append(open, s)
		for _, x := range c.behind(s) {
			for _, need := range x.needs {
				visit(need)
			}
		}
		open = open[:len(open)-1]
		done[s] = true
	}
	for _, s := range c.order {
		if s.let != nil || s.fact != nil {
			visit(s)
		}
	}
}

// behind returns the expressions that the value of a name depends on.
func (c *compiler) behind(s *symbol) (out []*expression) {
	switch {
	case s.let != nil:
		return []*expression{s.let}
	case s == c.p.clock:
		return c.p.progress
	case s.fact != nil:
		for _, t := range slices.Concat(s.fact.args, s.fact.command) {
			out = append(out, t.exprs...)
		}
		for _, t := range s.fact.options {
			out = append(out, t.exprs...)
		}
	}
	return out
}

func (c *compiler) reportSymbol(s *symbol, check, message, help string) {
	if s.let != nil {
		c.report(s.let.at, 1, check, message, help)
		return
	}
	c.add(Finding{Line: max(1, s.line()), Col: 1, Check: check, Message: message, Help: help})
}

func (s *symbol) line() int {
	if s.fact != nil {
		return s.fact.Line
	}
	return 1
}

// hiddenFields reports one of ralph's names that is read where a fact has a field with the name, and the field is never read by its whole
// path: it may be meant.
func (c *compiler) hiddenFields() {
	for _, s := range c.order {
		if s.meaning != ralphName || !s.inside || len(s.inlined) == 0 {
			continue
		}
		whole := slices.ContainsFunc(s.inlined, func(f *symbol) bool { return c.paths[f.name+"\x00"+s.name] != nil })
		if !whole {
			f := s.inlined[0].name
			c.report(s.first, len(s.name), "ambiguous-name", fmt.Sprintf("%s is ralph's name, and a field of the fact %s too", s.name, f),
				fmt.Sprintf("write %s.%s for the field; a policy that reads both may write %[2]s for ralph's", f, s.name))
		}
	}
}
