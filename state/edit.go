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

// A Set puts a value at a place inside a document.
type Set struct {
	// Path leads to the value: strings name fields, ints count elements from
	// 0. All of it but the last field must exist already, or have a
	// default in Type. In front matter it is the name of one field.
	Path []any

	// Value is anything that JSON can hold.
	Value any

	// Type is that of the document, nil if nothing is known of it. What is absent
	// or null on the way to the value is written as its default.
	Type *schema.Schema
}

// Edit gives src with the values of sets, made one after another. Only the
// bytes of those values change. A field that is absent becomes the last one of
// its object, in the style of the file; of duplicate keys the last is changed,
// since it is the one that counts.
//
// The result was decoded again: it holds the values asked for, and everything
// else is as it was. If that cannot be had, Edit fails with an [*EditError].
// Formats other than JSON and front matter cannot be edited.
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

// An editable is a document together with its bytes.
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

// with gives the document with one value set. What the text became is not
// believed before it was decoded and compared with what was asked for.
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
		name, _ := set.Path[0].(string) // Assign took it
		edited, err = spliceFrontMatter(e.src, e.matter, e.format, name, set.Value)
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

// outOf is the set that writes a default with the value in it, if there is nothing
// else on the way to the value in doc.
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

// valueIn is the field or element of v that a step of a path names, nil if there is none.
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

// errByHand is for spots that an edit would harm.
var errByHand = errors.New("it is written in a way that cannot be edited without harming the rest; repair it by hand")

func grown(path string) error {
	return &EditError{Path: path, Message: "would become too big: more than 8 MiB"}
}

// errNested is for what front matter is not meant for.
var errNested = errors.New("set changes whole fields of front matter, not what is inside them; keep such state in a JSON file")

// clean refuses what no document can hold, and copies the rest as it will be decoded, with bytes
// that are not UTF-8 replaced.
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

// cleanText replaces bytes that are not UTF-8.
func cleanText(s string) string { return string([]rune(s)) }
