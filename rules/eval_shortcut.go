package rules

func (c *comparison) evaluate(ev *evaluation) (any, bool) {
	left, ok := c.left.value(ev)
	if !ok || c.op == "" {
		return left, ok
	}
	right, ok := c.right.value(ev)
	if !ok {
		return nil, false
	}
	switch l := left.(type) {
	case int:
		if r, ok := right.(int); ok {
			return compare(c.op, l, r), true
		}
	case string:
		if r, ok := right.(string); ok {
			ev.meter.read(min(len(l), len(r)))
			return compare(c.op, l, r), true
		}
	case bool:
		if r, ok := right.(bool); ok && (c.op == "==" || c.op == "!=") {
			return (l == r) == (c.op == "=="), true
		}
	}
	return nil, false
}

// value returns the value of a term; ok is false if a step of its path does not exist.
func (t *term) value(ev *evaluation) (any, bool) {
	if t.sym == nil {
		return t.literal, true
	}
	v := ev.slots[t.sym.slot].value
	for _, step := range t.path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		v = m[step]
	}
	return v, true
}

func compare[T int | string](op string, a, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}
