package rules

import (
	"context"
	"sync"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// compiler compiles documents into a Program. It keeps the tables for texts that compile later.
type compiler struct {
	load    *loading
	lazy    bool // without texts and without checks for doubtful code
	engine  *engine
	names   *names
	program *Program
	table   *table
	diags   *Diagnostics
	usual   finder                      // of common mistakes
	index   *indexer                    // nil but for editors
	types   map[ast.Node]*schema.Schema // see typed

	// Everything compiled, including what has errors, for what the policy uses.
	operands []*operand
	texts    []*text
	paths    []*path
	surveyed int // how many of the operands findSlow has seen
}

// newCompiler returns the compiler of a policy, with the program to fill.
func newCompiler(doc *document, l *loading, diags *Diagnostics) *compiler {
	c := &compiler{
		load: l, lazy: l.cfg.Lazy, engine: newEngine(l.limits.Patterns), names: newNames(), diags: diags,
		table: &table{byKey: map[string]*symbol{}}, types: map[ast.Node]*schema.Schema{},
	}
	p := &Program{
		Name: doc.file.path, Description: doc.description, Prefix: doc.prefix, Events: doc.events, Gate: doc.gate, head: head{limits: doc.limits},
		machine: machine{mu: new(sync.Mutex), table: c.table, compiler: c},
	}
	c.program, c.index = p, newIndexer(c)
	c.engine.override(vocab.Now)
	return c
}

// head compiles what an idle event needs: params, facts, lets, when and loop.
func (c *compiler) head(doc *document) *scope {
	c.checkConfig()
	sc := c.declare(doc, "", c.given(doc))
	c.program.head.when = c.conditions(sc, doc.when)
	c.loop(doc, sc)
	c.checkHead()
	c.findSlow()
	return sc
}

// body compiles the rest of a document, including its includes. It returns nil after an error.
func (c *compiler) body(doc *document, sc *scope) *Program {
	p, diags := c.program, c.diags
	in := &includer{c: c, prefixes: map[string]bool{}}
	in.rules(doc, sc)
	c.checkRuleNames(in.pending)
	for _, s := range c.table.all() {
		if s.kind == letSymbol {
			c.letType(s)
		}
	}
	p.rules = make([]*Rule, len(in.pending))
	for i, r := range in.pending {
		p.rules[i] = c.rule(r)
	}
	for _, n := range doc.progress {
		if root, _ := c.expression(snippetOf(sc, n), false); root != nil {
			p.head.progress = append(p.head.progress, root)
		}
	}
	c.limits(doc, sc)
	c.measure(doc, sc)
	c.runDefaults(doc, sc)
	for _, fd := range doc.finally {
		p.finally = append(p.finally, c.finallyEntry(sc, fd))
	}
	c.checkCycles(sc, doc)
	c.checkAllowed()
	c.index.finish()
	if diags.hasErrors() {
		return nil
	}
	c.finish()
	return p
}

// rest is the part of a program that lazy loading defers.
type rest struct {
	load func(context.Context) (*Program, Diagnostics)

	mu      sync.Mutex
	program *Program
	diags   Diagnostics
}

// get returns the whole program, which it loads at the first call. A load that failed only because ctx was done is
// repeated.
func (r *rest) get(ctx context.Context) (*Program, Diagnostics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.program == nil && r.diags == nil {
		p, diags := r.load(ctx)
		if p == nil && ctx.Err() != nil {
			return nil, diags
		}
		r.program, r.diags = p, diags
	}
	return r.program, r.diags
}
