package rules

import (
	"fmt"
	"time"
)

// checkDeclarations finds what is doubtful about single declarations: facts whose
// fields cannot be checked, rules that do nothing, names that nothing reads.
func checkDeclarations(p *Program) Diagnostics {
	var diags Diagnostics
	warn := func(pos Pos, check, help, format string, args ...any) {
		if diags.full(Warning) {
			return
		}
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
	if len(p.rules) == 0 && len(p.finally) == 0 {
		warn(Pos{File: p.files[0].Name, Line: 1, Col: 1}, "no-rules", "add rules: with at least one continue rule", "the policy has no rules, so it decides nothing")
	}
	if deadline := p.compiler.load.cfg.Deadline; deadline > 0 {
		for _, f := range p.facts {
			if f.Timeout >= deadline {
				warn(f.Pos, "late-fact", "shorten its timeout, or give the hook more time: ralph install HOST --deadline "+(f.Timeout.Round(time.Second)+10*time.Second).String(),
					"the fact %q may take %s, and the hook ends after %s", f.Name, f.Timeout, deadline)
			}
		}
	}
	for _, r := range p.rules {
		if r.Verb == NoVerb && r.notice == nil && r.log == nil && len(r.then) == 0 {
			warn(r.Pos, "does-nothing", "add continue, stop, note, notice, log or then", "the rule %q does nothing when it holds", r.Name)
		}
	}
	for _, s := range p.table.all() {
		if s.kind == memorySymbol && s.used.Load() && !s.memory.set.Load() && s.pos.File == p.files[0].Name {
			warn(s.pos, "unused", "add then: [{remember: "+s.name+" = …}] to a rule, or remove it", "nothing changes the memory %q, so it is always its default", s.name)
		}
		if s.used.Load() || s.pos.Line == 0 || s.pos.File != p.files[0].Name {
			continue
		}
		kind := map[symbolKind]string{factSymbol: "fact", letSymbol: "let", constSymbol: "param", memorySymbol: "memory"}[s.kind]
		if kind == "" {
			continue
		}
		warn(s.pos, "unused", "remove it, or use it", "the %s %q is never read", kind, s.name)
	}
	return diags
}
