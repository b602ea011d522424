package rules

import (
	"slices"

	"github.com/ralph-sdk/ralph/internal/nearest"
)

// gap is what the known value of a list lacks: files that are left out of it, or any box.
type gap struct {
	why  sentence
	lack lack
}

// noBox returns the gap of a checklist without items.
func (g *gathered) noBox(f *Fact) *gap {
	if g.defaulted && g.Path != "" {
		return &gap{sentencef("there is no %s", g.place(f)), hollow}
	}
	return &gap{sentencef("%s has no box", g.place(f)), hollow}
}

// place returns the path of a fact, otherwise its name.
func (g *gathered) place(f *Fact) sentence {
	if g.Path == "" {
		return public(f.Name)
	}
	return masked(g.Path, g.masked)
}

// noSection returns the gap of a checklist that an operand reads, if no box of it is in a section that the operand asks
// for.
func (ev *evaluation) noSection(o *operand) *gap {
	if len(o.uses.sections) == 0 {
		return nil
	}
	for _, a := range o.uses.reads {
		f := a.fact.fact
		g := ev.got(f)
		list, ok := g.V.([]any)
		if !ok || f.Source.Name != checklist {
			continue
		}
		var has []string
		for _, item := range list {
			if fields, ok := item.(map[string]any); ok {
				if section, _ := fields["section"].(string); !slices.Contains(has, section) {
					has = append(has, section)
				}
			}
		}
		for _, want := range o.uses.sections {
			if slices.Contains(has, want) {
				continue
			}
			help := nearest.DidYouMean(want, has)
			if help != "" {
				help = "; " + help
			}
			return &gap{sentencef("%s has no box in a section named %q%s", g.place(f), want, help), hollow}
		}
	}
	return nil
}

// hollow returns why a rule with success that holds does not mean that the work is done, or nil: where a checklist that it
// read has no box, nothing was done, unless the rule says empty: ok.
func (ev *evaluation) hollow(r *Rule) *sentence {
	if !r.Success || r.Empty || ev.met.gap == nil || ev.met.gap.lack != hollow {
		return nil
	}
	return &ev.met.gap.why
}
