package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	stdpath "path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-sdk/ralph/rules/internal/source"
	"github.com/ralph-sdk/ralph/schema"
)

// Config tells Load about the world that the policy will run in. The zero Config
// loads a policy that includes nothing shipped, with the values of its defaults.
type Config struct {
	// Shipped holds the files that policies name with ralph:, such as guards/limit.yaml.
	Shipped fs.FS
	// Sources are further fact sources, beside those of [Sources]. Whoever
	// gathers the facts must know them.
	Sources []SourceKind
	// Set gives values of params, as text: what --set and the configuration say.
	// An unknown name is an error.
	Set map[string]string
	// LazyTexts leaves continue, stop, note, notice and log texts uncompiled
	// until their rule holds. A hook wants it for its speed; problems of such a
	// text then show as (?) in it and in the trace, not as diagnostics.
	LazyTexts bool
}

// includeFS is where the includes and schemas of a file are looked up.
type includeFS struct {
	fsys   fs.FS
	prefix string // "ralph:" for shipped files
}

const (
	maxIncludeDepth = 8
	maxFiles        = 64
)

// Load reads the policy name of fsys with everything it includes, checks and
// compiles it. The program is nil if and only if a diagnostic is an error. Each
// problem is reported once, at its place, and reading goes on behind it.
//
// Includes and schemas are looked up in fsys, relative to the file that names
// them; what is written ralph:NAME comes from [Config.Shipped] and [schema.Shipped].
func Load(fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	var diags Diagnostics
	c := &compiler{
		cfg: cfg, engine: newEngine(), names: newNames(), diags: &diags,
		table: &table{byKey: map[string]*symbol{}},
	}
	c.program = &Program{Name: name, table: c.table}
	c.engine.override("now")
	c.program.compiler = c
	c.program.pool.New = func() any { return new(evaluation) }

	f, err := readFile(includeFS{fsys: fsys}, name)
	if err != nil {
		return nil, Diagnostics{{Pos: Pos{File: name}, Check: "read", Message: err.Error()}}
	}
	kinds := slices.Concat(Sources(), cfg.Sources)
	doc := parseFile(f, false, kinds, &diags)
	if doc == nil {
		return nil, diags.sorted()
	}
	p := c.program
	p.Description, p.Prefix, p.Events, p.Gate, p.Limits = doc.description, doc.prefix, doc.events, doc.gate, doc.limits
	sc := c.declare(doc, "", c.paramValues(doc))
	in := &includer{c: c, kinds: kinds}
	in.rules(doc, sc, 0)
	c.checkRuleNames(in.rulesInOrder)
	for _, s := range c.table.all() {
		if s.kind == letSymbol {
			c.letType(s)
		}
	}
	c.compileRules(in.rulesInOrder)
	for _, n := range doc.progress {
		if root, _ := c.expression(whole(sc, n), false); root != nil {
			p.progress = append(p.progress, root)
		}
	}
	for _, fd := range doc.finally {
		p.finally = append(p.finally, c.finallyEntry(sc, fd))
	}
	c.checkCycles()
	c.checkProgram(doc, sc)
	diags = diags.sorted()
	if diags.HasErrors() {
		return nil, diags
	}
	c.diags = nil
	return p, diags
}

func readFile(at includeFS, name string) (*file, error) {
	src, err := fs.ReadFile(at.fsys, name)
	shown := at.prefix + name
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %s", shown)
		}
		return nil, fmt.Errorf("%s cannot be read: %w", shown, err)
	}
	return &file{name: shown, path: name, src: src, fs: at}, nil
}

// paramValues types the values that the configuration gives to the params of the policy.
func (c *compiler) paramValues(doc *document) map[string]any {
	values := map[string]any{}
	names := make([]string, len(doc.params))
	for i, d := range doc.params {
		names[i] = d.name
	}
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Set)) {
		if !slices.Contains(names, name) {
			message := fmt.Sprintf("the policy has no param %q", name)
			help := didYouMean(name, names)
			if help == "" && len(names) > 0 {
				help = "it has " + list(names)
			}
			*c.diags = append(*c.diags, Diagnostic{Pos: Pos{File: doc.file.name}, Check: "unknown-param", Message: message, Help: help})
			continue
		}
		values[name] = c.cfg.Set[name]
	}
	return values
}

// declare makes the scope of a document: its params, facts and lets.
func (c *compiler) declare(doc *document, prefix string, values map[string]any) *scope {
	sc := &scope{file: doc.file, prefix: prefix, symbols: map[string]*symbol{}}
	c.program.Files = append(c.program.Files, File{Name: doc.file.name, Src: doc.file.src})
	for _, d := range doc.params {
		c.declareParam(sc, d, values)
	}
	for _, d := range doc.facts {
		c.declareFact(sc, d)
	}
	for _, d := range doc.lets {
		if c.free(sc, d.key, d.name) {
			sc.symbols[d.name] = c.table.add(&symbol{
				kind: letSymbol, name: prefix + d.name, key: prefix + d.name,
				pos: c.place(sc.file, d.key.Start), let: &let{decl: d, scope: sc},
			})
		}
	}
	c.checkInline(sc)
	// Paths may read any fact or let, so they compile when all are declared.
	for _, d := range doc.facts {
		s := sc.symbols[d.name]
		if s == nil || s.kind != factSymbol || s.fact.sym != s {
			continue
		}
		if d.kind.Text {
			s.fact.question = c.newText(sc, d.args[0])
		} else {
			for _, n := range d.args {
				s.fact.args = append(s.fact.args, c.newPath(sc, n, d.kind))
			}
		}
		for _, o := range d.kind.texts() {
			switch n := d.texts[o.Name]; {
			case n == nil:
			case o.Kind == OptionText:
				s.fact.texts = append(s.fact.texts, optionText{name: o.Name, text: c.newText(sc, n)})
			default:
				s.fact.texts = append(s.fact.texts, optionText{name: o.Name, arg: c.newPath(sc, n, SourceKind{})})
			}
		}
	}
	return sc
}

// free reports whether a name can be declared, and tells if not.
func (c *compiler) free(sc *scope, key *source.Node, name string) bool {
	if c.names.taken(name) {
		c.errorf(sc, key, "reserved-name", "choose another name", "%q is a name that every policy has already", name)
		return false
	}
	if old := sc.symbols[name]; old != nil {
		c.errorf(sc, key, "duplicate-name", "", "the name %q is declared at %d:%d already", name, old.pos.Line, old.pos.Col)
		return false
	}
	return true
}

func (c *compiler) declareParam(sc *scope, d paramDecl, values map[string]any) {
	if !c.free(sc, d.key, d.name) {
		return
	}
	s, err := schema.FromValue(sc.file.name+"#"+d.name, d.schema.Decode())
	if err != nil {
		c.errorf(sc, d.schema, "schema", "write for example {type: integer, default: 5}", "the param %q needs a JSON Schema: %s", d.name, schemaMessage(err))
		return
	}
	t := s.Type()
	sym := &symbol{kind: constSymbol, name: sc.prefix + d.name, key: sc.prefix + d.name, typ: t, pos: c.place(sc.file, d.key.Start)}
	v, given := values[d.name]
	if b, ok := v.(letDecl); ok { // bound by an include, in the includer's scope
		sym.kind, sym.let = letSymbol, &let{decl: b, scope: values[" scope"].(*scope)}
		sc.symbols[d.name] = c.table.add(sym)
		return
	}
	switch {
	case given:
		r := s.Check(schema.Document{Value: v})
		if bad := slices.Concat(r.Unusable, r.Warnings); len(bad) > 0 {
			c.errorf(sc, d.key, "param-value", "it takes "+t.String(), "the value %q does not fit the param %q: %s", fmt.Sprint(v), d.name, bad[0].Message)
			return
		}
		sym.value = r.Value
	case t.HasDefault:
		sym.value = s.Complete(t.Default)
	default:
		c.errorf(sc, d.key, "param-value", "add a default, or give a value with --set or with:", "the param %q has no default and is not given", d.name)
		return
	}
	c.engine.declare(sym.key, natureOf(&schema.Type{Kind: t.Kind, Elem: t.Elem, Fields: t.Fields, Extra: t.Extra}))
	sc.symbols[d.name] = c.table.add(sym)
}

func (c *compiler) declareFact(sc *scope, d factDecl) {
	if !c.free(sc, d.key, d.name) {
		return
	}
	f := &Fact{
		Name: sc.prefix + d.name, Source: d.kind, Settle: d.settle, Timeout: d.timeout,
		Options: d.options, Pos: c.place(sc.file, d.key.Start),
	}
	sym := &symbol{kind: factSymbol, name: f.Name, key: f.Name, fact: f, pos: f.Pos, typ: d.kind.Value}
	f.sym = sym
	if d.schema != nil {
		f.Schema = c.schemaOf(sc, d.schema)
		if f.Schema != nil {
			sym.typ = f.Schema.Type()
		}
	}
	if d.kind.Around != nil {
		sym.typ = d.kind.Around(sym.typ)
	}
	if d.kind.Name == "frontmatter" {
		sym.typ = withBody(sym.typ)
	}
	if d.deflt != nil {
		f.HasDefault, f.Default = true, d.deflt.Decode()
		if f.Schema != nil && d.kind.Around == nil {
			f.Default = f.Schema.Complete(f.Default)
		}
		if m, ok := f.Default.(map[string]any); ok && d.kind.Name == "frontmatter" {
			m["body"] = ""
		}
	}
	if d.inline != nil && f.Schema != nil {
		if sc.inline != nil {
			c.errorf(sc, d.inline, "inline", "", "the fields of %q are names already; at most one fact is inline", sc.inline.name)
		} else {
			sc.inline = sym
		}
	}
	c.engine.declare(sym.key, natureOf(sym.typ))
	sc.symbols[d.name] = c.table.add(sym)
	c.program.facts = append(c.program.facts, f)
}

// withBody adds the text below the front matter to a type.
func withBody(t *schema.Type) *schema.Type {
	body := &schema.Type{Kind: schema.String, Doc: "The text below the front matter."}
	if t == nil || len(t.Fields) == 0 {
		return t // open: .body is found at run time
	}
	n := *t
	n.Fields = maps.Clone(t.Fields)
	n.Fields["body"] = body
	return &n
}

// schemaOf finds and compiles the schema of a fact.
func (c *compiler) schemaOf(sc *scope, n *source.Node) *schema.Schema {
	var s *schema.Schema
	var err error
	switch {
	case n.Kind == source.Map || n.Tag == "!!bool":
		s, err = schema.FromValue(sc.file.name, n.Decode())
	case strings.HasPrefix(n.Value, "ralph:"):
		name := strings.TrimPrefix(n.Value, "ralph:")
		src, ok := schema.Shipped(name)
		if !ok {
			c.errorf(sc, n, "schema", didYouMean(name, schema.ShippedNames()), "there is no shipped schema %q, the shipped ones are %s", name, list(schema.ShippedNames()))
			return nil
		}
		s, err = schema.Compile(n.Value, src)
	case n.Kind == source.Scalar && n.Value != "":
		at := stdpath.Join(stdpath.Dir(sc.file.path), n.Value)
		var f *file
		if f, err = readFile(sc.file.fs, at); err == nil {
			s, err = schema.Compile(at, f.src)
		}
	default:
		err = errors.New("write an object, a file name or ralph:NAME")
	}
	if err != nil {
		c.errorf(sc, n, "schema", "", "the schema cannot be used: %s", schemaMessage(err))
		return nil
	}
	if !c.cfg.LazyTexts {
		if err := s.Verify(); err != nil {
			c.errorf(sc, n, "schema", "", "the schema cannot be used: %s", schemaMessage(err))
		}
		for _, w := range s.Widened() {
			c.warnf(sc, n, "schema-widened", "say the type of each field plainly, or leave it", "the type at %s is not checked: %s", w.Pointer, w.Why)
		}
		for _, u := range s.Unknown() {
			c.warnf(sc, n, "schema-keyword", "", "%s", u.Message)
		}
	}
	return s
}

func schemaMessage(err error) string {
	var ce *schema.CompileError
	if errors.As(err, &ce) {
		if ce.Pointer != "" {
			return ce.Message + " at " + ce.Pointer
		}
		return ce.Message
	}
	return err.Error()
}

// checkInline tells of declared names that hide a field of the inline fact.
func (c *compiler) checkInline(sc *scope) {
	if sc.inline == nil {
		return
	}
	for name, s := range sc.symbols {
		if sc.field(name) != nil {
			c.diagAt(s.pos, sc, "ambiguous-name", fmt.Sprintf("choose another name, or write %s.%s for the field", sc.inline.name, name),
				"%q is also a field of the inline fact %q", name, sc.inline.name)
		}
	}
}

func (c *compiler) diagAt(pos Pos, sc *scope, check, help, format string, args ...any) {
	*c.diags = append(*c.diags, Diagnostic{Pos: pos, End: pos, Check: check, Message: fmt.Sprintf(format, args...), Help: help, Line: source.Line(sc.file.src, pos.Line)})
}

// pendingRule is a rule with the scope in which its expressions are read.
type pendingRule struct {
	decl  ruleDecl
	scope *scope
	name  string
}

// includer reads the rules of a document and of all it includes, in place.
type includer struct {
	c            *compiler
	kinds        []SourceKind
	files        int
	stack        []string
	rulesInOrder []pendingRule
}

func (in *includer) rules(doc *document, sc *scope, depth int) {
	in.stack = append(in.stack, doc.file.name)
	defer func() { in.stack = in.stack[:len(in.stack)-1] }()
	for _, d := range doc.rules {
		if d.include == nil {
			in.rulesInOrder = append(in.rulesInOrder, pendingRule{decl: d, scope: sc, name: sc.prefix + d.name.Value})
			continue
		}
		in.include(d, sc, depth)
	}
}

func (in *includer) include(d ruleDecl, sc *scope, depth int) {
	c := in.c
	at, name := sc.file.fs, d.include.Value
	if rest, ok := strings.CutPrefix(name, "ralph:"); ok {
		at, name = includeFS{fsys: c.cfg.Shipped, prefix: "ralph:"}, rest
		if at.fsys == nil {
			c.errorf(sc, d.include, "include", "", "no shipped files are available here")
			return
		}
	} else {
		name = stdpath.Join(stdpath.Dir(sc.file.path), name)
	}
	if stdpath.Ext(name) == "" {
		name += ".yaml"
	}
	f, err := readFile(at, name)
	if err != nil {
		help := ""
		if at.prefix != "" {
			help = didYouMean(strings.TrimSuffix(name, ".yaml"), shippedGuards(at.fsys))
		}
		c.errorf(sc, d.include, "include", help, "%s", err)
		return
	}
	in.files++
	switch {
	case slices.Contains(in.stack, f.name):
		c.errorf(sc, d.include, "include-cycle", "", "%s includes itself: %s", f.name, strings.Join(append(in.stack, f.name), " → "))
		return
	case depth >= maxIncludeDepth || in.files > maxFiles:
		c.errorf(sc, d.include, "include", "", "too many includes: at most %d files, %d deep", maxFiles, maxIncludeDepth)
		return
	}
	doc := parseFile(f, true, in.kinds, c.diags)
	if doc == nil {
		return
	}
	as := strings.TrimSuffix(stdpath.Base(name), ".yaml")
	if d.as != nil {
		as = d.as.Value
	}
	prefix := sc.prefix + as + "/"
	if slices.ContainsFunc(in.rulesInOrder, func(r pendingRule) bool { return r.scope.prefix == prefix }) {
		c.errorf(sc, d.include, "include-name", "add as: with another name", "there is an include named %q already", as)
		return
	}
	values := map[string]any{" scope": sc}
	for _, b := range d.with {
		if !slices.ContainsFunc(doc.params, func(p paramDecl) bool { return p.name == b.name }) {
			var names []string
			for _, p := range doc.params {
				names = append(names, p.name)
			}
			c.errorf(sc, b.key, "unknown-param", didYouMean(b.name, names), "%s has no param %q, it has %s", f.name, b.name, list(names))
			continue
		}
		values[b.name] = b
	}
	for _, p := range doc.params {
		if _, ok := values[p.name]; !ok && p.schema.Get("default") == nil {
			c.errorf(sc, d.include, "param-value", "add with: {"+p.name+": …}", "the param %q of %s has no default and must be bound", p.name, f.name)
			values[p.name] = letDecl{name: p.name, key: d.include, expr: d.include}
			return
		}
	}
	in.rules(doc, c.declare(doc, prefix, values), depth+1)
}

func shippedGuards(fsys fs.FS) []string {
	files, _ := fs.Glob(fsys, "guards/*.yaml")
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".yaml")
	}
	return files
}

func (c *compiler) checkRuleNames(rules []pendingRule) {
	seen := map[string]Pos{}
	for _, r := range rules {
		at := c.place(r.scope.file, r.decl.name.Start)
		if old, ok := seen[r.name]; ok {
			c.errorf(r.scope, r.decl.name, "duplicate-name", "", "there is a rule %q already, at %s", r.name, old)
			continue
		}
		seen[r.name] = at
	}
}

// compileRules compiles the rules in order. Large policies are shared between
// processors: compiling is most of what they cost.
func (c *compiler) compileRules(pending []pendingRule) {
	rules := make([]*Rule, len(pending))
	workers := min(runtime.GOMAXPROCS(0), len(pending)/parallelRules)
	if workers < 2 {
		for i, r := range pending {
			rules[i] = c.rule(r, i)
		}
	} else {
		var wg sync.WaitGroup
		parts := make([]Diagnostics, workers)
		for w := range workers {
			wg.Go(func() {
				own := *c
				own.engine, own.diags = c.engine.fork(), &parts[w]
				for i := w; i < len(pending); i += workers {
					rules[i] = own.rule(pending[i], i)
				}
			})
		}
		wg.Wait()
		for _, d := range parts {
			*c.diags = append(*c.diags, d...)
		}
	}
	c.program.Rules = rules
}

// parallelRules is how many rules are worth a goroutine of their own.
const parallelRules = 64

func (c *compiler) rule(r pendingRule, index int) *Rule {
	d := r.decl
	rule := &Rule{Name: r.name, Pos: c.place(r.scope.file, d.node.Start), Verb: d.verb, Unless: d.unless, index: index}
	rule.when, _ = c.conditions(r.scope, d.when)
	rule.text = c.newText(r.scope, d.text)
	rule.notice = c.newText(r.scope, d.notice)
	rule.log = c.newText(r.scope, d.log)
	for _, e := range d.then {
		if eff := c.effect(r.scope, e); eff != nil {
			rule.then = append(rule.then, eff)
		}
	}
	rule.judged = c.judged(rule.when, map[*symbol]bool{})
	return rule
}

// judged reports whether a condition reads a judge, itself or through lets.
func (c *compiler) judged(root *cond, seen map[*symbol]bool) bool {
	found := false
	root.walk(func(o *operand) {
		for _, s := range o.syms {
			if found || seen[s] {
				continue
			}
			seen[s] = true
			switch s.kind {
			case factSymbol, askSymbol: // asking how a judge's fact stands asks the judge
				found = s.fact.Source.Name == "judge"
			case letSymbol:
				found = c.judged(s.let.root, seen)
			}
		}
	})
	return found
}

func (c *compiler) finallyEntry(sc *scope, d finallyDecl) *finally {
	f := &finally{name: d.name}
	f.when, _ = c.conditions(sc, d.when)
	if d.effect.kind == PruneEffect {
		f.effect = c.effect(sc, d.effect)
	}
	f.log = c.newText(sc, d.log)
	return f
}
