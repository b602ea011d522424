package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkDeclarations finds what is doubtful about single declarations: facts whose
// fields nobody can check, rules that do nothing, names that nothing reads.
func checkDeclarations(p *Program) Diagnostics {
	var diags Diagnostics
	warn := func(pos Pos, check, help, format string, args ...any) {
		diags = append(diags, Diagnostic{
			Pos: pos, End: p.lineEnd(pos), Severity: Warning, Check: check,
			Message: fmt.Sprintf(format, args...), Help: help, Line: p.line(pos),
		})
	}
	for _, f := range p.facts {
		// What a program prints need not be JSON, and a text has no fields.
		if f.Source.Schema && f.Schema == nil && !f.Source.Argv && f.Options["parse"] != "text" {
			warn(f.Pos, "no-schema", "add schema: with the fields that rules read", "the fact %q has no schema, so its fields are not checked", f.Name)
		}
	}
	for _, r := range p.Rules {
		if r.Verb == NoVerb && r.notice == nil && r.log == nil && len(r.then) == 0 {
			warn(r.Pos, "does-nothing", "add continue, stop, note, notice, log or then", "the rule %q does nothing when it holds", r.Name)
		}
	}
	for _, s := range p.table.all() {
		if s.used.Load() || !s.pos.IsValid() || s.pos.File != p.Files[0].Name {
			continue
		}
		kind := map[symbolKind]string{factSymbol: "fact", letSymbol: "let", constSymbol: "param"}[s.kind]
		if kind == "" {
			continue
		}
		warn(s.pos, "unused", "remove it, or use it", "the %s %q is never read", kind, s.name)
	}
	return diags
}

// lineEnd is where the line of pos ends, without a comment behind it.
func (p *Program) lineEnd(pos Pos) Pos {
	text, _, _ := strings.Cut(p.line(pos), " #")
	pos.Col = max(pos.Col, utf8.RuneCountInString(strings.TrimRight(text, " \t"))+1)
	return pos
}
