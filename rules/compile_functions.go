package rules

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// maxString bounds what expressions make of texts, in bytes. Doubling a text
// thirty times takes a line of source, and expr's memory budget does not see it.
const maxString = 1 << 20

// maxUniq bounds the lists whose elements are compared each with each.
const maxUniq = 10_000

var (
	errTooLong      = errors.New("the text gets longer than 1 MiB")
	errTooManySteps = errors.New("the expression takes too many steps")
)

// plus is the name under which expressions find the + that is bounded. No policy
// can spell it.
const plus = "+"

// functions are the pure functions that ralph adds to expr's own, and those of
// expr's that can make texts of any size.
func functions() []*builtin.Function {
	return []*builtin.Function{
		{
			Name:  "cut",
			Types: []reflect.Type{reflect.TypeFor[func(string, int) string](), reflect.TypeFor[func(any, int) string]()},
			Func: func(args ...any) (any, error) {
				n, ok := args[1].(int)
				if !ok {
					return nil, errors.New("cut takes a text and a number of characters")
				}
				switch s := args[0].(type) {
				case nil:
					return "", nil
				case string:
					return cut(s, n), nil
				}
				return nil, fmt.Errorf("cut takes a text, not %s", kindOf(args[0]))
			},
		},
		{
			Name: "bullets",
			Types: []reflect.Type{
				reflect.TypeFor[func([]any) string](), reflect.TypeFor[func([]any, int) string](),
				reflect.TypeFor[func(any) string](), reflect.TypeFor[func(any, int) string](),
			},
			Func: func(args ...any) (any, error) {
				n := 5
				if len(args) > 1 {
					var ok bool
					if n, ok = args[1].(int); !ok {
						return nil, errors.New("bullets takes a list and a number of items")
					}
				}
				items, err := elements(args[0])
				if err != nil {
					return nil, fmt.Errorf("bullets takes a list, not %s", kindOf(args[0]))
				}
				return bullets(items, n), nil
			},
		},
		{
			Name:  plus,
			Types: []reflect.Type{reflect.TypeFor[func(any, any) any]()},
			Func: counted(func(args ...any) (any, error) {
				a, ok1 := args[0].(string)
				b, ok2 := args[1].(string)
				switch {
				case !ok1 || !ok2:
					return runtime.Add(args[0], args[1]), nil
				case len(a)+len(b) > maxString:
					return nil, errTooLong
				}
				return a + b, nil
			}),
		},
		{
			Name:  "repeat",
			Types: []reflect.Type{reflect.TypeFor[func(string, int) string]()},
			Func: counted(func(args ...any) (any, error) {
				s, ok1 := args[0].(string)
				n, ok2 := args[1].(int)
				switch {
				case !ok1 || !ok2 || n < 0:
					return nil, errors.New("repeat takes a text and how often, 0 or more")
				case len(s) > 0 && n > maxString/len(s):
					return nil, errTooLong
				}
				return strings.Repeat(s, n), nil
			}),
		},
		{
			Name: "join",
			Types: []reflect.Type{
				reflect.TypeFor[func([]any, string) string](), reflect.TypeFor[func([]any) string](),
				reflect.TypeFor[func([]string, string) string](), reflect.TypeFor[func([]string) string](),
				reflect.TypeFor[func(any, string) string](), reflect.TypeFor[func(any) string](),
			},
			Func: counted(func(args ...any) (any, error) {
				items, err := elements(args[0])
				if err != nil || args[0] == nil {
					return nil, fmt.Errorf("join takes a list of texts, not %s", kindOf(args[0]))
				}
				glue := ""
				if len(args) > 1 {
					glue, _ = args[1].(string)
				}
				return join(items, glue)
			}),
		},
		{
			Name:  "uniq",
			Types: []reflect.Type{reflect.TypeFor[func([]any) []any](), reflect.TypeFor[func(any) []any]()},
			Func: func(args ...any) (any, error) {
				items, err := elements(args[0])
				switch {
				case err != nil:
					return nil, fmt.Errorf("uniq takes a list, not %s", kindOf(args[0]))
				case len(items) > maxUniq:
					return nil, fmt.Errorf("uniq takes at most %d items, these are %d", maxUniq, len(items))
				}
				return uniq(items), nil
			},
		},
		{
			Name:  "replace",
			Types: []reflect.Type{reflect.TypeFor[func(string, string, string) string](), reflect.TypeFor[func(string, string, string, int) string]()},
			Func: counted(func(args ...any) (any, error) {
				s, ok1 := args[0].(string)
				from, ok2 := args[1].(string)
				to, ok3 := args[2].(string)
				n := -1
				if len(args) > 3 {
					var ok bool
					n, ok = args[3].(int)
					ok3 = ok3 && ok
				}
				if !ok1 || !ok2 || !ok3 {
					return nil, errors.New("replace takes a text, what to replace in it, and by what")
				}
				found := strings.Count(s, from)
				if n >= 0 {
					found = min(found, n)
				}
				if len(to) > len(from) && found > (maxString-len(s))/(len(to)-len(from)) {
					return nil, errTooLong
				}
				return strings.Replace(s, from, to, n), nil
			}),
		},
	}
}

// makesText reports whether a function can make long texts, so that it is counted.
func makesText(name string) bool {
	return name == plus || name == "repeat" || name == "join" || name == "replace"
}

// counted makes a function count the text it makes, if its last argument is what
// counts: within a loop it is called very often.
func counted(f func(...any) (any, error)) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		tick, ok := args[len(args)-1].(func(int) bool)
		if !ok {
			return f(args...)
		}
		v, err := f(args[:len(args)-1]...)
		if s, ok := v.(string); ok {
			tick(len(s) >> 10)
		}
		return v, err
	}
}

// uniq keeps the first of equal elements.
func uniq(items []any) []any {
	out := []any{}
	for _, item := range items {
		if !slices.ContainsFunc(out, func(o any) bool { return runtime.Equal(item, o) }) {
			out = append(out, item)
		}
	}
	return out
}

func join(items []any, glue string) (any, error) {
	size := 0
	texts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("join takes a list of texts, item %d is %s", i, kindOf(item))
		}
		texts[i] = s
		if size += len(s) + len(glue); size > maxString {
			return nil, errTooLong
		}
	}
	return strings.Join(texts, glue), nil
}

// bullets writes the first n items as lines of a list, then how many more there are.
func bullets(items []any, n int) string {
	n = max(0, n)
	var b []byte
	for i, item := range items {
		if i == n || len(b) > maxText {
			b = fmt.Appendf(b, "- … and %d more\n", len(items)-i)
			break
		}
		b = append(b, "- "...)
		b = append(b, strings.ReplaceAll(display(item), "\n", "\n  ")...)
		b = append(b, '\n')
	}
	return strings.TrimRight(string(b), "\n")
}
