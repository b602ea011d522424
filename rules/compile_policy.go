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
