package rules

import (
	"fmt"
	"io/fs"
	stdpath "path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// maxIncludeDepth bounds nested includes; the policy itself does not count.
const maxIncludeDepth = 8

// includeAt is where the policy includes a file.
type includeAt struct {
	prefix   string // of its rules' names
	from, to Pos
}

// includer reads the rules of a document and of all that it includes, in place.
type includer struct {
	c        *compiler
	stack    []string        // files that are being read
	prefixes map[string]bool // of the includes
	pending  []pendingRule
}

func (in *includer) rules(doc *document, sc *scope) {
	in.stack = append(in.stack, doc.file.name)
	in.pending = slices.Grow(in.pending, len(doc.rules))
	for _, d := range doc.rules {
		if d.include != nil {
			in.include(d, sc)
			continue
		}
		in.pending = append(in.pending, pendingRule{decl: d, scope: sc, name: sc.rules + d.name.Value})
		at := sc.file.at(d.name.Start)
		in.c.index.add(at, sc.file.at(d.name.End()), Word{Kind: "rule", Name: sc.rules + d.name.Value, Decl: at}, nil)
	}
	in.stack = in.stack[:len(in.stack)-1]
}

func (in *includer) include(d *ruleDecl, sc *scope) {
	c := in.c
	f, name, ok := in.find(d, sc)
	if !ok {
		return
	}
	c.load.files++
	switch {
	case slices.Contains(in.stack, f.name):
		c.errorf(sc, d.include, "include-cycle", "break the cycle", "%s includes itself: %s", f.name, strings.Join(append(slices.Clone(in.stack), f.name), " → "))
		return
	case len(in.stack) > maxIncludeDepth || c.load.files > c.load.limits.Includes:
		c.errorf(sc, d.include, "include", "", "too many includes: at most %d files, %d deep", c.load.limits.Includes, maxIncludeDepth)
		return
	}
	as := strings.TrimSuffix(stdpath.Base(name), stdpath.Ext(name))
	at := d.include
	if d.as != nil {
		at = d.as
		if d.as.Value != "" {
			as = d.as.Value
		}
		if !isKebab(as) {
			c.errorf(sc, at, "include-name", kebabHelp(as), "the name %q is not kebab-case", as)
			return
		}
	}
	prefix := sc.prefix + as + "/"
	if in.prefixes[prefix] {
		c.errorf(sc, at, "include-name", "add as: with another name", "another include is already named %q", as)
		return
	}
	in.prefixes[prefix] = true
	if sc.prefix == "" {
		c.program.origin.includes = append(c.program.origin.includes, includeAt{prefix, sc.file.at(d.include.Start), sc.file.at(d.include.End())})
	}
	c.index.add(sc.file.at(d.include.Start), sc.file.at(d.include.End()), Word{Kind: "include", Name: d.include.Value, Decl: Pos{File: f.name, Line: 1, Col: 1}}, nil)
	doc := parseFile(f, true, c.load, c.diags)
	if doc == nil {
		return
	}
	if b, ok := in.bind(d, sc, doc); ok {
		inner := c.declare(doc, prefix, b)
		if inner.rules = sc.rules; d.as == nil || d.as.Value != "" {
			inner.rules += as + "/"
		}
		in.rules(doc, inner)
	}
}

// find reads the file that an include names.
func (in *includer) find(d *ruleDecl, sc *scope) (f *file, name string, ok bool) {
	c := in.c
	at := sc.file.fs
	name, shipped := strings.CutPrefix(d.include.Value, "ralph:")
	if shipped {
		at = includeFS{fsys: c.load.cfg.Shipped, prefix: "ralph:"}
		if at.fsys == nil {
			c.errorf(sc, d.include, "include", "", "no shipped files are available here")
			return nil, "", false
		}
		name = stdpath.Clean(name)
	} else {
		var err error
		if name, err = beside(sc.file, name); err != nil {
			c.errorf(sc, d.include, "include", "", "%s", err)
			return nil, "", false
		}
	}
	if stdpath.Ext(name) == "" {
		name += ".yaml"
	}
	f, err := c.load.read(at, name)
	if err != nil {
		help := ""
		if shipped {
			guards := shippedGuards(at.fsys)
			const dir = "ralph:guards/"
			short := make([]string, len(guards))
			for i, g := range guards {
				short[i] = strings.TrimPrefix(g, dir)
			}
			help = nearest.DidYouMean(strings.TrimSuffix(stdpath.Base(name), ".yaml"), short)
			if help = strings.Replace(help, `"`, `"`+dir, 1); help == "" {
				help = "the shipped ones are " + list(guards)
			}
		} else if guard := "ralph:guards/" + strings.TrimSuffix(stdpath.Base(name), ".yaml"); c.load.cfg.Shipped != nil && slices.Contains(shippedGuards(c.load.cfg.Shipped), guard) {
			help = "did you mean " + quote(guard) + "?"
		}
		c.errorf(sc, d.include, foundBy(err, "include"), help, "%s", err)
		return nil, "", false
	}
	return f, name, true
}

// bind matches an include's values with the params of the file.
func (in *includer) bind(d *ruleDecl, sc *scope, doc *document) (bindings, bool) {
	c := in.c
	b := bindings{exprs: map[string]letDecl{}, facts: map[string]*symbol{}, scope: sc} // unbound params are reported
	names := doc.paramNames()
	for _, p := range doc.params {
		c.index.bound(doc.file, p.key, doc)
	}
	for _, w := range d.with {
		if !slices.Contains(names, w.name) {
			message := fmt.Sprintf("%s has no param %q", doc.file.name, w.name)
			if len(names) > 0 {
				message += ", it has " + list(names)
			}
			c.errorf(sc, w.key, "unknown-param", nearest.DidYouMean(w.name, names), "%s", message)
			continue
		}
		b.exprs[w.name] = w
		c.index.bound(sc.file, w.key, doc)
		// A string is the most common value that is not an expression.
		if i := slices.IndexFunc(doc.params, func(p paramDecl) bool { return p.name == w.name }); i >= 0 && w.expr.Style == yamltree.Plain && isTextParam(doc.params[i]) {
			if _, err := c.engine.parse(w.expr.Value); err != nil {
				c.errorf(sc, w.expr, "syntax", "write '"+quote(w.expr.Value)+"'", "a value under with is an expression; a string in it needs quotes")
				delete(b.exprs, w.name)
				d.lost = append(d.lost, w.name)
			}
		}
	}
	ok := true
	for _, p := range doc.params {
		if _, bound := b.exprs[p.name]; !bound && p.schema.Get("default") == nil && !d.blind && !slices.Contains(d.lost, p.name) {
			c.errorf(sc, d.include, "param-value", "add with: {"+p.name+": …}", "the param %q of %s has no default and must be bound", p.name, doc.file.name)
			ok = false
		}
		if w, bound := b.exprs[p.name]; bound && p.fact != nil {
			ok = in.bindFact(p, w, sc, b) && ok
		}
	}
	return b, ok
}

// bindFact matches the name of a fact with a param that takes one.
func (in *includer) bindFact(p paramDecl, w letDecl, sc *scope, b bindings) bool {
	name, source := w.expr.Value, p.fact.Value
	s := sc.symbols[name]
	if s == nil || s.kind != factSymbol || s.fact.Source.Name != source {
		facts := sc.facts(func(f *Fact) bool { return f.Source.Name == source })
		in.c.errorf(sc, w.expr, "param-value", nearest.DidYouMean(name, facts), "%q must name a fact with the source %s; got %q; %s",
			p.name, source, name, theyAre("those facts", facts))
		return false
	}
	in.c.index.node(sc, w.expr)
	b.facts[p.name] = s
	return true
}

// isTextParam reports whether a param accepts only a string.
func isTextParam(p paramDecl) bool {
	t := p.schema.Get("type")
	return t != nil && t.Value == "string"
}

// shippedGuards returns the files that can be included with ralph:.
func shippedGuards(fsys fs.FS) []string {
	files, _ := fs.Glob(fsys, "guards/*.yaml") // the pattern is well formed
	for i := range files {
		files[i] = "ralph:" + strings.TrimSuffix(files[i], ".yaml")
	}
	return files
}
