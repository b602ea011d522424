package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// unreachedLimit reports limits without effect, because rules that read the same count end the loop earlier: limits are
// tested once a rule continues; or because of limits.repeats, which counts every continuation of a policy without
// progress. A limit that is a param may have other values.
func (a *analyzer) unreachedLimit() {
	root, _ := yamltree.Parse(a.p.origin.files[0].Src)
	limits := root.Get("limits")
	if limits == nil {
		return
	}
	repeats := 0 // as a limit of continuations
	if n := limits.Get("repeats"); n != nil && !a.p.head.limits.Progress {
		repeats, _ = n.Decode().(int)
	}
	for _, l := range limits.Fields {
		most, fixed := l.Value.Decode().(int) // otherwise it is a param
		pos := func(at yamltree.Pos) Pos { return Pos{File: a.p.origin.files[0].Name, Line: at.Line, Col: at.Col} }
		at := place{pos(l.Key.Start), pos(l.Value.End())}
		if fixed && l.Key.Value == "continuations" && repeats > 0 && repeats < most {
			a.report("unreached-limit", at, "remove repeats, or declare progress: what changes when the agent makes progress",
				fmt.Sprintf("this limit is never reached: the policy declares no progress, so limits.repeats ends the loop after %d", repeats))
			continue
		}
		name := "loop." + l.Key.Value
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
			a.report("unreached-limit", at, "lower it, remove it, or let a rule continue until then",
				fmt.Sprintf("this limit is never reached: no rule continues when %s is %d", name, most), where(reached))
		}
	}
}
