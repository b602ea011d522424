package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/nearest"
)

// FromWitness makes a draft of a situation, such as the [rules.Witness] of a
// finding as JSON: what stands under the keys of given is taken as it is, names as
// those of the hook input. A situation may also stand under the key given, beside
// the test's name, event, expect and a note. Names that a test cannot give are listed in
// the note. A key that is none of these is an error.
func FromWitness(witness map[string]any) (Draft, error) {
	d := Draft{Name: "a situation from a witness", Given: map[string]any{}}
	situation, beside := witness, []string{"name", "event", "expect", "note"}
	known := union(keysOf("given"), []string{"given", "params", "names", "unusable"})
	if inner, ok := witness["given"].(map[string]any); ok && !areCounts(inner) {
		situation = inner
		if err := unknownKey(witness, append(beside, "given")); err != nil {
			return d, err
		}
	} else {
		known = union(known, beside)
	}
	if err := unknownKey(situation, known); err != nil {
		return d, err
	}
	var lost []string
	for _, key := range slices.Sorted(maps.Keys(situation)) { // facts before what is unusable in them
		v := situation[key]
		switch {
		case v == nil:
		case key == "given":
			d.Given["repeated"] = v
		case key == "params":
			d.Given["set"] = v
		case key == "names":
			names, _ := v.(map[string]any)
			for name, v := range names {
				if !d.gives(name, v) {
					lost = append(lost, name)
				}
			}
		case key == "unusable":
			d.spoil(v)
		case slices.Contains(keysOf("given"), key):
			d.Given[key] = v
		}
	}
	if name, ok := witness["name"].(string); ok && name != "" {
		d.Name = name
	}
	if event, ok := witness["event"].(string); ok {
		d.Event = event
	}
	if expect, ok := witness["expect"].(map[string]any); ok {
		d.Expect = expect
	}
	if note, ok := witness["note"].(string); ok {
		d.Note = note
	}
	if len(lost) > 0 {
		d.Note = strings.TrimSpace(d.Note + " (not given: " + quoted(lost) + ")")
	}
	return d, nil
}

// unknownKey reports the first key of an object that is not known.
func unknownKey(object map[string]any, known []string) error {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(known, key) {
			continue
		}
		help := nearest.DidYouMean(key, known)
		if help == "" {
			help = "expected one of " + quoted(known)
		}
		return fmt.Errorf("unknown key %q in the situation: %s", key, help)
	}
	return nil
}

// areCounts reports whether an object holds the counts of rules that step aside,
// and not a situation.
func areCounts(m map[string]any) bool {
	for _, v := range m {
		if _, ok := v.(float64); !ok {
			return false
		}
	}
	return true
}

// gives gives one of ralph's names in the way that tests do.
func (d *Draft) gives(name string, v any) bool {
	group, member, grouped := strings.Cut(name, ".")
	switch {
	case grouped && (group == "loop" && slices.Contains(keysOf("loop"), member) || group == "env"):
		d.give(v, group, member)
	case slices.Contains(keysOf("given"), name):
		d.Given[name] = v
	default:
		return false
	}
	return true
}

// give gives a value in maps within one another.
func (d *Draft) give(v any, path ...string) {
	at := d.Given
	for _, step := range path[:len(path)-1] {
		next, ok := at[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[step] = next
		}
		at = next
	}
	at[path[len(path)-1]] = v
}

// spoil gives fields that are named fact.field a value of a kind that no rule
// compares anything with.
func (d *Draft) spoil(v any) {
	fields, _ := v.([]any)
	for _, f := range fields {
		path, _ := f.(string)
		d.give(map[string]any{"of": "a wrong type"}, append([]string{"facts"}, strings.Split(path, ".")...)...)
	}
}
