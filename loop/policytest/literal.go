package policytest

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// version stands for that of a file that a literal takes the place of.
const version = "given"

// literal turns what a test writes for a fact into what its source would have
// given. What the test leaves out is as in an empty document.
func literal(decl *rules.Fact, v any) (rules.Value, error) {
	out := rules.Value{Version: version}
	kind := decl.Source
	switch {
	case kind.Glob:
		return glob(decl, v)
	case kind.File && kind.Editable:
		fields, ok := v.(map[string]any)
		if !ok {
			return out, errors.New("its value is a map of fields")
		}
		return document(decl, fields)
	case kind.File && kind.Value != nil && kind.Value.Kind == schema.String:
		s, err := scalar(v)
		out.V = strings.TrimSpace(s)
		return out, err
	case kind.File && kind.Value != nil && kind.Value.Kind == schema.Array:
		return checklist(kind.Value, v)
	case kind.Around != nil:
		return around(decl, v)
	}
	if decl.Schema != nil {
		r := decl.Schema.Check(schema.Document{Value: v})
		out.V, out.Unusable, out.Warnings = r.Value, r.Unusable, r.Warnings
		return out, nil
	}
	full, err := filled(kind.Value, derived(kind, v))
	out.V = full
	return out, err
}

// derived fills in the fields that follow from those that a test gives.
func derived(kind rules.SourceKind, v any) any {
	fields, ok := v.(map[string]any)
	if !ok || kind.Derive == nil {
		return v
	}
	fields = maps.Clone(fields)
	kind.Derive(fields)
	return fields
}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int, float64:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("its value is a text")
}

// document is an object that goes through the schema of its fact.
func document(decl *rules.Fact, fields map[string]any) (rules.Value, error) {
	out := rules.Value{Version: version}
	body := ""
	if decl.Source.Body {
		fields = maps.Clone(fields)
		body, _ = fields["body"].(string)
		delete(fields, "body")
	}
	r, err := checked(decl.Schema, fields)
	if err != nil {
		return out, err
	}
	out.Unusable, out.Warnings = r.Unusable, r.Warnings
	all, ok := r.Value.(map[string]any)
	if !ok {
		out.Status, out.Problem = rules.Invalid, "it does not fit its schema"
		return out, nil
	}
	if decl.Source.Body {
		all["body"] = body
	}
	out.V = all
	return out, nil
}

// checked reads a value by a schema; one that has none only has its numbers
// brought into order.
func checked(s *schema.Schema, v any) (schema.Result, error) {
	if s == nil {
		open, err := schema.FromValue("open", true)
		if err != nil {
			return schema.Result{}, err
		}
		s = open
	}
	return s.Check(schema.Document{Value: v}), nil
}

// checklist takes items as maps, or as texts for items that are open.
func checklist(t *schema.Type, v any) (rules.Value, error) {
	out := rules.Value{Version: version}
	items, ok := v.([]any)
	if !ok {
		return out, errors.New("its value is a list of items, each a text or a map with text, done, tags, depth and section; give Markdown under files")
	}
	list := make([]any, len(items))
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if s, isText := item.(string); isText {
			fields, ok = map[string]any{"text": s}, true
		}
		if !ok {
			return out, fmt.Errorf("item %d is neither a text nor a map", i+1)
		}
		full := map[string]any{"text": "", "done": false, "tags": []any{}, "depth": 0, "section": "", "line": i + 1}
		for name, v := range fields {
			if _, known := full[name]; !known && name != "source" {
				return out, unknownField(name, append(slices.Collect(maps.Keys(full)), "source"))
			}
			full[name] = v
		}
		if _, given := full["source"]; !given {
			mark := " "
			if full["done"] == true {
				mark = "x"
			}
			full["source"] = fmt.Sprintf("- [%s] %v", mark, full["text"])
		}
		list[i] = full
	}
	whole, err := filled(t, list)
	out.V = whole
	return out, err
}

// glob takes a list of maps with path, age and value, of which value goes through
// the schema. One that does not fit is left out, as in the real thing.
func glob(decl *rules.Fact, v any) (rules.Value, error) {
	out := rules.Value{}
	files, ok := v.([]any)
	if !ok {
		return out, errors.New("its value is a list of files, each a map with path, age and value")
	}
	list, bad := []any{}, []string{}
	for i, f := range files {
		fields, ok := f.(map[string]any)
		if !ok {
			return out, fmt.Errorf("file %d is no map with path, age and value", i+1)
		}
		full := map[string]any{"path": "file" + strconv.Itoa(i+1) + ".json", "name": "", "age": time.Duration(0), "value": map[string]any{}}
		for name, v := range fields {
			if _, known := full[name]; !known {
				return out, unknownField(name, slices.Collect(maps.Keys(full)))
			}
			full[name] = v
		}
		if text, ok := full["age"].(string); ok {
			age, err := time.ParseDuration(text)
			if err != nil {
				return out, fmt.Errorf("the age %q of file %d is no time such as 5m", text, i+1)
			}
			full["age"] = age
		}
		base := path.Base(fmt.Sprint(full["path"]))
		if full["name"] == "" {
			full["name"] = strings.TrimSuffix(base, path.Ext(base))
		}
		if _, isText := full["value"].(string); !isText {
			r, err := checked(decl.Schema, full["value"])
			if err != nil {
				return out, err
			}
			if len(r.Unusable) > 0 {
				bad = append(bad, fmt.Sprintf("%s: %s", full["path"], r.Unusable[0]))
				continue
			}
			full["value"] = r.Value
		}
		list = append(list, full)
	}
	out.V, out.Problem = list, strings.Join(bad, "\n")
	return out, nil
}

// around is a value that holds the document of which the fact has the schema in one
// of its fields, as what a program printed does.
func around(decl *rules.Fact, v any) (rules.Value, error) {
	out := rules.Value{}
	document := &schema.Type{}
	t := decl.Source.Around(document)
	if _, ok := v.(map[string]any); !ok {
		return out, errors.New("its value is a map with " + names(t))
	}
	full, err := filled(t, derived(decl.Source, v))
	if err != nil {
		return out, err
	}
	fields, _ := full.(map[string]any)
	for name, of := range t.Fields {
		if of != document || decl.Schema == nil {
			continue
		}
		r := decl.Schema.Check(schema.Document{Value: fields[name]})
		fields[name] = r.Value
		for _, u := range r.Unusable {
			u.Pointer = "/" + name + u.Pointer
			out.Unusable = append(out.Unusable, u)
		}
	}
	out.V = fields
	return out, nil
}

// filled completes a value by its type with zero values, and refuses fields that
// the type does not have.
func filled(t *schema.Type, v any) (any, error) {
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
			return nil, errors.New("its value is a list")
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
func fits(t *schema.Type, v any) bool {
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

func names(t *schema.Type) string {
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
