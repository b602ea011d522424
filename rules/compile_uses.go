package rules

import (
	"cmp"
	stdpath "path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Uses returns everything that the policy may touch, independent of the facts.
func (p *Program) Uses() Uses {
	if p = p.loaded(); p.machine.table == nil {
		return Uses{}
	}
	return p.findUses()
}

// findUses collects what a compiled program touches.
func (p *Program) findUses() Uses {
	var u Uses
	for _, t := range p.machine.compiler.texts {
		p.compiled(t)
	}
	for _, o := range p.machine.compiler.operands {
		u.note(o)
	}
	for _, t := range p.machine.compiler.paths {
		if t.kind.inProject() {
			u.Paths = append(u.Paths, Use{t.node.Value, t.file.at(t.node.Start)})
		}
	}
	for _, f := range p.facts {
		u.Sources = append(u.Sources, Use{f.Source.Name, f.Pos})
	}
	for _, r := range p.rules {
		for _, e := range r.then {
			if e.kind != RememberEffect { // it touches nothing else
				u.Effects = append(u.Effects, Use{cmp.Or(e.name, string(e.kind)), e.pos})
			}
		}
	}
	for _, f := range p.finally {
		if e := f.effect; e != nil {
			u.Effects = append(u.Effects, Use{string(e.kind), e.pos})
		}
	}
	for _, list := range []*[]Use{&u.Sources, &u.Functions, &u.Effects, &u.Names, &u.Paths} {
		slices.SortFunc(*list, func(a, b Use) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
		})
		*list = slices.Compact(*list)
	}
	return u
}

// note adds what an operand uses.
func (u *Uses) note(o *operand) {
	at := o.src.pos()
	for _, s := range o.uses.syms {
		switch {
		case s.kind != nameSymbol || s.info.Memory || s.name == vocab.Now || strings.HasPrefix(s.name, "start."): // not a fact about the world
		case s.info.called():
			u.Functions = append(u.Functions, Use{s.name, at})
		default:
			u.Names = append(u.Names, Use{s.name, at})
		}
	}
	for _, name := range o.uses.calls {
		u.Functions = append(u.Functions, Use{name, at})
	}
	for _, path := range o.uses.paths {
		u.Paths = append(u.Paths, Use{path, at})
	}
}

// Allowed returns an error for each use of the program that one of the capabilities does not allow, at its position. Of
// a lazy program it sees what is loaded; an evaluation checks the rest, see [Options.Allow].
func (p *Program) Allowed(by ...Capabilities) Diagnostics {
	if p = p.loaded(); len(by) == 0 || p.machine.table == nil {
		return nil
	}
	var diags Diagnostics
	p.disallowed(by, &diags)
	return diags.sorted()
}

// disallowed adds what the program uses without permission.
func (p *Program) disallowed(by []Capabilities, diags *Diagnostics) {
	all := p.findUses()
	for _, may := range by {
		check := func(uses []Use, allowed []string, what string) {
			for _, u := range uses {
				if diags.full(Error) {
					return
				}
				if anyMatches(allowed, u.Name) || what == "path" && strings.Contains(u.Name, "${") ||
					what == "function" && strings.Contains(u.Name, ".") && anyMatches(may.Names, u.Name) { // transcript.passed is also a name
					continue
				}
				help := nearest.DidYouMean(u.Name, allowed)
				if help == "" {
					help = "allowed are " + list(allowed)
					if len(allowed) == 0 {
						help = "no " + what + " is allowed"
					}
				}
				*diags = append(*diags, Diagnostic{
					Pos: u.Pos, End: p.lineEnd(u.Pos), Check: "not-allowed", Help: help, Line: p.line(u.Pos),
					Message: "the policy may not use the " + what + " " + quote(u.Name),
				})
			}
		}
		check(all.Sources, may.Sources, "source")
		check(all.Functions, may.Functions, "function")
		check(all.Effects, may.Effects, "effect")
		check(all.Names, may.Names, "name")
		check(all.Paths, may.Paths, "path")
	}
}

// checkAllowed reports what the policy uses without permission.
func (c *compiler) checkAllowed() {
	p := c.program
	if p.origin.allow = c.load.cfg.Allow; len(p.origin.allow) > 0 {
		p.disallowed(p.origin.allow, c.diags)
	}
}

// asksPaths reports whether a function takes a path of the project.
func asksPaths(name string) bool {
	return name == vocab.Exists || name == vocab.IsDir || name == vocab.AnyFile
}

// constantPaths returns the constant paths that a leaf tests.
func constantPaths(n ast.Node) (paths []string) {
	eachNode(n, func(n ast.Node) {
		if name, path := literalCall(n); asksPaths(name) {
			paths = append(paths, path)
		}
	})
	return paths
}

// anyMatches reports whether a name matches one of the patterns.
func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := doublestar.Match(p, stdpath.Clean(name))
		return ok && err == nil
	})
}
