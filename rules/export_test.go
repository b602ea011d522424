package rules

// WithoutShortcuts leaves every operand of the rules' conditions to expr's machine.
func (p *Program) WithoutShortcuts() {
	for _, r := range p.Rules {
		r.when.walk(func(o *operand) { o.direct = nil })
	}
}
