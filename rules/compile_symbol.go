package rules

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-sdk/ralph/schema"
)

// symbolKind is the origin of a symbol's value.
type symbolKind uint8

const (
	factSymbol   symbolKind = iota
	letSymbol               // the value of an expression: let, or a bound param
	constSymbol             // a param with its value
	nameSymbol              // one of ralph's names
	memorySymbol            // a value of the memory
	askSymbol               // missing(f) and similar
)

// symbol is a name that operands can read, with its slot in an evaluation.
type symbol struct {
	slot int
	kind symbolKind
	name string // as users write it
	key  string // its name in expressions
	typ  *schema.Schema
	pos  Pos

	fact   *Fact        // factSymbol, askSymbol
	ask    string       // askSymbol: the test
	let    *let         // letSymbol
	value  any          // constSymbol; memorySymbol: the default
	memory *memoryValue // memorySymbol
	info   *nameInfo    // nameSymbol

	private bool // a param that is declared so

	used atomic.Bool
}

// memoryValue is a declared value of the memory.
type memoryValue struct {
	schema *schema.Schema
	per    string
	set    atomic.Bool // some effect sets it
}

// let is an expression with a name.
type let struct {
	decl  letDecl
	scope *scope // the scope of its names
	root  *cond
	state letState
}

type letState uint8

const (
	letNew letState = iota
	letOpen
	letDone
)

// table holds the symbols of a program. It is safe for concurrent use, because rules compile in parallel and add names.
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

// add returns the symbol with the key of s, and adds s if there was none.
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

// all returns the symbols. Those that the policy declares are in its order.
func (t *table) all() []*symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.symbols)
}

// nameSymbol returns the symbol of one of ralph's names, and creates it when first used.
func (c *compiler) nameSymbol(name string) *symbol {
	key := name
	if c.names.young[name] {
		key = nameKey(name)
	}
	s := c.table.find(key)
	if s == nil {
		info := c.names.byName[name]
		if info == nil { // env.NAME
			info = environment(name)
		}
		s = c.table.add(&symbol{kind: nameSymbol, name: name, key: key, typ: info.typ, info: info})
	}
	if !c.engine.knows(key) {
		if s.info.goType != nil {
			c.engine.declare(key, natureOfGo(s.info.goType))
		} else {
			c.engine.declare(key, natureOf(s.typ))
		}
	}
	return s
}

// nameKey returns the key of a name that another file may declare for itself.
func nameKey(name string) string { return name + "()" }

// askSymbol returns the symbol of missing(fact) or similar, and creates it when first used.
func (c *compiler) askSymbol(ask string, fact *symbol) *symbol {
	fact.used.Store(true)
	key := ask + "(" + fact.key + ")"
	if !c.engine.knows(key) {
		answer, _ := askType(ask)
		c.engine.declare(key, natureOfGo(answer))
	}
	return c.table.add(&symbol{kind: askSymbol, name: ask + "(" + fact.name + ")", key: key, ask: ask, fact: fact.fact})
}
