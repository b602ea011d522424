package policytest

import (
	"cmp"
	"context"
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

// literal converts a test's value for a fact to the one that its source would gather. A field that the source does not
// have, or of another type, is an error.
func literal(decl *rules.Fact, v any) (rules.Value, error) {
	kind, t := decl.Source, decl.Source.Value.Type
	if kind.Value.Around != nil {
		t = kind.Value.Around(&schema.Schema{Open: true})
	}
	var out rules.Value
	var err error
	fields, isMap := v.(map[string]any)
	switch {
	case kind.File && kind.Editable:
		if !isMap {
			return out, errors.New("its value must be a map of fields")
		}
		t = nil // files may have unusable fields
	case kind.Value.Around == nil && decl.Schema != nil:
		t = nil
	case kind.File && t != nil && t.Kind == schema.String:
		if _, isList := v.([]any); isMap || isList {
			return out, errors.New("its value must be a string")
		}
		v = strings.TrimSpace(fmt.Sprint(v))
	case kind.Argument == "pattern":
		v, err = each(v, "its value must be a list of files, each a map with path, age and value", file)
	case kind.File && t != nil && t.Kind == schema.Array:
		v, err = each(v, "its value must be a list of items, each a string or a map with text, done, tags, depth and section; write Markdown under files", item)
	case kind.Value.Derive != nil && isMap:
		fields = maps.Clone(fields)
		kind.Value.Derive(fields)
		if kind.Value.Around != nil {
			complete(fields, map[string]any{"json": nil})
		}
		v = fields
	}
	if err = errors.Join(err, undeclared(t, v)); err != nil {
		return out, err
	}
	var found []schema.Violation
	if kind.Value.Around != nil && decl.Schema != nil {
		v, out.Problem, found = documents(decl.Schema, v)
	}
	out.V, out.Version = v, "given"
	if kind.File && kind.Editable {
		return document(decl, out, fields), nil
	}
	out = rules.ValueOf(decl, out).Whole(context.Background())
	for _, u := range out.Unusable {
		if t != nil && !strings.HasPrefix(u.Pointer, "/json") { // its own schema checks it
			return out, errors.New(u.String())
		}
	}
	if len(found) > 0 {
		out.Unusable = found
	}
	return out, nil
}

// document reads the fields of a file with the schema of its fact, in which a string may spell a number.
func document(decl *rules.Fact, out rules.Value, fields map[string]any) rules.Value {
	fields = maps.Clone(fields)
	body := cmp.Or(fields["body"], any(""))
	if decl.Source.Value.Body {
		delete(fields, "body")
	}
	r := cmp.Or(decl.Schema, &schema.Schema{}).Check(schema.Document{Value: fields})
	read, ok := r.Value.(map[string]any)
	if out.V, out.Unusable, out.Warnings = r.Value, r.Unusable, r.Warnings; !ok {
		return rules.Value{Status: rules.Invalid, Problem: r.Unusable[0].Message}
	}
	if decl.Source.Value.Body {
		read["body"] = body
	}
	return out
}

// documents reads the documents in a value with the schema of its fact: the output of a program, and the files of a
// glob. It omits a file that does not fit the schema.
func documents(s *schema.Schema, v any) (read any, problem string, unusable []schema.Violation) {
	if fields, ok := v.(map[string]any); ok { // derived, so it is a copy
		r := s.Check(schema.Document{Value: fields["json"]})
		fields["json"] = r.Value
		for _, u := range r.Unusable {
			u.Pointer = "/json" + u.Pointer
			unusable = append(unusable, u)
		}
		return fields, "", unusable
	}
	list, _ := v.([]any)
	kept, bad := []any{}, []string{}
	for _, e := range list {
		file := e.(map[string]any)
		r := s.Check(schema.Document{Value: file["value"]})
		if file["value"] = r.Value; r.Unfit() != nil {
			bad = append(bad, fmt.Sprintf("%s: %s", file["path"], r.Unfit()))
			continue
		}
		kept = append(kept, file)
	}
	return kept, strings.Join(bad, "\n"), nil
}

// undeclared returns an error for a field that a type lacks.
func undeclared(t *schema.Schema, v any) error {
	switch v := v.(type) {
	case map[string]any:
		if t == nil || t.Fields == nil || t.Extra != nil {
			return nil
		}
		known := slices.Sorted(maps.Keys(t.Fields))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if t.Fields[name] == nil {
				help := strings.TrimSuffix(", "+nearest.DidYouMean(name, known), ", ")
				return fmt.Errorf("unknown field %q; expected one of %s%s", name, strings.Join(known, ", "), help)
			}
			if err := undeclared(t.Fields[name], v[name]); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if t != nil {
				if err := undeclared(t.Elem, e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// each completes the elements of a list with fields that follow from others.
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

// complete adds missing fields.
func complete(fields, defaults map[string]any) {
	given := maps.Clone(fields)
	maps.Copy(fields, defaults)
	maps.Copy(fields, given)
}

// item completes an item of a checklist.
func item(i int, fields map[string]any) error {
	mark := " "
	if fields["done"] == true {
		mark = "x"
	}
	complete(fields, map[string]any{"line": i + 1, "source": fmt.Sprintf("- [%s] %v", mark, fields["text"])})
	return nil
}

// file completes a file of a glob.
func file(i int, fields map[string]any) error {
	complete(fields, map[string]any{"path": fmt.Sprintf("file%d.json", i+1), "age": "0s", "value": map[string]any{}})
	base := path.Base(fmt.Sprint(fields["path"]))
	complete(fields, map[string]any{"name": strings.TrimSuffix(base, path.Ext(base))})
	age, err := time.ParseDuration(fmt.Sprint(fields["age"]))
	if err != nil {
		return fmt.Errorf("the age %q of file %d is no duration such as 5m", fields["age"], i+1)
	}
	fields["age"] = age
	return nil
}
