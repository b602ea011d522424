package rules

import (
	"maps"
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// scope is what the expressions of one file can name: ralph's names, and the
// params, facts and lets of that file. An included file has a scope of its own.
type scope struct {
	file    *file
	prefix  string // "" for the policy, "guard/" for an include
	symbols map[string]*symbol
	inline  *symbol // the fact whose fields are names too
}

// field gives the type of an inline field of that name.
func (s *scope) field(name string) *schema.Type {
	if s.inline == nil || s.inline.typ == nil || name == "body" {
		return nil
	}
	return s.inline.typ.Fields[name]
}

// declared lists the names of the scope's own, for help.
func (s *scope) declared() []string {
	out := slices.Collect(maps.Keys(s.symbols))
	if s.inline != nil && s.inline.typ != nil {
		for f := range s.inline.typ.Fields {
			if f != "body" {
				out = append(out, f)
			}
		}
	}
	return out
}

// facts lists the names of the scope's facts.
func (s *scope) facts() []string {
	var out []string
	for name, sym := range s.symbols {
		if sym.kind == factSymbol {
			out = append(out, name)
		}
	}
	return out
}
