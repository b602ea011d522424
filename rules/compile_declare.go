package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// bindings are values for the params of a file.
type bindings struct {
	texts map[string]string  // from the configuration, for the policy itself
	exprs map[string]letDecl // from an include's with
	facts map[string]*symbol // from an include's with, for params that are facts
	scope *scope             // the scope of exprs
}

// given returns the configuration's values for the params of the policy.
func (c *compiler) given(doc *document) bindings {
	b := bindings{texts: map[string]string{}}
	names := doc.paramNames()
	for _, name := range slices.Sorted(maps.Keys(c.load.cfg.Set)) {
		if slices.Contains(names, name) {
			b.texts[name] = c.load.cfg.Set[name]
			continue
		}
		help := nearest.DidYouMean(name, names)
		if help == "" && len(names) > 0 {
			help = "it has " + list(names)
		}
		message, at := fmt.Sprintf("the policy has no param %q", name), c.setAt(name)
		if at.Line == 0 {
			if at.File != "" {
				message += ", given by " + at.File
			}
			at = Pos{File: doc.file.name}
		}
		*c.diags = append(*c.diags, Diagnostic{
			Pos: at, Check: "unknown-param", Message: message, Help: help,
		})
	}
	return b
}

// setAt returns where the configuration sets a param, according to SetAt.
func (c *compiler) setAt(param string) Pos {
	if c.load.cfg.SetAt == nil {
		return Pos{}
	}
	return c.load.cfg.SetAt(param)
}

// misfit reports a value of a param that its schema rejects: where it is set, if that has a position, otherwise at the
// param's declaration.
func (c *compiler) misfit(sc *scope, d paramDecl, text string, bad schema.Violation, t *schema.Schema) {
	at, by := c.setAt(d.name), ""
	if at.Line == 0 && at.File != "" {
		by = " from " + at.File
	}
	problem := bad.Text()
	if d.private {
		problem = "has a value that does not fit its schema"
	}
	message, help := fmt.Sprintf("the param %q%s %s", d.name, by, problem), "it takes "+t.String()
	if at.Line == 0 {
		c.errorf(sc, d.key, "param-value", help, "%s", message)
		return
	}
	*c.diags = append(*c.diags, Diagnostic{
		Pos: at, End: at, Check: "param-value", Message: message, Help: help,
		Related: []Related{{Pos: sc.file.at(d.key.Start), Message: "the param is declared here"}},
	})
}

// declare returns the scope of a document: its params, facts and lets.
func (c *compiler) declare(doc *document, prefix string, b bindings) *scope {
	sc := &scope{file: doc.file, names: c.names, prefix: prefix, symbols: map[string]*symbol{}}
	c.program.origin.files = append(c.program.origin.files, File{Name: doc.file.name, Src: doc.file.src})
	for _, d := range doc.params {
		switch {
		case !c.free(sc, d.key):
		case d.fact != nil:
			c.declareFactParam(sc, d, b)
		default:
			c.declareParam(sc, d, b)
		}
		c.index.declared(sc, d.key, "param")
	}
	facts := make([]*Fact, len(doc.facts))
	for i, d := range doc.facts {
		if c.free(sc, d.key) {
			facts[i] = c.declareFact(sc, d)
		}
		c.index.declared(sc, d.key, "fact")
	}
	for _, d := range doc.memory {
		if c.free(sc, d.key) {
			c.declareMemory(sc, d)
		}
		c.index.declared(sc, d.key, "memory")
	}
	for _, d := range doc.lets {
		if c.free(sc, d.key) {
			c.add(sc, d.key, &symbol{kind: letSymbol, let: &let{decl: d, scope: sc}})
		}
		c.index.declared(sc, d.key, "let")
	}
	for _, key := range doc.lost {
		if c.free(sc, key) {
			c.engine.declare(c.add(sc, key, &symbol{kind: constSymbol}).key, natureOf(nil))
		}
	}
	c.checkInline(sc)
	// Paths may read any fact or let, so they compile after all are declared.
	for i, f := range facts {
		if f == nil {
			continue
		}
		c.arguments(sc, f, doc.facts[i])
	}
	return sc
}

// arguments compiles what is passed to a fact's source.
func (c *compiler) arguments(sc *scope, f *Fact, d factDecl) {
	switch {
	case f.Source.given():
	case f.Source.Argument == argumentText:
		f.plan.handed = append(f.plan.handed, argument{text: c.newText(sc, d.args[0])})
	default:
		for _, p := range c.argv(sc, f, d.args) {
			f.plan.handed = append(f.plan.handed, argument{path: p})
		}
		if f.Source.File && f.Source.Argument != argumentPattern && len(f.plan.handed) == 1 {
			f.File, _ = f.plan.handed[0].path.fixed()
		}
	}
	for _, o := range f.Source.texts() {
		switch n := d.texts[o.Name]; {
		case n == nil:
		case o.Kind != optionArgument:
			f.plan.handed = append(f.plan.handed, argument{name: o.Name, text: c.newText(sc, n)})
		default:
			f.plan.handed = append(f.plan.handed, argument{name: o.Name, path: c.newPath(sc, n, SourceKind{})})
		}
	}
}

// free reports whether a name can be declared; if not, it adds a finding.
func (c *compiler) free(sc *scope, key *yamltree.Node) bool {
	name := key.Value
	switch {
	case isKeyword(name):
		c.errorf(sc, key, "reserved-name", "choose another name", "%q is a keyword of expressions", name)
		return false
	case c.names.taken(name):
		c.errorf(sc, key, "reserved-name", "choose another name", "%q is a built-in name", name)
		return false
	}
	if old := sc.symbols[name]; old != nil {
		c.errorf(sc, key, "duplicate-name", "choose another name", "the name %q is already declared at %d:%d", name, old.pos.Line, old.pos.Col)
		return false
	}
	return true
}

// add declares a symbol in its scope under the name at key.
func (c *compiler) add(sc *scope, key *yamltree.Node, s *symbol) *symbol {
	s.name, s.key, s.pos = sc.prefix+key.Value, sc.prefix+key.Value, sc.file.at(key.Start)
	s = c.table.add(s)
	sc.symbols[key.Value] = s
	return s
}

// declaredSchema compiles words, the JSON Schema at n, of the declaration at key. If that fails, it adds a finding, and
// the name has no type.
func (c *compiler) declaredSchema(sc *scope, key, n *yamltree.Node, words any, what, example string) *schema.Schema {
	s, err := schema.FromValue(sc.file.name, words)
	if err != nil {
		at, message, help := schemaProblem(n, err)
		if n.Kind != yamltree.Map {
			help = "write for example " + example
		}
		c.errorf(sc, at, "schema", help, "the %s %q needs a JSON Schema: %s", what, key.Value, message)
		c.engine.declare(c.add(sc, key, &symbol{kind: constSymbol}).key, natureOf(nil))
		return nil
	}
	for _, u := range s.Unknown() {
		if c.lazy {
			break
		}
		c.warnf(sc, keyAt(n, u.Pointer), "schema-keyword", u.Help, "%s in the schema of the %s %q", u.Message, what, key.Value)
	}
	return s
}

// declareParam declares a param with its value. It declares an invalid one, too, so that rules that read it do not
// cause further findings.
func (c *compiler) declareParam(sc *scope, d paramDecl, b bindings) {
	words := d.schema.Decode()
	if fields, ok := words.(map[string]any); ok {
		delete(fields, "private")
	}
	s := c.declaredSchema(sc, d.key, d.schema, words, "param", "{type: integer, default: 5}")
	if s == nil {
		return
	}
	t := s
	if bound, ok := b.exprs[d.name]; ok {
		c.add(sc, d.key, &symbol{kind: letSymbol, typ: t, let: &let{decl: bound, scope: b.scope}, private: d.private})
		return
	}
	sym := c.add(sc, d.key, &symbol{kind: constSymbol, typ: t, private: d.private})
	text, given := b.texts[d.name]
	switch {
	case given:
		r := s.Check(schema.Document{Value: text})
		if bad := wrongIn(r); bad != nil {
			c.misfit(sc, d, text, *bad, t)
		}
		sym.value = r.Value
	case d.schema.Get("default") != nil:
		sym.value = c.defaultOf(sc, s, d.schema.Get("default"), "param-value", "the default of the param "+quote(d.name))
	case b.scope != nil: // reported at the include
	default:
		c.errorf(sc, d.key, "param-value", "add a default, or set it with --set "+d.name+"=…", "the param %q has no default and no value", d.name)
	}
	c.declareValue(sym)
}

// declareFactParam declares another name for a fact of the including file. Reads and effects are those of the fact.
func (c *compiler) declareFactParam(sc *scope, d paramDecl, b bindings) {
	if b.scope == nil {
		c.errorf(sc, d.fact, "param-value", "declare it under facts", "only an included file can be passed a fact")
	}
	s := b.facts[d.name]
	if s == nil { // reported
		c.engine.declare(c.add(sc, d.key, &symbol{kind: constSymbol}).key, natureOf(nil))
		return
	}
	sc.symbols[d.name] = s
	switch {
	case !d.inline:
	case s.fact.Schema == nil:
		sc.open = true
	default:
		sc.inline, sc.fields = s, sc.names.free(s.typ)
	}
}

// defaultOf returns the default at n of a declared schema. It reports one that does not fit.
func (c *compiler) defaultOf(sc *scope, s *schema.Schema, n *yamltree.Node, check, what string) any {
	r := s.Check(schema.Document{Value: n.Decode()})
	if bad := wrongIn(r); bad != nil {
		c.errorf(sc, n, check, "it takes "+s.String(), "%s %s", what, bad.Text())
	}
	return r.Value
}

// declareValue declares a symbol and its value to expressions.
func (c *compiler) declareValue(s *symbol) {
	t := s.typ
	if s.value == nil {
		t = nil // it may be nil whatever its type
	}
	c.engine.declare(s.key, natureOf(certain(t)))
}

// certain returns the type of a value that is set: neither optional nor nil.
func certain(t *schema.Schema) *schema.Schema {
	if t == nil {
		return nil
	}
	n := *t
	n.Nullable, n.Optional = false, false
	return &n
}

func (c *compiler) declareFact(sc *scope, d factDecl) *Fact {
	f := &Fact{
		Name: sc.prefix + d.name, Source: d.kind, Timeout: d.timeout, Covers: d.covers, Private: d.private || d.kind.Private,
		Options: d.options, Pos: sc.file.at(d.key.Start), plan: plan{index: len(c.program.facts)},
	}
	for _, n := range d.args {
		f.Args = append(f.Args, n.Value)
	}
	if len(d.texts) > 0 {
		f.Texts = make(map[string]string, len(d.texts))
	}
	for name, n := range d.texts {
		f.Texts[name] = n.Value
	}
	typ := d.kind.Value.Type
	if d.schema != nil {
		if f.Schema = c.schemaOf(sc, d.schema); f.Schema != nil {
			typ = f.Schema
		}
		if d.kind.given() && typ != nil && typ.HasDefault {
			c.errorf(sc, keyAt(d.schema, "/default"), "default", "remove it; a missing value is reported", "the program provides %q, so it cannot have a default", d.name)
		}
	}
	if d.kind.Value.Body || d.options["parse"] == "frontmatter" {
		typ = withBody(typ)
	}
	if d.kind.Value.Around != nil {
		typ = d.kind.Value.Around(typ)
	}
	f.plan.sym = c.add(sc, d.key, &symbol{kind: factSymbol, fact: f, typ: typ})
	if f.plan.private = d.kind.mask(typ); f.Private {
		f.plan.private = hidden()
	}
	if d.deflt != nil {
		c.setDefault(sc, f, d, typ)
		if f.Default == nil {
			typ = nil
		}
	}
	switch {
	case d.inline == nil:
	case f.Schema == nil: // reported: the valid names are unknown
		sc.open = true
	case sc.inline != nil:
		c.errorf(sc, d.inline, "inline", "write the name of the fact before its fields", "at most one fact can be inline, and %q already is", sc.inline.name)
	default:
		sc.inline, sc.fields = f.plan.sym, sc.names.free(f.plan.sym.typ)
	}
	c.engine.declare(f.plan.sym.key, natureOf(certain(typ)))
	c.program.facts = append(c.program.facts, f)
	return f
}

// setDefault sets the default of a fact, completed by the schema if it applies to the whole value.
func (c *compiler) setDefault(sc *scope, f *Fact, d factDecl, typ *schema.Schema) {
	f.HasDefault, f.Default = true, d.deflt.Decode()
	if f.Schema != nil && d.kind.Value.Around == nil {
		r := f.Schema.Check(schema.Document{Value: f.Default})
		if bad := r.Unfit(); bad != nil {
			c.errorf(sc, d.deflt, "default", "", "the default does not fit the schema: %s%s", strings.TrimPrefix("at "+bad.Pointer+", ", "at , "), bad.Text())
		}
		f.Default = r.Value
	}
	if d.kind.Editable && f.Schema == nil && typ == nil {
		typ = &schema.Schema{Kind: schema.Object}
	}
	if _, problem := storable(typ, f.Default); problem != "" {
		c.errorf(sc, d.deflt, "default", "", "the value of %q must be %s; its default is %s", d.name, typ, kindOf(f.Default))
	}
	if m, ok := f.Default.(map[string]any); ok && d.kind.Value.Body {
		m["body"] = ""
	}
}

// withBody adds the text below the front matter to a type.
func withBody(t *schema.Schema) *schema.Schema {
	if t == nil || len(t.Fields) == 0 {
		return t // open: .body is resolved at run time
	}
	n := *t
	n.Fields = maps.Clone(t.Fields)
	n.Fields["body"] = &schema.Schema{Kind: schema.String, Doc: "The text below the front matter."}
	return &n
}

// checkInline reports declared names that hide a field of the inline fact.
func (c *compiler) checkInline(sc *scope) {
	if sc.inline == nil {
		return
	}
	for name, s := range sc.symbols {
		if sc.fields[name] != nil {
			c.errorAt(sc, s.pos, name, "ambiguous-name", fmt.Sprintf("choose another name; the field is %s.%s too", sc.inline.name, name),
				"%q is also a field of the inline fact %q", name, sc.inline.name)
		}
	}
}
