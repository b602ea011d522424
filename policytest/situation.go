package policytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// FromSituation returns a draft of a JSON object: a situation, such as the [rules.Situation] of a finding, with the keys of
// given and names of the hook input; or a test, with given, name, event, expect and a note. The note lists names that a
// test cannot give. Keys that a test does not have are errors, of FromSituation or of [Append].
func FromSituation(src []byte) (Draft, error) {
	d := Draft{Name: "a situation"}
	var situation map[string]any
	if err := json.Unmarshal(src, &situation); err != nil {
		return d, fmt.Errorf("the situation is not a JSON object: %w", err)
	}
	if _, isTest := situation["given"]; isTest {
		in := json.NewDecoder(bytes.NewReader(src))
		in.DisallowUnknownFields()
		if err := in.Decode(&d); err != nil {
			return d, fmt.Errorf("the situation is not a test: %w", err)
		}
		situation = d.Given
	}
	d.Given = maps.Clone(situation)
	maps.DeleteFunc(d.Given, func(key string, v any) bool { return v == nil || key == "names" || key == "unusable" })
	var lost []string
	names, _ := situation["names"].(map[string]any)
	for name, v := range names {
		group, member, _ := strings.Cut(name, ".")
		switch {
		case group == "env", group == "loop" && slices.Contains(keysOf("loop"), member):
			give(d.Given, v, group, member)
		case slices.Contains(keysOf("given"), name):
			d.Given[name] = v
		default:
			lost = append(lost, name)
		}
	}
	fields, _ := situation["unusable"].([]any)
	for _, f := range fields {
		give(d.Given, map[string]any{"of": "a wrong type"}, append([]string{"facts"}, strings.Split(fmt.Sprint(f), ".")...)...)
	}
	if len(lost) > 0 {
		d.Note = strings.TrimSpace(d.Note + " (not given: " + quoted(lost) + ")")
	}
	return d, nil
}

// give sets the value at a path of objects, which it creates as needed.
func give(at map[string]any, v any, path ...string) { inputs.Placed(at, path, v) }

// Decide returns the decision of a policy in the situation of the draft. cfg is the configuration with which the policy
// was loaded; a draft that sets params is an error.
func (d Draft) Decide(ctx context.Context, p *rules.Program, cfg rules.Config) (r loop.Record, err error) {
	d.Expect = map[string]any{"reason": []any{"/^/"}} // matches any decision
	file, diags := Parse("situation", append([]byte("tests:\n"), d.text("  ", "\n")...))
	if file == nil {
		return r, diags.Err()
	}
	if len(file.Tests[0].Given.Set) > 0 {
		return r, errors.New("the situation sets params, and the policy is loaded already")
	}
	return file.Decide(ctx, p, cfg)
}

// Decide returns the decision of a policy in the situation of the first test. cfg is the configuration with which the policy
// was loaded, and the params that the test sets are those of the policy already.
func (f *File) Decide(ctx context.Context, p *rules.Program, cfg rules.Config) (r loop.Record, err error) {
	if err := f.Check(p).Err(); err != nil {
		return r, err
	}
	test := f.Tests[0]
	test.Given.Set = nil
	result := (&Suite{policy: p.Name, cfg: cfg, program: p}).run(ctx, test)
	for _, f := range result.Failures {
		if f.What == "given" {
			return r, errors.New(f.Got)
		}
	}
	return result.Record, nil
}
