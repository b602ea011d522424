package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/schema"
)

// scope holds the names for the expressions of one file: ralph's names, and its params, facts and lets. An included
// file has its own scope.
type scope struct {
	file    *file
	names   *names
	prefix  string // "" for the policy, "guard/" for an include
	rules   string // the prefix of its rules' names, which is shorter if an include leaves their names
	symbols map[string]*symbol
	inline  *symbol                   // the fact whose fields are also names
	fields  map[string]*schema.Schema // those fields, except for names with another meaning
	open    bool                      // there is an inline fact with an invalid schema
	starts  bool                      // of loop.start, which has the names of start
}

// hides reports whether a declaration replaces ralph's own name or group.
func (s *scope) hides(name string) bool {
	return s.names.young[name] && (s.symbols[name] != nil || s.fields[name] != nil)
}

// declared returns the names declared in the scope, for help.
func (s *scope) declared() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(s.symbols)), maps.Keys(s.fields))
}

// named returns the names of the scope's symbols of a kind.
func (s *scope) named(kind symbolKind) []string {
	var out []string
	for name, sym := range s.symbols {
		if sym.kind == kind {
			out = append(out, name)
		}
	}
	return out
}

// facts returns the names of the scope's facts that wanted accepts; nil accepts all.
func (s *scope) facts(wanted func(*Fact) bool) []string {
	var out []string
	for name, sym := range s.symbols {
		if sym.kind == factSymbol && (wanted == nil || wanted(sym.fact)) {
			out = append(out, name)
		}
	}
	return out
}

// fieldOfFact returns how to write a field that was used without its fact: with each fact that has such a field; "" if
// none has.
func (s *scope) fieldOfFact(name string) string {
	facts := s.facts(func(f *Fact) bool {
		return f.plan.sym != nil && f.plan.sym.typ != nil && f.plan.sym.typ.Fields[name] != nil
	})
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
