package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/schema"
)

// A Set sets a value in a document.
type Set struct {
	// Path is the path of the value: strings are field names, ints are indexes from 0. Everything but the last field
	// must exist, or have a default in Type. In front matter it is the name of one field.
	Path []any

	// Value is any JSON value.
	Value any

	// Type is the type of the document, or nil. Missing or null values on the path are written as their defaults.
	Type *schema.Schema
}

// Edit returns src with the values of sets, made one after another. Only the bytes of those values change. A missing
// field becomes the last one of its object, in the style of the file; of duplicate keys the last changes, since it is
// the one that counts.
//
// Edit decodes the result to verify that it has the new values and is otherwise equal. If that fails, it returns an
// [*EditError]. It can only edit JSON and front matter.
func Edit(src []byte, f Format, sets []Set) ([]byte, error) {
	if f != JSON && f != FrontMatter && f != LenientFrontMatter {
		return nil, &EditError{Message: "a value inside " + f.String() + " cannot be set, only inside JSON and front matter"}
	}
	if len(src) > MaxFileSize {
		return nil, &EditError{Message: "is too big: more than 8 MiB"}
	}
	before, err := decodeEditable(src, f)
	if err != nil {
		return nil, &EditError{Message: "the file " + err.Error()}
	}
	for _, set := range sets {
		after, err := before.with(set)
		if err != nil {
			return nil, &EditError{Pointer: schema.PointerOf(set.Path), Message: err.Error()}
		}
		before = after
	}
	if len(before.src) > MaxFileSize {
		return nil, grown("")
	}
	return before.src, nil
}

// An editable is a document with its bytes.
type editable struct {
	src    []byte
	format Format
	value  map[string]any
	matter *matter // nil for JSON
}

func decodeEditable(src []byte, f Format) (editable, error) {
	if f == JSON {
		doc, err := jsonedit.Decode(src)
		if err != nil {
			return editable{}, err
		}
		return editable{src: src, format: f, value: doc.Value.(map[string]any)}, nil
	}
	m, err := decodeMatter(src, f, nil)
	if err != nil {
		return editable{}, err
	}
	return editable{src: src, format: f, value: m.value, matter: m}, nil
}

// with returns the document with one value set. It decodes the new bytes and compares them to the expected document.
func (e editable) with(set Set) (editable, error) {
	if e.matter == nil {
		set = set.outOf(e.value)
	} else if len(set.Path) > 1 {
		return editable{}, errNested
	}
	set, err := set.clean()
	if err != nil {
		return editable{}, err
	}
	model, err := jsonedit.Assign(e.value, set.Path, set.Value)
	if err != nil {
		return editable{}, err
	}

	var edited []byte
	if e.format == JSON {
		edited, err = jsonedit.Set(e.src, set.Path, jsontext.Encode(set.Value))
	} else {
		name, _ := set.Path[0].(string) // Assign accepted it
		edited, err = spliceFrontMatter(e.src, e.matter, name, set.Value)
	}
	if err != nil {
		return editable{}, err
	}

	after, err := decodeEditable(edited, e.format)
	if err == errMatterSize {
		return editable{}, err
	}
	if err != nil || !bytes.Equal(jsontext.Encode(after.value), jsontext.Encode(model)) {
		return editable{}, errByHand
	}
	if after.matter != nil && !bytes.Equal(after.matter.body, e.matter.body) {
		return editable{}, errByHand
	}
	return after, nil
}

// outOf returns the set that writes a whole default with the value in it, if nothing but the default is on the path to
// the value in doc.
func (s Set) outOf(doc any) Set {
	at, t := doc, s.Type
	for i := range len(s.Path) - 1 {
		at, t = valueIn(at, s.Path[i]), typeIn(t, s.Path[i])
		if at != nil {
			continue
		}
		if t == nil || !t.HasDefault {
			return s
		}
		if whole, err := jsonedit.Assign(t.Default, s.Path[i+1:], s.Value); err == nil {
			return Set{Path: s.Path[:i+1], Value: whole}
		}
		return s
	}
	return s
}

// valueIn returns the field or element of v at a step of a path, or nil.
func valueIn(v, step any) any {
	switch step := step.(type) {
	case string:
		object, _ := v.(map[string]any)
		return object[step]
	case int:
		if list, _ := v.([]any); step >= 0 && step < len(list) {
			return list[step]
		}
	}
	return nil
}

func typeIn(t *schema.Schema, step any) *schema.Schema {
	if name, ok := step.(string); ok {
		return t.At(name)
	}
	return t.At("*")
}

// errByHand is for text that an edit would harm.
var errByHand = errors.New("it is written in a way that cannot be edited without harming the rest; edit it by hand")

func grown(path string) error {
	return &EditError{Path: path, Message: "would become too big: more than 8 MiB"}
}

// errNested is for nested values in front matter.
var errNested = errors.New("set cannot change a value inside a field of front matter; keep such state in a JSON file")

// clean rejects values that no document can have, and returns a copy of others as they will be decoded, with invalid
// UTF-8 replaced.
func (s Set) clean() (Set, error) {
	if len(s.Path) == 0 {
		return Set{}, errors.New("there is no path: name the field to set")
	}
	path := slices.Clone(s.Path)
	for i, part := range path {
		if name, ok := part.(string); ok {
			path[i] = cleanText(name)
		}
	}
	src, err := json.Marshal(s.Value)
	if err != nil {
		return Set{}, fmt.Errorf("the value cannot be written: %w", err)
	}
	value, err := schema.ParseJSON(src)
	return Set{Path: path, Value: value.Value}, err
}

// cleanText replaces invalid UTF-8.
func cleanText(s string) string { return string([]rune(s)) }
