package policytest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// The checks of this package's diagnostics, in addition to those of the YAML reader.
const (
	checkSyntax  = "test-syntax"  // a value of the wrong type
	checkKey     = "unknown-key"  // an unknown key
	checkValue   = "bad-value"    // an invalid value
	checkNothing = "test-nothing" // no tests, or a test without expectations
	checkName    = "test-name"    // a missing or duplicate name
	checkUnknown = "unknown-name" // a fact or rule that the policy lacks
)

// reader turns YAML nodes into a file.
type reader struct {
	name  string
	src   []byte
	diags rules.Diagnostics
}

func (r *reader) pos(at yamltree.Pos) rules.Pos {
	return rules.Pos{File: r.name, Line: at.Line, Col: at.Col}
}

func (r *reader) errorf(n *yamltree.Node, check, help, format string, args ...any) {
	r.diags = append(r.diags, rules.Diagnostic{
		Pos: r.pos(n.Start), End: r.pos(n.End()), Check: check,
		Message: fmt.Sprintf(format, args...), Help: help, Line: yamltree.Line(r.src, n.Start.Line),
	})
}

func quoted(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for i, n := range names {
		names[i] = strconv.Quote(n)
	}
	return strings.Join(names, ", ")
}

func isNull(n *yamltree.Node) bool { return n.Kind == yamltree.Scalar && n.Tag == "!!null" }

// validate reports violations of the schema.
func (r *reader) validate(root *yamltree.Node) {
	helps := map[string]string{ // at a key, or for a keyword without help in the schema
		"tests":         "write a list of tests, each with name, given and expect",
		"name":          "describe in a few words what the policy does here",
		"expect":        "add for example expect: {rule: NAME}",
		"maxProperties": "begin each message with a dash, so that their order is clear",
	}
	text := func(pointer string) (string, bool) {
		_, n := find(root, schema.SplitPointer(pointer))
		return n.Value, n.Kind == yamltree.Scalar && !isNull(n)
	}
	result := compiled().Check(schema.Document{Value: root.Decode(), Text: text})
	found := append(result.Unusable, result.Warnings...)
	seen := map[string]bool{}
	misspelt := map[*yamltree.Node]bool{} // maps with an unknown key, which may be the missing one
	for _, v := range found {
		if path := schema.SplitPointer(v.Pointer); v.Keyword == "additionalProperties" {
			_, in := find(root, path[:len(path)-1])
			misspelt[in] = true
		}
	}
	for _, v := range found {
		if v.Keyword == schema.Misspelt {
			continue // the unknown key is reported
		}
		path := schema.SplitPointer(v.Pointer)
		key, value := find(root, path)
		if seen[v.Pointer+v.Message] || v.Keyword == "required" && misspelt[value] {
			continue // a missing field is also unusable
		}
		seen[v.Pointer+v.Message] = true
		if len(path) > 2 && path[0] == "tests" {
			path = path[2:]
		}
		what := cmp.Or(strings.Join(path, "."), "the file")
		check, at, help := checkValue, value, cmp.Or(v.Help, helps[v.Keyword], helps[what])
		switch v.Keyword {
		case "type":
			check = checkSyntax
		case "additionalProperties":
			if slices.Contains(keysOf("given"), what) {
				help = "write it under given"
			}
			check, at, what = checkKey, key, "the key "+strconv.Quote(what)
		case "required", "minItems", "minProperties":
			check = checkNothing
			if what == "name" {
				check = checkName
			}
		}
		r.errorf(at, check, help, "%s %s", what, v.Message)
	}
}

// find returns the node at a path, and its key in a map. Both are the last node that exists on the path.
func find(n *yamltree.Node, path []string) (key, value *yamltree.Node) {
	key, value = n, n
	for _, step := range path {
		i, err := strconv.Atoi(step)
		switch at := index(value, step); {
		case value.Kind == yamltree.List && err == nil && i < len(value.Items):
			key, value = value.Items[i], value.Items[i]
		case at >= 0:
			key, value = value.Fields[at].Key, value.Fields[at].Value
		default:
			return value, value
		}
	}
	return key, value
}

// decoder reads itself from a node.
type decoder interface {
	decode(r *reader, n *yamltree.Node)
}

// decode reads a valid node into v. Fields of structs have the tag key. A list also accepts a single item, except the
// empty string.
func (r *reader) decode(n *yamltree.Node, v reflect.Value) {
	if d, ok := v.Addr().Interface().(decoder); ok {
		d.decode(r, n)
		return
	}
	if isNull(n) {
		return
	}
	switch to := v.Addr().Interface().(type) {
	case *time.Duration:
		*to = span(n)
		return
	case *time.Time:
		*to = instant(n)
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		v.Set(reflect.ValueOf(n.Decode()))
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int:
		v.SetInt(int64(number(n)))
	case reflect.Float64:
		v.SetFloat(number(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.decode(n, v.Elem())
	case reflect.Slice:
		items := n.Items
		if n.Kind == yamltree.Scalar && strings.TrimSpace(n.Value) != "" {
			items = []*yamltree.Node{n}
		}
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, item := range items {
			r.decode(item, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		kind := v.Type().Elem().Kind()
		for _, f := range n.Fields {
			if isNull(f.Value) && kind != reflect.Interface && kind != reflect.Struct {
				continue // not a number or string
			}
			value := reflect.New(v.Type().Elem()).Elem()
			r.decode(f.Value, value)
			v.SetMapIndex(reflect.ValueOf(f.Key.Value), value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if key := v.Type().Field(i).Tag.Get("key"); key != "" && n.Get(key) != nil {
				r.decode(n.Get(key), v.Field(i))
			}
		}
	}
}

// named reads the value of a name that every policy has; any other accepts any value.
func (r *reader) named(name string, n *yamltree.Node) any {
	e, _ := vocab.Find(name)
	switch e.Zero.(type) {
	case nil, vocab.Items:
		return n.Decode()
	case vocab.Enum:
		return n.Value
	}
	if isNull(n) {
		return nil
	}
	v := reflect.New(reflect.TypeOf(e.Zero)).Elem()
	r.decode(n, v)
	return reflect.Indirect(v).Interface()
}

// A string may spell a boolean or a number, which the schema has checked.

func number(n *yamltree.Node) float64 {
	switch v := n.Decode().(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	f, _ := strconv.ParseFloat(n.Value, 64)
	return f
}

func span(n *yamltree.Node) time.Duration {
	d, _ := time.ParseDuration(n.Value)
	return d
}

func instant(n *yamltree.Node) time.Time {
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, n.Value); err == nil {
			return t
		}
	}
	return time.Time{}
}
