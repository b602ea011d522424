package rules

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/next/schema"

	"github.com/expr-lang/expr/types"
)

// show returns a value as texts show it: nothing for nil, a line for each element of a list, JSON for an object.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339)
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Slice, reflect.Array:
		lines := make([]string, r.Len())
		for i := range lines {
			lines[i] = show(r.Index(i).Interface())
		}
		return strings.Join(lines, "\n")
	case reflect.Map, reflect.Struct, reflect.Pointer:
		if b, err := json.Marshal(v); err == nil {
			return string(b)
		}
	}
	return fmt.Sprint(v)
}

// kindOf names the kind of a value for people.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case time.Time, time.Duration:
		return typeWord(fmt.Sprintf("%T", v))
	}
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer {
		return "an object"
	}
	return typeWord(t.Kind().String() + map[reflect.Kind]string{reflect.Slice: "[]"}[t.Kind()])
}

// wholeNumber returns a number that expressions take for an int.
func wholeNumber(v any) (int, bool) {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return 0, false
	case r.CanInt():
		return int(r.Int()), true
	case r.CanUint():
		return int(r.Uint()), r.Uint() < 1<<53
	case r.CanFloat():
		return int(r.Float()), r.Float() == math.Trunc(r.Float()) && math.Abs(r.Float()) < 1<<53
	}
	return 0, false
}

// fits reports whether a value of the program has the type that the schema declares.
func fits(v any, t *schema.Type) bool {
	if v == nil || t.Go != nil {
		return true
	}
	k := reflect.TypeOf(v).Kind()
	switch t.Kind {
	case "string":
		return k == reflect.String
	case "boolean":
		return k == reflect.Bool
	case "integer":
		_, ok := wholeNumber(v)
		return ok
	case "number":
		return k >= reflect.Int && k <= reflect.Float64
	case "array":
		return k == reflect.Slice || k == reflect.Array
	case "object":
		return k == reflect.Map || k == reflect.Struct || k == reflect.Pointer
	}
	return true
}

// fieldAt returns the value at a path. Null is absent.
func fieldAt(v any, steps []string) (any, bool) {
	for _, s := range steps {
		if m, ok := v.(map[string]any); ok {
			v = m[s]
		} else if v, ok = goField(v, s); !ok {
			return nil, false
		}
		if v == nil {
			return nil, false
		}
	}
	return v, true
}

// goField returns a field of a Go value other than map[string]any. What has no fields is returned itself: the operand that reads the
// field fails on it.
func goField(v any, name string) (any, bool) {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface {
		if r.IsNil() {
			return nil, false
		}
		r = r.Elem()
	}
	switch r.Kind() {
	case reflect.Map:
		if x := r.MapIndex(reflect.ValueOf(name).Convert(r.Type().Key())); x.IsValid() {
			return x.Interface(), true
		}
		return nil, false
	case reflect.Struct:
		if f, ok := structField(r.Type(), name); ok {
			x, err := r.FieldByIndexErr(f.Index)
			if err != nil || (x.Kind() == reflect.Pointer || x.Kind() == reflect.Interface) && x.IsNil() {
				return nil, false
			}
			return x.Interface(), true
		}
	}
	return v, true
}

// structField finds a field by the name that expressions use: the tag expr, else that of json, else the Go name.
func structField(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && fieldName(f) == name {
			return f, true
		}
	}
	return t.FieldByName(name)
}

func fieldName(f reflect.StructField) string {
	if tag := f.Tag.Get("expr"); tag != "" {
		return tag
	}
	if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" && tag != "-" {
		return tag
	}
	return f.Name
}

// goFields returns the names of the fields of a Go type, in their order.
func goFields(t types.Type) (names []string) {
	r := t.Nature().Type
	for r != nil && r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	if r == nil || r.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(r) {
		if f.IsExported() && !f.Anonymous {
			names = append(names, fieldName(f))
		}
	}
	return names
}

func isJSON(v any) bool {
	switch v.(type) {
	case []byte, json.RawMessage:
		return true
	}
	return false
}

// isForeign reports whether a type that was not declared has parts that expressions cannot read as they are: structs, and types of the
// program's own for texts and numbers.
func isForeign(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return t != reflect.TypeFor[time.Time]()
	case reflect.Pointer:
		return true
	case reflect.Slice, reflect.Array, reflect.Map:
		return isForeign(t.Elem())
	case reflect.Interface, reflect.Func:
		return false
	}
	return t.PkgPath() != "" && t != reflect.TypeFor[time.Duration]()
}
