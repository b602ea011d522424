package rules

import (
	"fmt"
	"slices"
	"strings"
)

// checkCycles finds facts and lets that need themselves, and shows the way.
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
			for _, t := range append(slices.Clone(way), s) {
				names = append(names, t.name)
			}
			// One of ralph's names stands nowhere: the circle is told where the
			// policy closes it.
			at, name := s.pos, s.name
			for _, t := range way {
				if !at.IsValid() && t.pos.IsValid() {
					at, name = t.pos, t.name
				}
			}
			if !at.IsValid() && len(doc.progress) > 0 {
				at, name = c.place(sc.file, doc.progress[0].Start), "progress"
			}
			end := at
			end.Col += len([]rune(name[strings.LastIndexByte(name, '/')+1:]))
			*c.diags = append(*c.diags, Diagnostic{
				Pos: at, End: end, Check: "cycle",
				Message: fmt.Sprintf("%q needs itself: %s", name, strings.Join(names, " → ")),
				Help:    "break the circle: one of them must not read the next",
				Line:    c.sourceLine(at),
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

// needs lists what a symbol reads directly.
func (c *compiler) needs(s *symbol) []*symbol {
	var out []*symbol
	add := func(root *cond) {
		root.walk(func(o *operand) { out = append(out, o.syms...) })
	}
	switch s.kind {
	case factSymbol:
		for _, a := range s.fact.args {
			for _, seg := range a.segs {
				add(seg.hole)
			}
		}
		if s.fact.question != nil {
			for _, seg := range s.fact.question.segs {
				add(seg.hole)
			}
		}
		for _, o := range s.fact.texts {
			segs := []segment(nil)
			if o.text != nil {
				segs = o.text.segs
			} else {
				segs = o.arg.segs
			}
			for _, seg := range segs {
				add(seg.hole)
			}
		}
	case letSymbol:
		add(s.let.root)
	case askSymbol:
		out = append(out, s.fact.sym)
	case nameSymbol:
		if s.name == "loop.repeats" {
			for _, p := range c.program.progress {
				add(p)
			}
		}
	}
	return out
}

func (c *compiler) sourceLine(pos Pos) string {
	for _, f := range c.program.Files {
		if f.Name == pos.File {
			return lineOf(f.Src, pos.Line)
		}
	}
	return ""
}

func lineOf(src []byte, n int) string {
	for line := range strings.SplitSeq(string(src), "\n") {
		if n--; n == 0 {
			return strings.TrimSuffix(line, "\r")
		}
	}
	return ""
}

func (c *compiler) warnAt(pos, end Pos, check, help, format string, args ...any) {
	*c.diags = append(*c.diags, Diagnostic{
		Pos: pos, End: end, Severity: Warning, Check: check,
		Message: fmt.Sprintf(format, args...), Help: help, Line: c.sourceLine(pos),
	})
}

// checkProgram looks at the policy as a whole. A hook has no use for what it
// finds, so it runs only when texts are compiled too.
func (c *compiler) checkProgram(doc *document, sc *scope) {
	if c.cfg.LazyTexts {
		return
	}
	c.checkFacts()
	c.checkBounds(doc)
	c.checkBare()
	c.checkUnused(sc)
	c.checkRaw()
}

// checkFacts tells of facts whose fields nobody can check.
func (c *compiler) checkFacts() {
	for _, f := range c.program.facts {
		// What a program prints need not be JSON, and a text has no fields.
		if f.Source.Schema && f.Schema == nil && !f.Source.Argv && f.Options["parse"] != "text" {
			c.warnAt(f.Pos, f.Pos, "no-schema", "add schema: with the fields that rules read", "the fact %q has no schema, so its fields are not checked", f.Name)
		}
	}
}

// checkBounds tells of continue rules that only ralph's own limits would end.
func (c *compiler) checkBounds(doc *document) {
	if doc.limits.Written {
		return
	}
	stopped := false // an earlier stop rule ends the loop some day
	for _, r := range c.program.Rules {
		switch {
		case r.Verb == VerbStop && bounds(r.when):
			stopped = true
		case r.Verb == VerbContinue && r.Unless == nil && !stopped && !bounds(r.when):
			c.warnAt(r.Pos, r.Pos, "unbounded-continue",
				"add limits: {repeats: 10}, unless_repeated, a stop rule on a counter, or test stop_hook_active",
				"nothing in this policy ends the rule %q; only the built-in limits would", r.Name)
		}
	}
}

// bounds reports whether a condition reads what ends a loop: the host's flag,
// the loop memory, or a count that is compared with a limit.
func bounds(root *cond) bool {
	found := false
	root.walk(func(o *operand) {
		for _, s := range o.syms {
			if s.kind == nameSymbol && (s.name == "stop_hook_active" || strings.HasPrefix(s.name, "loop.")) {
				found = true
			}
			if s.kind == letSymbol && bounds(s.let.root) {
				found = true
			}
		}
		found = found || o.counter
	})
	return found
}

// checkBare tells of continue rules that hold whatever the facts are: over an
// invalid fact the stop rules above them are unknown, so they would go on blindly.
func (c *compiler) checkBare() {
	asked := map[*Fact]bool{}
	for _, r := range c.program.Rules {
		if r.Verb == VerbStop {
			r.when.walk(func(o *operand) {
				for _, s := range o.syms {
					if s.kind == askSymbol && (s.ask == "invalid" || s.ask == "ok") {
						asked[s.fact] = true
					}
				}
			})
		}
		if r.Verb != VerbContinue || r.when != nil || len(c.program.facts) == 0 {
			continue
		}
		for _, f := range c.program.facts {
			if f.Source.Name != "text" && !asked[f] && !f.HasDefault && f.sym.used.Load() {
				c.warnAt(r.Pos, r.Pos, "bare-continue", "say in when what the rule relies on, or stop when invalid("+f.Name+")",
					"the rule %q continues also when %q cannot be read", r.Name, f.Name)
				break
			}
		}
	}
}

// checkUnused tells of declarations that nothing reads.
func (c *compiler) checkUnused(sc *scope) {
	for _, s := range c.table.all() {
		if s.used.Load() || !s.pos.IsValid() || s.pos.File != sc.file.name {
			continue
		}
		kind := map[symbolKind]string{factSymbol: "fact", letSymbol: "let", constSymbol: "param"}[s.kind]
		if kind == "" {
			continue
		}
		c.warnAt(s.pos, Pos{File: s.pos.File, Line: s.pos.Line, Col: s.pos.Col + len([]rune(s.name))}, "unused", "remove it, or use it", "the %s %q is never read", kind, s.name)
	}
}

// checkRaw tells of policies that read the untyped hook input.
func (c *compiler) checkRaw() {
	for _, r := range c.program.Rules {
		r.when.walk(func(o *operand) {
			for _, s := range o.syms {
				if s.kind == nameSymbol && s.name == "hook.raw" {
					c.warnAt(o.pos(), o.end(), "hook-raw", "use the names that are the same on every host", "hook.raw is untyped and differs between hosts")
				}
			}
		})
	}
}
