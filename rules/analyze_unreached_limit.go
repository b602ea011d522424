package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// unreachedLimit reports limits without effect, because rules that read the same count end the loop earlier: limits are
// tested once a rule continues. A limit that is a param may have other values.
func (a *analyzer) unreachedLimit() {
	root, _ := yamltree.Parse(a.p.origin.files[0].Src)
	limits := root.Get("limits")
	if limits == nil {
		return
	}
	for _, l := range limits.Fields {
		name := "loop." + l.Key.Value
		most, fixed := l.Value.Decode().(int) // otherwise it is a param
		s := a.p.machine.table.find(name)
		if !fixed || s == nil || s.count() == nil || a.t.byKey["name "+s.key] == nil {
			continue
		}
		reached := analysis.AtMost(analysis.Zero, a.t.byKey["name "+s.key].Var, -min(most, analysis.MaxConstant))
		short, far := false, false // some rule continues; some rule continues up to the limit
		for i, r := range a.p.rules {
			if r.Verb == verbContinue && !a.dead[i] {
				short, far = true, far || !a.impossible(a.turn(i, a.holds[i], reached)...)
			}
		}
		if short && !far {
			pos := func(at yamltree.Pos) Pos { return Pos{File: a.p.origin.files[0].Name, Line: at.Line, Col: at.Col} }
			a.report("unreached-limit", place{pos(l.Key.Start), pos(l.Value.End())}, "lower it, remove it, or let a rule continue until then",
				fmt.Sprintf("this limit is never reached: no rule continues when %s is %d", name, most), where(reached))
		}
	}
}
