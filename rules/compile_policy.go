package rules

// compiler makes a Program of documents. It keeps the tables that texts need
// when they compile later.
type compiler struct {
	cfg     Config
	engine  *engine
	names   *names
	program *Program
	table   *table
	diags   *Diagnostics
}

// newCompiler makes the compiler of a policy, with the program that it fills.
func newCompiler(doc *document, cfg Config, diags *Diagnostics) *compiler {
	c := &compiler{
		cfg: cfg, engine: newEngine(), names: newNames(), diags: diags,
		table: &table{byKey: map[string]*symbol{}},
	}
	p := &Program{
		Name: doc.file.path, Description: doc.description, Prefix: doc.prefix, Events: doc.events, Gate: doc.gate, Limits: doc.limits,
		table: c.table, compiler: c,
	}
	c.program = p
	c.engine.override("now")
	return c
}

// fork gives a compiler for another goroutine, with diagnostics of its own.
func (c *compiler) fork(diags *Diagnostics) *compiler {
	own := *c
	own.engine, own.diags = c.engine.fork(), diags
	return &own
}

// compilePolicy makes a program of a document and of what it includes. It is nil if
// there is an error.
func compilePolicy(doc *document, kinds []SourceKind, cfg Config, diags *Diagnostics) *Program {
	c := newCompiler(doc, cfg, diags)
	p := c.program
	sc := c.declare(doc, "", c.given(doc))
	p.when = c.ownWhen(doc, sc)
	in := &includer{c: c, kinds: kinds, prefixes: map[string]bool{}}
	in.rules(doc, sc)
	c.checkRuleNames(in.pending)
	for _, s := range c.table.all() {
		if s.kind == letSymbol {
			c.letType(s)
		}
	}
	c.compileRules(in.pending)
	for _, n := range doc.progress {
		if root, _ := c.expression(whole(sc, n), false); root != nil {
			p.progress = append(p.progress, root)
		}
	}
	for _, fd := range doc.finally {
		p.finally = append(p.finally, c.finallyEntry(sc, fd))
	}
	c.checkCycles(sc, doc)
	if diags.HasErrors() {
		return nil
	}
	c.finish()
	c.diags = nil
	return p
}

// compileHead makes a program of the params and the when of a document alone. It is
// nil if there is an error.
func compileHead(doc *document, cfg Config, diags *Diagnostics) *Program {
	c := newCompiler(doc, cfg, diags)
	c.program.when = c.ownWhen(doc, c.declare(doc, "", c.given(doc)))
	if diags.HasErrors() || c.program.when == nil {
		return nil
	}
	c.diags = nil
	return c.program
}
