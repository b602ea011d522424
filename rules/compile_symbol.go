package rules

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ralph-sdk/ralph/schema"
)

// symbolKind is where the value of a symbol comes from.
type symbolKind uint8

const (
	factSymbol   symbolKind = iota
	letSymbol               // evaluated from an expression: let, or a bound param
	constSymbol             // a param with its value
	nameSymbol              // one of ralph's names
	memorySymbol            // a value of the memory
	askSymbol               // missing(f) and its like
)

// symbol is one name that operands can read, with its slot in an evaluation.
type symbol struct {
	slot int
	kind symbolKind
	name string // as users write it
	key  string // under which expressions find it
	typ  *schema.Schema
	pos  Pos

	fact   *Fact        // factSymbol, askSymbol
	ask    string       // askSymbol: what is asked
	let    *let         // letSymbol
	value  any          // constSymbol; memorySymbol: the default
	memory *memoryValue // memorySymbol
	info   *nameInfo    // nameSymbol

	used atomic.Bool
}

// memoryValue is a declared value of the memory.
type memoryValue struct {
	schema *schema.Schema
	per    string
	set    atomic.Bool // some effect changes it
}

// let is an expression with a name.
type let struct {
	decl  letDecl
	scope *scope // in which its names are looked up
	root  *cond
	state letState
}

type letState uint8

const (
	letNew letState = iota
	letOpen
	letDone
)

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

// nameKey is the key of a name that a policy may declare too, in another file of its own.
func nameKey(name string) string { return name + "()" }

// askSymbol gives the symbol of missing(fact) or its like, made at its first use.
func (c *compiler) askSymbol(ask string, fact *symbol) *symbol {
	fact.used.Store(true)
	key := ask + "(" + fact.key + ")"
	if !c.engine.knows(key) {
		answer, _ := askType(ask)
		c.engine.declare(key, natureOfGo(answer))
	}
	return c.table.add(&symbol{kind: askSymbol, name: ask + "(" + fact.name + ")", key: key, ask: ask, fact: fact.fact})
}
