package rules

// Limits on a policy's memory: it is for the loop's state, not for its work.
const (
	maxMemoryValues = 64      // of a policy with all it includes
	maxMemoryValue  = 4 << 10 // bytes of a value as JSON
)

// declareMemory declares a value of the memory. It declares an invalid one, too, so that what reads it does not cause
// further findings.
func (c *compiler) declareMemory(sc *scope, d memoryDecl) {
	words := d.schema.Decode()
	if fields, ok := words.(map[string]any); ok {
		delete(fields, "per")
	}
	s := c.declaredSchema(sc, d.key, d.schema, words, "memory", "{type: integer, default: 0}")
	if s == nil {
		return
	}
	sym := c.add(sc, d.key, &symbol{kind: memorySymbol, typ: s, memory: &memoryValue{schema: s, per: d.per}})
	first := d.schema.Get("default")
	if first == nil {
		c.errorf(sc, d.key, "default", "add default:, its value before a rule changes it", "the memory %q has no default", d.name)
	} else {
		sym.value = c.defaultOf(sc, s, first, "default", "the default of the memory "+quote(d.name))
	}
	c.declareValue(sym)
	if c.program.Memory == nil {
		c.program.Memory = map[string]struct {
			Per     string
			Default any
		}{}
	}
	all := c.program.Memory
	info := all[sym.name]
	info.Per, info.Default = d.per, sym.value
	all[sym.name] = info
	if len(all) == maxMemoryValues+1 {
		c.errorf(sc, d.key, "too-big", "group related values in one object", "a policy can declare at most %d values of memory", maxMemoryValues)
	}
}
