package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// checkCycles reports facts and lets that need themselves, with the cycle.
func (c *compiler) checkCycles(sc *scope, doc *document) {
	const (
		unseen = iota
		open
		done
	)
	state := map[*symbol]int{}
	var stack []*symbol
	var visit func(*symbol)
	visit = func(s *symbol) {
		switch state[s] {
		case done:
			return
		case open:
			way := stack[slices.Index(stack, s):]
			var names []string
			for i, t := range append(slices.Clone(way), s) {
				names = append(names, t.name)
				if t.name == vocab.LoopRepeats && i < len(way) {
					names = append(names, "progress")
				}
			}
			// Ralph's names have no position: such a cycle is reported where the policy closes it.
			at, name := s.pos, s.name
			for _, t := range way {
				if at.Line == 0 && t.pos.Line > 0 {
					at, name = t.pos, t.name
				}
			}
			if at.Line == 0 && len(doc.progress) > 0 {
				at, name = sc.file.at(doc.progress[0].Start), "progress"
			}
			end := at
			end.Col += len([]rune(name[strings.LastIndexByte(name, '/')+1:]))
			*c.diags = append(*c.diags, Diagnostic{
				Pos: at, End: end, Check: "cycle",
				Message: fmt.Sprintf("%q depends on itself: %s", name, strings.Join(names, " → ")),
				Help:    "break the cycle: one of them must not read the next",
				Line:    c.program.line(at),
			})
			return
		}
		state[s] = open
		stack = append(stack, s)
		for _, t := range c.needs(s) {
			visit(t)
		}
		stack = stack[:len(stack)-1]
		state[s] = done
	}
	for _, s := range c.table.all() {
		visit(s)
	}
}

// needs returns the symbols that s reads directly.
func (c *compiler) needs(s *symbol) []*symbol {
	var out []*symbol
	add := func(root *cond) {
		root.walk(func(o *operand) { out = append(out, o.uses.syms...) })
	}
	switch s.kind {
	case factSymbol:
		for _, seg := range s.fact.segments() {
			add(seg.placeholder)
		}
	case letSymbol:
		add(s.let.root)
	case askSymbol:
		out = append(out, s.fact.plan.sym)
	case nameSymbol:
		if s.name == vocab.LoopRepeats {
			for _, p := range c.program.head.progress {
				add(p)
			}
		}
	}
	return out
}

// segments returns everything that is passed to a fact's source.
func (f *Fact) segments() []segment {
	var out []segment
	for _, a := range f.plan.handed {
		if a.text != nil {
			out = append(out, a.text.segments()...)
		} else {
			out = append(out, a.path.segs...)
		}
	}
	return out
}
