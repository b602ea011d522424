package policytest

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// version stands for that of a file that a literal takes the place of.
const version = "given"

// literal turns what a test writes for a fact into the value that its source would have
// gathered. What the test leaves out is as in an empty document.
func literal(decl *rules.Fact, v any) (rules.Value, error) {
	kind, document := decl.Source, &schema.Schema{}
	t := kind.Value
	if kind.Around != nil {
		t = kind.Around(document)
	}
	var err error
	switch {
	case kind.File && kind.Editable:
		return ofDocument(decl, v)
	case kind.Around == nil && decl.Schema != nil:
		return judged(decl, v), nil
	case t != nil && t.Kind == schema.String && kind.File:
		switch v.(type) {
		case string, bool, int, float64:
			return rules.Value{Version: version, V: strings.TrimSpace(fmt.Sprint(v))}, nil
		}
		return rules.Value{}, errors.New("its value is a string")
	case kind.Glob:
		v, err = each(v, "its value is a list of files, each a map with path, age and value", file)
	case t != nil && t.Kind == schema.Array && kind.File:
		v, err = each(v, "its value is a list of items, each a string or a map with text, done, tags, depth and section; give Markdown under files", item)
	case kind.Derive != nil:
		if fields, ok := v.(map[string]any); ok {
			fields = maps.Clone(fields)
			kind.Derive(fields)
			v = fields
		}
	}
	if err != nil {
		return rules.Value{}, err
	}
	full, err := filled(t, v)
	out := rules.Value{Version: version, V: full}
	if err == nil && kind.Around != nil && decl.Schema != nil {
		around(decl, t, document, &out)
	}
	return out, err
}

// judged is a value as the schema of its fact reads it.
func judged(decl *rules.Fact, v any) rules.Value {
	r := decl.Schema.Check(schema.Document{Value: v})
	return rules.Value{Version: version, V: r.Value, Unusable: r.Unusable, Warnings: r.Warnings}
}

// ofDocument is an object that goes through the schema of its fact, if there is one.
func ofDocument(decl *rules.Fact, v any) (rules.Value, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return rules.Value{}, errors.New("its value is a map of fields")
	}
	body, _ := fields["body"].(string)
	if decl.Source.Body {
		fields = maps.Clone(fields)
		delete(fields, "body")
	}
	out := rules.Value{Version: version, V: new(schema.Schema).Check(schema.Document{Value: fields}).Value}
	if decl.Schema != nil {
		out = judged(decl, fields)
	}
	all, ok := out.V.(map[string]any)
	if !ok {
		return rules.Value{Version: version, Unusable: out.Unusable, Warnings: out.Warnings, Status: rules.Invalid, Problem: "it does not fit its schema"}, nil
	}
	if decl.Source.Body {
		all["body"] = body
	}
	return out, nil
}

// around checks the documents that a value holds in a field, as what a program printed
// and the files of a glob do. A file that does not fit the schema is left out.
func around(decl *rules.Fact, t, document *schema.Schema, out *rules.Value) {
	list, isList := out.V.([]any)
	if !isList {
		list = []any{out.V}
	} else {
		t = t.Elem
	}
	kept, bad := []any{}, []string{}
	for _, element := range list {
		fields, _ := element.(map[string]any)
		for name, of := range t.Fields {
			if of != document {
				continue
			}
			r := judged(decl, fields[name])
			fields[name] = r.V
			if isList && len(r.Unusable) > 0 {
				bad = append(bad, fmt.Sprintf("%s: %s", fields["path"], r.Unusable[0]))
				continue
			}
			for _, u := range r.Unusable {
				u.Pointer = "/" + name + u.Pointer
				out.Unusable = append(out.Unusable, u)
			}
			kept = append(kept, fields)
		}
	}
	if isList {
		out.V, out.Problem = kept, strings.Join(bad, "\n")
	}
}

// each completes the elements of a list by what follows from their other fields.
func each(v any, form string, complete func(i int, fields map[string]any) error) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New(form)
	}
	out := make([]any, len(list))
	for i, element := range list {
		fields, ok := element.(map[string]any)
		if text, isText := element.(string); isText {
			fields, ok = map[string]any{"text": text}, true
		}
		if !ok {
			return nil, fmt.Errorf("element %d: %s", i+1, form)
		}
		fields = maps.Clone(fields)
		if err := complete(i, fields); err != nil {
			return nil, err
		}
		out[i] = fields
	}
	return out, nil
}

func setDefault(fields map[string]any, name string, v any) {
	if _, given := fields[name]; !given {
		fields[name] = v
	}
}

// item completes an item of a checklist.
func item(i int, fields map[string]any) error {
	mark := " "
	if fields["done"] == true {
		mark = "x"
	}
	setDefault(fields, "line", i+1)
	setDefault(fields, "source", fmt.Sprintf("- [%s] %v", mark, fields["text"]))
	return nil
}

// file completes a file of a glob.
func file(i int, fields map[string]any) error {
	setDefault(fields, "path", fmt.Sprintf("file%d.json", i+1))
	setDefault(fields, "age", "0s")
	setDefault(fields, "value", map[string]any{})
	base := path.Base(fmt.Sprint(fields["path"]))
	setDefault(fields, "name", strings.TrimSuffix(base, path.Ext(base)))
	age, err := time.ParseDuration(fmt.Sprint(fields["age"]))
	if err != nil {
		return fmt.Errorf("the age %q of file %d is no time such as 5m", fields["age"], i+1)
	}
	fields["age"] = age
	return nil
}

// filled completes a value by its type with zero values, and refuses fields that
// the type does not have.
func filled(t *schema.Schema, v any) (any, error) {
	if t == nil {
		return v, nil
	}
	switch t.Kind {
	case schema.Object:
		fields, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, errors.New("its value is a map with " + names(t))
		}
		out := map[string]any{}
		for name, v := range fields {
			f := t.Fields[name]
			if f == nil && t.Extra == nil {
				return nil, unknownField(name, slices.Collect(maps.Keys(t.Fields)))
			}
			if f != nil && !fits(f, v) {
				return nil, fmt.Errorf("the field %q is of the type %s, and this is %#v", name, f.Kind, v)
			}
			full, err := filled(f, v)
			if err != nil {
				return nil, err
			}
			out[name] = full
		}
		for name, f := range t.Fields {
			if _, given := out[name]; !given {
				out[name] = f.Zero()
			}
		}
		return out, nil
	case schema.Array:
		list, ok := v.([]any)
		if !ok {
			return nil, errors.New("its value is an array")
		}
		out := make([]any, len(list))
		for i, e := range list {
			full, err := filled(t.Elem, e)
			if err != nil {
				return nil, err
			}
			out[i] = full
		}
		return out, nil
	}
	return v, nil
}

// fits reports whether a value can be that of a type. Lists and objects are looked into.
func fits(t *schema.Schema, v any) bool {
	ok := true
	switch t.Kind {
	case schema.String:
		_, ok = v.(string)
	case schema.Bool:
		_, ok = v.(bool)
	case schema.Int:
		_, ok = v.(int)
	}
	return ok || v == nil
}

func names(t *schema.Schema) string {
	return strings.Join(slices.Sorted(maps.Keys(t.Fields)), ", ")
}

func unknownField(name string, known []string) error {
	slices.Sort(known)
	help := nearest.DidYouMean(name, known)
	if help != "" {
		help = ", " + help
	}
	return fmt.Errorf("unknown field %q, expected one of %s%s", name, strings.Join(known, ", "), help)
}
