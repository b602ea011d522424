package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// schemaSource returns a JSON Schema by its name.
func (a *app) schemaSource(name string) ([]byte, error) {
	switch name {
	case "policy":
		return rules.PolicySchema(append(rules.SourceKinds(), a.language().Sources...)), nil
	case "test":
		return policytest.Schema(), nil
	}
	if src, ok := schema.Shipped(strings.TrimPrefix(name, "ralph:")); ok {
		return src, nil
	}
	return nil, fmt.Errorf("unknown schema %q; expected one of %s", name, strings.Join(schemaNames(), ", "))
}

// schemaNames returns the names of all schemas.
func schemaNames() []string {
	return slices.Concat([]string{"policy", "test"}, schema.ShippedNames())
}
