package rules

import "fmt"

// bareContinue reports a continue rule without a when. It also holds if a fact is invalid, while the stop rules above
// it are then unknown, so it would continue blindly. A default does not help: it replaces only a missing value.
func (a *analyzer) bareContinue() {
	for i, r := range a.p.rules {
		if r.Verb != verbContinue || r.when != nil {
			continue
		}
		for _, f := range a.p.facts {
			if !f.Source.Editable || !f.sym.used.Load() {
				continue
			}
			invalid := a.t.status(f, isInvalid)
			if blind := a.turn(i, a.holds[i], invalid); a.possible(blind) {
				a.report("bare-continue", a.place(i), "test what the rule relies on in its when, or stop when invalid("+f.Name+")",
					fmt.Sprintf("the rule %q continues even if %q cannot be read", r.Name, f.Name), blind, where(invalid))
				break
			}
		}
	}
}
