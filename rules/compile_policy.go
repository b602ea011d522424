package rules

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

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
	p.pool.New = func() any { return p.newEvaluation() }
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

// table holds the symbols of a program. Rules compile in parallel and add names
// as they meet them, so it is safe for concurrent use.
type table struct {
	mu      sync.RWMutex
	byKey   map[string]*symbol
	symbols []*symbol
}

func (t *table) find(key string) *symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[key]
}

// add gives the symbol with the key of s, which is s if there was none.
func (t *table) add(s *symbol) *symbol {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.byKey[s.key]; old != nil {
		return old
	}
	s.slot = len(t.symbols)
	t.symbols = append(t.symbols, s)
	t.byKey[s.key] = s
	return s
}

func (t *table) size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.symbols)
}

// all lists the symbols. Those that the policy declares come in its order.
func (t *table) all() []*symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.symbols)
}

// nameSymbol gives the symbol of one of ralph's names, made at its first use.
func (c *compiler) nameSymbol(name string) *symbol {
	s := c.table.find(name)
	if s == nil {
		info := c.names.byName[name]
		if info == nil { // env.NAME
			info = environment(name)
		}
		s = c.table.add(&symbol{kind: nameSymbol, name: name, key: name, typ: info.typ, info: info, private: info.Private})
	}
	if !c.engine.knows(name) {
		if s.info.goType != nil {
			c.engine.declare(name, natureOfGo(s.info.goType))
		} else {
			c.engine.declare(name, natureOf(s.typ))
		}
	}
	return s
}

// askSymbol gives the symbol of missing(fact) or its like, made at its first use.
func (c *compiler) askSymbol(ask string, fact *symbol) *symbol {
	fact.used.Store(true)
	key := ask + "(" + fact.key + ")"
	if !c.engine.knows(key) {
		c.engine.declare(key, natureOfGo(askType(ask)))
	}
	s := &symbol{kind: askSymbol, name: ask + "(" + fact.name + ")", key: key, ask: ask, fact: fact.fact}
	if ask == "age" {
		s.now = c.nameSymbol("now")
	}
	return c.table.add(s)
}

// tickSymbol gives the symbol of the function that counts the work of loops.
func (c *compiler) tickSymbol() *symbol {
	if !c.engine.knows(tickKey) {
		c.engine.declare(tickKey, natureOfGo(reflect.TypeFor[func(int) bool]()))
	}
	return c.table.add(&symbol{kind: tickSymbol, name: tickKey, key: tickKey})
}

func (c *compiler) place(f *file, at source.Pos) Pos {
	return Pos{File: f.name, Line: at.Line, Col: at.Col}
}

func (c *compiler) report(f *file, from, to source.Pos, sev Severity, check, help, message string) {
	*c.diags = append(*c.diags, Diagnostic{
		Pos: c.place(f, from), End: c.place(f, to), Severity: sev, Check: check,
		Message: message, Help: help, Line: source.Line(f.src, from.Line),
	})
}

// errorf reports an error about the whole of a node.
func (c *compiler) errorf(sc *scope, n *source.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Error, check, help, fmt.Sprintf(format, args...))
}

func (c *compiler) warnf(sc *scope, n *source.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Warning, check, help, fmt.Sprintf(format, args...))
}

// snippet is an expression within a node of a file: all of it, or a part such as
// the hole of a text.
type snippet struct {
	scope  *scope
	src    string
	node   *source.Node
	offset int // of src in the node's value, in runes
}

// whole is the snippet of a node that is an expression.
func whole(sc *scope, n *source.Node) snippet { return snippet{scope: sc, src: n.Value, node: n} }

// at is the place in the file of a rune of the snippet.
func (s *snippet) at(rune int) source.Pos { return s.node.At(s.offset + rune) }

func (s *snippet) pos(rune int) Pos {
	at := s.at(rune)
	return Pos{File: s.scope.file.name, Line: at.Line, Col: at.Col}
}

// trimmed gives the runes of the snippet without the white space around it.
func (s *snippet) trimmed() (from, to int) {
	runes := []rune(s.src)
	to = len(runes)
	for from < to && isSpace(runes[from]) {
		from++
	}
	for to > from && isSpace(runes[to-1]) {
		to--
	}
	return from, to
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }
