package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// checkDeclarations checks single declarations: facts whose fields cannot be checked, rules without effect, unused
// names.
func checkDeclarations(p *Program) Diagnostics {
	var diags Diagnostics
	report := func(pos Pos, check, help, format string, args ...any) {
		if !diags.full(severityOf(check)) {
			diags = append(diags, p.finding(check, place{pos, p.lineEnd(pos)}, help, fmt.Sprintf(format, args...)))
		}
	}
	for _, f := range p.facts {
		// A program's output need not be JSON, and a string has no fields.
		if f.Source.Schema && f.Schema == nil && f.Source.Argument != argumentWords && f.Options["parse"] != "text" {
			report(f.Pos, "no-schema", "add schema: with the fields that rules read", "the fact %q has no schema, so its fields are not checked", f.Name)
		}
	}
	if len(p.rules) == 0 && len(p.finally) == 0 {
		report(Pos{File: p.origin.files[0].Name, Line: 1, Col: 1}, "no-rules", "add rules: with at least one continue rule", "the policy has no rules, so it decides nothing")
	}
	if deadline := p.machine.compiler.load.cfg.Deadline; deadline > 0 {
		var total time.Duration // of facts that are each within the deadline
		late := func(f *Fact, what string, takes time.Duration) {
			report(f.Pos, "late-fact", "set a shorter timeout, or install the policy again, so that the hook has enough time",
				"%s may take %s, and the hook ends after %s", what, takes, deadline)
		}
		for _, f := range p.facts {
			takes, before := f.takes(), total
			if takes >= deadline {
				late(f, "the fact "+quote(f.Name), takes)
				continue
			}
			if total += takes; total >= deadline && before < deadline {
				late(f, "the fact "+quote(f.Name)+", with those before it,", total)
			}
		}
	}
	if why := p.machine.compiler.load.cfg.Unapproved; why != "" {
		needy := slices.DeleteFunc(p.Facts(), func(f *Fact) bool { return f.Source.Trust == "" })
		for _, r := range p.rules {
			needy = append(needy, r.Runs...)
		}
		if len(needy) > 0 { // one approval covers all
			f := needy[0]
			report(f.Pos, "unapproved", "read it, then run `ralph trust "+p.Name+"`", "%q %s, and %s: until then this does not happen", f.Name, f.Source.Trust, why)
		}
	}
	for _, r := range p.rules {
		if r.Verb == "" && r.says.notice == nil && r.says.log == nil && len(r.then) == 0 {
			report(r.Pos, "does-nothing", "add continue, stop, ask, wait, note, notice, log or then", "the rule %q does nothing when it holds", r.Name)
		}
	}
	if i := slices.IndexFunc(p.rules, func(r *Rule) bool { return r.Verb == verbAsk }); i >= 0 && p.machine.table.find(vocab.Answer) == nil {
		report(p.rules[i].Pos, "unread-answer", "add a rule for it, such as `when: answer != \"\"` with `continue: ${answer}`",
			"the rule %q asks, and no rule reads the answer", p.rules[i].Name)
	}
	p.checkWaits(report)
	for _, s := range p.machine.table.all() {
		if s.kind == memorySymbol && s.used.Load() && !s.memory.set.Load() && s.pos.File == p.origin.files[0].Name {
			report(s.pos, "unused", "add then: [{remember: "+s.name+" = …}] to a rule, or remove it", "no rule changes the memory %q, so it always has its default", s.name)
		}
		if s.used.Load() || s.pos.Line == 0 || s.pos.File != p.origin.files[0].Name {
			continue
		}
		kind := map[symbolKind]string{factSymbol: "fact", letSymbol: "let", constSymbol: "param", memorySymbol: "memory"}[s.kind]
		if kind == "" {
			continue
		}
		report(s.pos, "unused", "remove it, or use it", "the %s %q is never read", kind, s.name)
	}
	return diags
}
