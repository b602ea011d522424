package rules

// Analyze is what Check finds beyond what Load does.
func (p *Program) Analyze() Diagnostics { return p.analyze() }

// HasOnlyHead reports whether the rest of p waits for an event.
func (p *Program) HasOnlyHead() bool { return p.rest != nil }

// WithoutShortcuts leaves every operand of the rules' conditions to expr's machine.
func (p *Program) WithoutShortcuts() {
	for _, r := range p.rules {
		r.when.walk(func(o *operand) { o.direct = nil })
	}
}
