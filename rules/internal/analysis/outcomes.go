package analysis

// Outcomes has the formulas for when a condition is true, false and broken. Otherwise it is unknown. For other
// expressions, Yes is when there is a value.
type Outcomes struct{ Yes, No, Broken *Formula }

// When returns the outcomes of a condition that is true if f holds, otherwise false.
func When(f *Formula) *Outcomes { return &Outcomes{f, Not(f), False()} }

// Always returns the outcomes of a constant.
func Always(b bool) *Outcomes {
	if b {
		return When(True())
	}
	return When(False())
}

// Not returns the outcomes of the opposite.
func (o *Outcomes) Not() *Outcomes { return &Outcomes{o.No, o.Yes, o.Broken} }

// Untrue returns the outcomes of a condition that is true unless o is true or broken.
func (o *Outcomes) Untrue() *Outcomes { return &Outcomes{Not(Or(o.Yes, o.Broken)), o.Yes, o.Broken} }

// AllOf returns the outcomes of an and. An operand that decides overrides broken ones.
func AllOf(parts []*Outcomes) *Outcomes {
	var yes, no, bad []*Formula
	for _, o := range parts {
		yes, no, bad = append(yes, o.Yes), append(no, o.No), append(bad, o.Broken)
	}
	out := &Outcomes{Yes: And(yes...), No: Or(no...)}
	out.Broken = And(Not(out.No), Or(bad...))
	return out
}

// OneOf returns the outcomes of an or.
func OneOf(parts []*Outcomes) *Outcomes {
	opposite := make([]*Outcomes, len(parts))
	for i, o := range parts {
		opposite[i] = o.Not()
	}
	return AllOf(opposite).Not()
}

// Choose returns the outcomes of a if o is true, and of b if it is false.
func (o *Outcomes) Choose(a, b *Outcomes) *Outcomes {
	return &Outcomes{
		Yes:    Or(And(o.Yes, a.Yes), And(o.No, b.Yes)),
		No:     Or(And(o.Yes, a.No), And(o.No, b.No)),
		Broken: Or(o.Broken, And(o.Yes, a.Broken), And(o.No, b.Broken)),
	}
}

// Known returns the outcomes of whether there is a value.
func (o *Outcomes) Known() *Outcomes { return &Outcomes{Or(o.Yes, o.No), False(), o.Broken} }

// Size returns the number of atoms.
func (o *Outcomes) Size() int { return o.Yes.Size() + o.No.Size() + o.Broken.Size() }
