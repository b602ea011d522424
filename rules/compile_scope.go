package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/schema"
)

// scope is what the expressions of one file can name: ralph's names, and the
// params, facts and lets of that file. An included file has a scope of its own.
type scope struct {
	file    *file
	names   *names
	prefix  string // "" for the policy, "guard/" for an include
	symbols map[string]*symbol
	inline  *symbol                   // the fact whose fields are names too
	fields  map[string]*schema.Schema // those fields: one whose name means something already stays behind the fact
	open    bool                      // there is such a fact, but its schema cannot be used
	starts  bool                      // of loop.start: it sees the names of start
}

// hides reports whether a declaration takes the place of ralph's own name or group.
func (s *scope) hides(name string) bool {
	return s.names.young[name] && (s.symbols[name] != nil || s.fields[name] != nil)
}

// declared lists the names of the scope's own, for help.
func (s *scope) declared() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(s.symbols)), maps.Keys(s.fields))
}

// named lists the names of the scope's symbols of a kind.
func (s *scope) named(kind symbolKind) []string {
	var out []string
	for name, sym := range s.symbols {
		if sym.kind == kind {
			out = append(out, name)
		}
	}
	return out
}

// facts lists the names of the scope's facts that are wanted; nil wants all.
func (s *scope) facts(wanted func(*Fact) bool) []string {
	var out []string
	for name, sym := range s.symbols {
		if sym.kind == factSymbol && (wanted == nil || wanted(sym.fact)) {
			out = append(out, name)
		}
	}
	return out
}

// fieldOfFact says how to write a field without its fact: the facts that have a field of
// this name; "" if none has.
func (s *scope) fieldOfFact(name string) string {
	facts := s.facts(func(f *Fact) bool { return f.sym != nil && f.sym.typ != nil && f.sym.typ.Fields[name] != nil })
	slices.Sort(facts)
	if len(facts) == 0 {
		return ""
	}
	help := "write " + strings.Join(facts, "."+name+" or ") + "." + name
	if fact := facts[0]; len(facts) == 1 && s.inline == nil && s.symbols[fact].fact.Schema != nil {
		help += ", or add inline: true to the fact " + fact
	}
	return help
}
