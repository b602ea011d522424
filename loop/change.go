package loop

import (
	"context"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// changes groups the effects of a decision by file, in the order of the rules.
// Prunes are not among them: they follow a decision that was applied.
func (d *Decision) changes() []state.Change {
	var out []state.Change
	sets := map[string]int{} // file to its index in out
	ends := map[string]int{}
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			switch e.Kind {
			case rules.SetEffect:
				set := state.Set{Path: e.Path, Value: e.Value}
				_, ended := ends[e.File] // a set behind that is refused by the state package
				if i, ok := sets[e.File]; ok && !ended {
					out[i].Sets = append(out[i].Sets, set)
					continue
				}
				format := state.JSON
				if e.Source == "frontmatter" {
					format = state.FrontMatter
				}
				sets[e.File] = len(out)
				out = append(out, state.Change{Path: e.File, Format: format, Version: e.Version, Op: state.OpSet, Sets: []state.Set{set}})
			case rules.DeleteEffect, rules.ArchiveEffect:
				op := state.OpDelete
				if e.Kind == rules.ArchiveEffect {
					op = state.OpArchive
				}
				// Two rules may both be done with a file. What loses nothing wins.
				if i, ok := ends[e.File]; ok {
					out[i].Op = max(out[i].Op, op)
					continue
				}
				ends[e.File] = len(out)
				out = append(out, state.Change{Path: e.File, Version: e.Version, Op: op, At: d.Time})
			}
		}
	}
	return out
}

// moved reports whether a file that the decision changes is no longer as it was
// when the rules were tried.
func (d *Decision) moved(ctx context.Context) bool {
	for _, c := range d.changes() {
		if d.gatherer.root.Read(ctx, state.File{Path: c.Path}).Version != c.Version {
			return true
		}
	}
	return false
}
