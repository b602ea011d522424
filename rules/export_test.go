package rules

// Analyze is what Check finds beyond what Load does.
func (p *Program) Analyze() Diagnostics { return p.analyze() }

// Names are the names that every policy has, with what they mean.
func Names() (all [][2]string) {
	for _, n := range knownNames() {
		all = append(all, [2]string{n.Name, n.Doc})
	}
	return all
}

// HasOnlyHead reports whether the rest of p waits for an event.
func (p *Program) HasOnlyHead() bool { return p.rest != nil }

// WithoutShortcuts leaves every operand of the rules' conditions to expr's machine.
func (p *Program) WithoutShortcuts() {
	for _, r := range p.rules {
		r.when.walk(func(o *operand) { o.direct = nil })
	}
}
