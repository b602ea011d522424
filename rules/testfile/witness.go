package testfile

import (
	"maps"
	"slices"
	"strings"
)

// FromWitness makes a draft of a situation, such as the [rules.Witness] of a
// finding as JSON: what stands under the keys of given is taken as it is, names as
// those of the hook input. A situation may also stand under the key given, beside
// the test's name, event, expect and a note. What a test cannot give is named in
// the note.
func FromWitness(witness map[string]any) Draft {
	d := Draft{Name: "a situation from a witness", Given: map[string]any{}}
	situation := witness
	if inner, ok := witness["given"].(map[string]any); ok && !areCounts(inner) {
		situation = inner
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
		case givenKeys().has(key):
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
	return d
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
	case grouped && (group == "loop" && loopKeys().has(member) || group == "env"):
		values, ok := d.Given[group].(map[string]any)
		if !ok {
			values = map[string]any{}
			d.Given[group] = values
		}
		values[member] = v
	case givenKeys().has(name):
		d.Given[name] = v
	default:
		return false
	}
	return true
}

// spoil gives fields that are named fact.field a value of a kind that no rule
// compares anything with.
func (d *Draft) spoil(v any) {
	fields, _ := v.([]any)
	for _, f := range fields {
		path, _ := f.(string)
		at, ok := d.Given["facts"].(map[string]any)
		if !ok {
			at = map[string]any{}
			d.Given["facts"] = at
		}
		steps := strings.Split(path, ".")
		for _, step := range steps[:len(steps)-1] {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		at[steps[len(steps)-1]] = map[string]any{"of": "a wrong type"}
	}
}
