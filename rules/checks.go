package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// checkProgram looks at the policy as a whole. A hook has no use for what it
// finds, so it runs only when texts are compiled too.
func (c *compiler) checkProgram(doc *document, sc *scope) {
	if c.cfg.LazyTexts {
		return
	}
	c.checkFacts()
	c.checkBounds(doc)
	c.checkBare()
	c.checkActs()
	c.checkUnused(sc)
}

// checkFacts tells of facts whose fields nobody can check.
func (c *compiler) checkFacts() {
	for _, f := range c.program.facts {
		// What a program prints need not be JSON, and a text has no fields.
		if f.Source.Schema && f.Schema == nil && !f.Source.Argv && f.Options["parse"] != "text" {
			c.warnAt(f.Pos, "no-schema", "add schema: with the fields that rules read", "the fact %q has no schema, so its fields are not checked", f.Name)
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
			c.warnAt(r.Pos, "unbounded-continue",
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
// A default does not help, it stands in for what is missing only.
func (c *compiler) checkBare() {
	asked := map[*Fact]bool{}
	for _, r := range c.program.Rules {
		if r.Verb == VerbStop {
			readBy(r.when, map[*symbol]bool{}, func(s *symbol) {
				if s.kind == askSymbol && (s.ask == "invalid" || s.ask == "ok") {
					asked[s.fact] = true
				}
			})
		}
		if r.Verb != VerbContinue || r.when != nil {
			continue
		}
		for _, f := range c.program.facts {
			if f.Source.Editable && !asked[f] && f.sym.used.Load() {
				c.warnAt(r.Pos, "bare-continue", "say in when what the rule relies on, or stop when invalid("+f.Name+")",
					"the rule %q continues also when %q cannot be read", r.Name, f.Name)
				break
			}
		}
	}
}

// checkActs tells of rules that do nothing when they hold.
func (c *compiler) checkActs() {
	for _, r := range c.program.Rules {
		if r.Verb == NoVerb && r.notice == nil && r.log == nil && len(r.then) == 0 {
			c.warnAt(r.Pos, "does-nothing", "add continue, stop, note, notice, log or then", "the rule %q does nothing when it holds", r.Name)
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
		c.warnAt(s.pos, "unused", "remove it, or use it", "the %s %q is never read", kind, s.name)
	}
}

// warnAt reports something doubtful that stands at pos, a rule or a name, and goes
// on to the end of its line.
func (c *compiler) warnAt(pos Pos, check, help, format string, args ...any) {
	*c.diags = append(*c.diags, Diagnostic{
		Pos: pos, End: c.lineEnd(pos), Severity: Warning, Check: check,
		Message: fmt.Sprintf(format, args...), Help: help, Line: c.sourceLine(pos),
	})
}

// lineEnd is where the line of pos ends, without a comment behind it.
func (c *compiler) lineEnd(pos Pos) Pos {
	text, _, _ := strings.Cut(c.sourceLine(pos), " #")
	pos.Col = max(pos.Col, utf8.RuneCountInString(strings.TrimRight(text, " \t"))+1)
	return pos
}

// sourceLine gives the line of a file that was read.
func (c *compiler) sourceLine(pos Pos) string {
	for _, f := range c.program.Files {
		if f.Name == pos.File {
			return source.Line(f.Src, pos.Line)
		}
	}
	return ""
}
