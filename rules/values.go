package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"

	"github.com/ralph-sdk/ralph/schema"
)

// show returns a value as texts show it: nothing for nil, a line for each element of a list, JSON for an object.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339)
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

// aValue is the name of a type that is not known.
const aValue = "a value"

// typeName returns the name of a checked type for people.
func typeName(n ast.Node) string {
	if n.Nature().Nil {
		return "nil"
	}
	return typeWord(n.Nature().String())
}

// typeWords are the names of types by the beginning of their names in Go and in JSON Schema.
var typeWords = [][2]string{
	{"interface", aValue}, {"unknown", aValue}, {"time.Duration", "a duration"}, {"time.Time", "a time"}, {"string", "a text"}, {"rules.anyString", "a text"},
	{"int", "a number"}, {"uint", "a number"}, {"float", "a number"}, {"number", "a number"}, {"bool", "true or false"}, {"[]", "a list"}, {"array", "a list"},
	{"slice", "a list"}, {"map", "an object"}, {"object", "an object"}, {"struct", "an object"}, {"ptr", "an object"}, {"func", "a function"}, {"nil", "nothing"}, {"<nil>", "nothing"},
}

// typeWord returns the name of a type for people.
func typeWord(t string) string {
	for _, w := range typeWords {
		if strings.HasPrefix(t, w[0]) {
			return w[1]
		}
	}
	return t
}

// kindOf names the kind of a value for people.
func kindOf(v any) string {
	t := reflect.TypeOf(v)
	switch {
	case t == nil:
		return "nothing"
	case t.PkgPath() == "time":
		return typeWord(t.String())
	}
	return typeWord(t.Kind().String())
}

// wholeNumber returns a number that expressions take for an int.
func wholeNumber(v any) (int, bool) {
	r := reflect.ValueOf(v)
	switch {
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
	if v == nil || t == nil || t.Kind == "" {
		return true
	}
	switch v := v.(type) { // most values
	case string:
		return t.Kind == "string"
	case int:
		return t.Kind == "integer" || t.Kind == "number"
	case bool:
		return t.Kind == "boolean"
	case map[string]any:
		return t.Kind == "object"
	case float64:
		return t.Kind == "number" || t.Kind == "integer" && v == math.Trunc(v)
	}
	return kindOf(v) == typeWord(t.Kind)
}

// fieldAt returns the value at a path. Null is absent.
func fieldAt(v any, steps []string) (any, bool) {
	for _, s := range steps {
		if m, ok := v.(map[string]any); ok {
			v = m[s]
		} else {
			v = goField(v, s)
		}
		if v == nil {
			return nil, false
		}
	}
	return v, true
}

// goField returns a field of a Go value other than map[string]any, nil for one that is absent. What has no fields is returned itself: the
// operand that reads the field fails on it.
func goField(v any, name string) any {
	r := reflect.Indirect(reflect.ValueOf(v))
	switch r.Kind() {
	case reflect.Invalid: // of a nil pointer
		return nil
	case reflect.Map:
		if r.Type().Key() != reflect.TypeFor[string]() {
			return v
		}
		r = r.MapIndex(reflect.ValueOf(name))
	case reflect.Struct:
		f, ok := structField(r.Type(), name)
		if !ok {
			return v
		}
		r, _ = r.FieldByIndexErr(f.Index)
	default:
		return v
	}
	if !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil() {
		return nil
	}
	return r.Interface()
}

// structField finds a field by the name that expressions use: the tag expr, else that of json, else the Go name.
func structField(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && fieldOf(f) == name {
			return f, true
		}
	}
	return t.FieldByName(name)
}

func fieldOf(f reflect.StructField) string {
	json, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(f.Tag.Get("expr"), strings.Trim(json, "-"), f.Name)
}

// goFields returns the fields of a struct that Options.Values declares, with their types.
func goFields(t reflect.Type) map[string]*schema.Type {
	out := map[string]*schema.Type{}
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return out
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			out[fieldOf(f)] = &schema.Type{Go: types.TypeOf(reflect.Zero(f.Type).Interface())}
		}
	}
	return out
}

func isJSON(v any) bool {
	_, isBytes := v.([]byte)
	_, isMessage := v.(json.RawMessage)
	return isBytes || isMessage
}

// isForeign reports whether a type that was not declared has parts that expressions cannot read as they are: structs, and types of the
// program's own for texts and numbers.
func isForeign(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Struct:
		return t != reflect.TypeFor[time.Time]()
	case reflect.Slice, reflect.Array, reflect.Map:
		return isForeign(t.Elem())
	}
	return t.PkgPath() != "" && t.PkgPath() != "time"
}
