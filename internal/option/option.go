// Package option has the rules by which the options of several libraries compose: what a caller has one of is given once,
// a bound only narrows, what has a name is given once under it, and nil is refused.
package option

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Given returns an error if an option got nil, "" or no map, which says what to do instead.
func Given[T any](option string, v T, instead string) error {
	if empty(&v) {
		return fmt.Errorf("%s has no value: %s", option, instead)
	}
	return nil
}

// Fill puts the value of an option into a slot, which takes one value. A second one is an error, and so is none, see
// [Given].
func Fill[T any](option string, slot *T, v T, instead string) error {
	if err := Given(option, v, instead); err != nil {
		return err
	}
	if !empty(slot) {
		return fmt.Errorf("%s is given twice: give it once, since it has one value", option)
	}
	*slot = v
	return nil
}

// Add puts an element into a map. A second one of the same name is an error.
func Add[V any](option, name string, to *map[string]V, v V) error {
	if _, twice := (*to)[name]; twice {
		return fmt.Errorf("%s has %q twice: give it once, or give one of the two another name", option, name)
	}
	if *to == nil {
		*to = map[string]V{}
	}
	(*to)[name] = v
	return nil
}

// AddAll puts the entries of a map into another one, see [Add]. nil is an error.
func AddAll[V any](option string, to *map[string]V, values map[string]V) error {
	err := Given(option, values, "leave it out, or give a map, which may be empty")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		err = cmp.Or(err, Add(option, name, to, values[name]))
	}
	return err
}

// Least returns the smaller of two bounds. Zero is no bound.
func Least[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b == none {
		return max(a, b)
	}
	return min(a, b)
}

// empty reports whether v is zero, which is nil or "" for what options take.
func empty[T any](v *T) bool { return reflect.ValueOf(v).Elem().IsZero() }
