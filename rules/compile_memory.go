package rules

import (
	"slices"

	"github.com/ralph-sdk/ralph/rules/internal/source"
	"github.com/ralph-sdk/ralph/schema"
)

// Bounds of a policy's memory: it is for what a loop must know, not for its work.
const (
	maxMemoryValues = 64      // of a policy with all it includes
	maxMemoryValue  = 4 << 10 // bytes of a value as JSON
)

// declareMemory declares a value of the memory. One that has a problem is declared all
// the same, so that what reads it is not reported too.
func (c *compiler) declareMemory(sc *scope, d memoryDecl) {
	words := d.schema.Decode()
	if fields, ok := words.(map[string]any); ok {
		delete(fields, "per")
	}
	s, err := schema.FromValue(sc.file.name, words)
	if err != nil {
		at, message, help := schemaProblem(d.schema, err)
		if d.schema.Kind != source.Map {
			help = "write for example {type: integer, default: 0}"
		}
		c.errorf(sc, at, "schema", help, "the memory %q needs a JSON Schema: %s", d.name, message)
		c.engine.declare(c.add(sc, d.key, &symbol{kind: constSymbol}).key, natureOf(nil))
		return
	}
	for _, u := range s.Unknown() {
		if c.lazy {
			break
		}
		c.warnf(sc, keyAt(d.schema, u.Pointer), "schema-keyword", u.Help, "%s in the schema of the memory %q", u.Message, d.name)
	}
	t := s.Type()
	sym := c.add(sc, d.key, &symbol{kind: memorySymbol, typ: t, memory: &memoryValue{schema: s, per: d.per}})
	first := d.schema.Get("default")
	if first == nil {
		c.errorf(sc, d.key, "default", "add default: what it is before anything was remembered", "the memory %q has no default", d.name)
	} else {
		r := s.Check(schema.Document{Value: first.Decode()})
		if bad := slices.Concat(r.Unusable, r.Warnings); len(bad) > 0 {
			c.errorf(sc, first, "default", "it takes "+t.String(), "the default does not fit the memory %q: %s", d.name, bad[0].Text())
		}
		sym.value = r.Value
	}
	if sym.value == nil {
		t = nil // whatever its type, it may be nil
	}
	c.engine.declare(sym.key, natureOf(certain(t)))
	all := c.program.Memory
	if all == nil {
		all = map[string]struct {
			Per     Per
			Default any
		}{}
		c.program.Memory = all
	}
	info := all[sym.name]
	info.Per, info.Default = d.per, sym.value
	all[sym.name] = info
	if len(all) == maxMemoryValues+1 {
		c.errorf(sc, d.key, "too-big", "keep what belongs together in one object", "a policy remembers at most %d values", maxMemoryValues)
	}
}
