package rules

import "slices"

// Operands lists the operands of the rule's when as they are written, each once,
// in the order of the text. They are what [OperandStep].Text of a trace names; a
// rule without when has none.
func (r *Rule) Operands() []string { return r.when.texts() }

// Operands lists the operands of the policy's own when in the same way.
func (p *Program) Operands() []string { return p.when.texts() }

func (c *cond) texts() []string {
	var out []string
	c.walk(func(o *operand) {
		if !slices.Contains(out, o.text) {
			out = append(out, o.text)
		}
	})
	return out
}
