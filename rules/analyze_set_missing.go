package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// setMissing reports a set whose file can be missing while the fact has no default to create it from: the set fails
// then and the agent may stop. A policy that tests exists(…) itself is exempt.
func (a *analyzer) setMissing() {
	for _, name := range [...]string{vocab.Exists, vocab.AnyFile, vocab.IsDir} {
		if a.p.machine.table.find(name) != nil {
			return
		}
	}
	for i, r := range a.p.rules {
		for _, e := range r.then {
			if e.kind != SetEffect || e.fact.fact.HasDefault {
				continue
			}
			f := e.fact.fact
			if l := a.p.head.loop; l != nil && l.info.State == f && r.Verb == verbContinue {
				continue // without it there is no loop, and no rule continues
			}
			missing := a.t.status(f, isMissing)
			if gone := a.turn(i, a.holds[i], missing); a.possible(gone) {
				a.report("set-missing", a.place(i), "add default: {} to the fact, or ok("+f.Name+") to the when",
					fmt.Sprintf("the rule %q sets a field of %q even if its file is missing, and the fact has no default to create it from", r.Name, f.Name), gone, where(missing))
				break
			}
		}
	}
}
