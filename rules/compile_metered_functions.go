package rules

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// Names by which expressions find ralph's replacements for expr's operators and builtins, which charge before they
// work. No policy can spell them.
const (
	operatorKey = "operator()" // operator()(meter, op, a, b)
	builtinKey  = "builtin()"  // builtin()(meter, index, args…)
	loopKey     = "loop()"     // loop()(meter, builtin, weight, list) returns the list
	chargeKey   = "charge()"   // charge()(meter, steps) charges for a literal within a loop
	keyKey      = "key()"      // key()(meter, value) returns a value that will be hashed or compared
	argumentKey = "argument()" // argument()(meter, value) returns an argument of a method
)

// meteredFunction returns a function that expressions call with the meter before its arguments.
func meteredFunction(name string, f func(m *meter, args []any) (any, error), types ...reflect.Type) *builtin.Function {
	return &builtin.Function{Name: name, Types: types, Func: func(args ...any) (any, error) { return f(args[0].(*meter), args[1:]) }}
}

// metered returns all of them, for expr.
func metered() []*builtin.Function {
	function := func(name string, f func(m *meter, args []any) (any, error)) *builtin.Function {
		return meteredFunction(name, f, reflect.TypeFor[func(...any) any]())
	}
	return []*builtin.Function{
		function(operatorKey, func(m *meter, args []any) (any, error) { return operate(m, args[0].(string), args[1], args[2]) }),
		function(builtinKey, func(m *meter, args []any) (any, error) {
			f := builtin.Builtins[args[0].(int)]
			m.builtin(f.Name, args[1:])
			switch {
			case f.Fast != nil:
				return f.Fast(args[1]), nil
			case f.Safe != nil:
				v, _, err := f.Safe(args[1:]...)
				return v, err
			}
			return f.Func(args[1:]...)
		}),
		function(loopKey, func(m *meter, args []any) (any, error) {
			n := length(args[2])
			if s, ok := args[2].(string); ok { // byte by byte
				n = len(s)
			}
			m.loop(args[0].(string), n, args[1].(int))
			return args[2], nil
		}),
		function(chargeKey, func(m *meter, args []any) (any, error) {
			m.charge(args[0].(int))
			return nil, nil
		}),
		function(keyKey, func(m *meter, args []any) (any, error) {
			m.charge(m.sizeOf(args[0]).steps())
			return args[0], nil
		}),
		function(argumentKey, func(m *meter, args []any) (any, error) {
			if s, ok := args[0].(string); ok { // the layout of a time
				m.text(mul(len(s), 4))
			}
			return args[0], nil
		}),
	}
}

// loop charges for a builtin that takes a predicate: n times the steps of the predicate, which expr's machine runs
// without charging, and what the builtin makes of each element.
func (m *meter) loop(name string, n, weight int) {
	switch name {
	case "map", "filter": // the results are on the machine's stack first
		weight += 3 * itemSteps
	case "groupBy":
		weight += visitSteps + 2*keySteps
	case "sortBy":
		weight += bits.Len(uint(n)) + 4*itemSteps
	}
	m.charge(mul(n, weight))
}

// builtin charges for a builtin without a predicate. Those that are not listed may visit and copy all of their
// arguments.
func (m *meter) builtin(name string, args []any) {
	n, text := 0, 0
	for _, a := range args {
		switch a := a.(type) {
		case string:
			text = add(text, len(a))
		default:
			n = add(n, length(a))
		}
	}
	of := func(i int) string {
		if i >= len(args) {
			return ""
		}
		s, _ := args[i].(string)
		return s
	}
	switch name {
	case "len", "indexOf", "hasPrefix", "hasSuffix", "first", "last", "type", "abs", "ceil", "floor", "round", "get":
		m.read(text)
	case "lastIndexOf": // not accelerated by the processor
		m.read(mul(text, 2))
	case "reverse", "take", "concat", "keys", "values", "toPairs":
		m.charge(1 + mul(n, visitSteps+keySteps))
	case "trim", "trimPrefix", "trimSuffix": // each character is looked up among those to trim
		m.read(mul(len(of(0)), 1+len(of(1))))
	case "split", "splitAfter":
		m.text(text)
		m.charge(mul(strings.Count(of(0), of(1)), itemSteps))
	case "fromJSON":
		objects := strings.Count(of(0), "{")
		items := add(objects, strings.Count(of(0), "[")+strings.Count(of(0), ","))
		m.charge(add(1+text/2, add(mul(items, 2+keySteps), mul(objects, objectSteps))))
	case "toJSON":
		m.write(args[0])
	case "string": // sorts objects with reflection
		m.print(args[0])
		entries := m.sizeOf(args[0]).entries
		m.charge(mul(2*entries, bits.Len(uint(entries))))
	case "timezone", "date": // asks the system for the zone, or tries layouts
		m.ask(mul(text, 8))
	default: // upper, flatten, sort, min, max, mean, median, sum, … and errors that quote a string
		m.text(mul(text, 2))
		for _, a := range args {
			s := m.sizeOf(a)
			m.charge(add(mul(s.steps(), max(s.depth, bits.Len(uint(s.elements)))), mul(s.elements, keySteps)))
		}
	}
}

// length returns the number of elements of a list or object, 0 for anything else.
func length(v any) int {
	switch v := v.(type) {
	case nil, bool, int, float64, string:
		return 0
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return rv.Len()
	}
	return 0
}

// operate charges for expr's operator and applies it.
func operate(m *meter, op string, a, b any) (any, error) {
	s, isText := a.(string)
	t, bothText := b.(string)
	bothText = bothText && isText
	switch op {
	case "+":
		if !bothText {
			m.charge(1)
			return runtime.Add(a, b), nil
		}
		if len(s)+len(t) > maxString {
			return nil, errTooLong
		}
		m.text(len(s) + len(t))
		return s + t, nil
	case "..":
		from, to := runtime.ToInt(a), runtime.ToInt(b)
		if n := to - from + 1; n > 0 || to > from { // the difference may wrap
			m.charge(mul(max(n, to), 1+itemSteps)) // each element is boxed when it is read
		}
		return runtime.MakeRange(from, to), nil
	case "==", "!=":
		m.compare(a, b)
		return runtime.Equal(a, b) == (op == "=="), nil
	case "in":
		m.compare(a, b)
		return runtime.In(a, b), nil
	case "matches":
		return matches(m, a, b)
	}
	m.read(len(s) + len(t))
	switch op {
	case "<":
		return runtime.Less(a, b), nil
	case "<=":
		return runtime.LessOrEqual(a, b), nil
	case ">":
		return runtime.More(a, b), nil
	case ">=":
		return runtime.MoreOrEqual(a, b), nil
	}
	if runtime.IsNil(a) || runtime.IsNil(b) {
		return false, nil
	}
	if !bothText {
		return nil, fmt.Errorf("%s compares strings, not %s with %s", op, kindOf(a), kindOf(b))
	}
	switch op {
	case "contains":
		return strings.Contains(s, t), nil
	case "startsWith":
		return strings.HasPrefix(s, t), nil
	}
	return strings.HasSuffix(s, t), nil
}

// compare charges for comparing two values, or one with the elements of another. Comparing lists and objects records
// what was visited, which takes memory.
func (m *meter) compare(a, b any) {
	switch a.(type) {
	case nil, bool, int, float64:
		if length(b) == 0 {
			m.charge(1)
			return
		}
	case string:
		if b, ok := b.(string); ok {
			m.read(len(b))
			return
		}
	}
	x, y := m.sizeOf(a), m.sizeOf(b)
	m.charge(add(add(x.steps(), y.steps()), mul(add(x.elements, y.elements), itemSteps)))
}

// uniq returns the first of equal elements. It looks up scalars in a map and compares everything else pairwise.
func uniq(m *meter, items []any) []any {
	m.charge(mul(len(items), 1+keySteps))
	out := []any{}
	seen := make(map[any]bool)
	var others []any
	for _, v := range items {
		key := v
		switch v := v.(type) {
		case nil, bool:
		case string:
			m.read(len(v))
		case int:
			if v > -1<<53 && v < 1<<53 {
				key = float64(v) // 1 and 1.0 are equal
			}
		case float64:
		default:
			m.compare(others, v)
			if !slices.ContainsFunc(others, func(o any) bool { return runtime.Equal(v, o) }) {
				others = append(others, v)
				out = append(out, v)
			}
			continue
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out
}
