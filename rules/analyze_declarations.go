package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkProgram looks at the policy as a whole. A hook has no use for what it
// finds, so it runs only when texts are compiled too.
func (c *compiler) checkProgram(doc *document, sc *scope) {
	if c.cfg.LazyTexts {
		return
	}
	c.checkFacts()
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
