package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// setMissing reports a set while its file can be missing, where the fact has no default to
// make the file from: the agent may stop then. A policy that asks exists(…) itself may know
// better.
func (a *analyzer) setMissing() {
	for _, name := range [...]string{vocab.Exists, vocab.AnyFile, vocab.IsDir} {
		if a.p.table.find(name) != nil {
			return
		}
	}
	for i, r := range a.p.rules {
		for _, e := range r.then {
			if e.kind != SetEffect || e.fact.fact.HasDefault {
				continue
			}
			f := e.fact.fact
			missing := a.t.status(f, isMissing)
			if gone := a.turn(i, a.holds[i], missing); a.possible(gone) {
				a.report("set-missing", a.place(i), "add default: {} to the fact, or ok("+f.Name+") to the when",
					fmt.Sprintf("the rule %q sets a field of %q also when there is no file, and the fact has no default to make one from", r.Name, f.Name), gone, where(missing))
				break
			}
		}
	}
}
