package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/policy.schema.json, by which editors complete policies, has the keys that are read here.
func TestPolicySchema(t *testing.T) {
	src, err := os.ReadFile("../docs/policy.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage
		Items      struct{ Properties map[string]json.RawMessage }
	}
	var schema struct {
		object
		Definitions map[string]object
	}
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	fact := []string{"schema", "default", "inline", "timeout"}
	for name, s := range sources() {
		fact = append(append(fact, name), sortedKeys(s.options)...)
	}
	for place, want := range map[string]struct{ schema, code []string }{
		"policy": {sortedKeys(schema.Properties), policyKeys},
		"rule":   {sortedKeys(schema.Definitions["rule"].Properties), ruleKeys},
		"fact":   {sortedKeys(schema.Definitions["fact"].Properties), fact},
	} {
		want.code = slices.Sorted(slices.Values(want.code)) // of a copy
		if diff := cmp.Diff(want.code, want.schema); diff != "" {
			t.Errorf("keys of a %s (-code +schema):\n%s", place, diff)
		}
	}
	for where, keys := range map[string][]string{
		"limits: {%s: 1}":               sortedKeys(schema.Definitions["limits"].Properties),
		"rules: [{then: [{%s: text}]}]": sortedKeys(schema.Definitions["effects"].Items.Properties),
	} {
		for _, key := range keys {
			_, err := Parse("p.yaml", fmt.Appendf(nil, "ralph: 1\n"+where, key))
			if err != nil && strings.Contains(err.Error(), "[unknown-key]") {
				t.Errorf("the schema has a key that is not read: %v", err)
			}
		}
	}
}

// testdata/names.txt, from which docs/reference.md is made, has the names and functions of every policy.
func TestNames(t *testing.T) {
	src, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(src)) {
		if name, _, ok := strings.Cut(line, "\t"); ok && name != "env" { // a variable each
			listed = append(listed, name)
		}
	}
	var names []string
	for name, zero := range ralphNames() {
		if fields, ok := zero.(map[string]any); ok {
			for field := range fields {
				names = append(names, name+"."+field)
			}
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Sort(listed)
	if diff := cmp.Diff(names, listed); diff != "" {
		t.Errorf("names (-code +names.txt):\n%s", diff)
	}
}
