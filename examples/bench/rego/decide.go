// Package rego decides by a module of OPA's language.
package rego

import (
	"context"
	_ "embed"
	"errors"

	"github.com/open-policy-agent/opa/v1/rego"
)

//go:embed policy.rego
var policy string

// New returns the decision: the rule that holds, and its text.
func New() (func(state map[string]any) (rule, text string, err error), error) {
	query, err := rego.New(rego.Query("data.ralph.decision"), rego.Module("policy.rego", policy)).PrepareForEval(context.Background())
	if err != nil {
		return nil, err
	}
	return func(state map[string]any) (string, string, error) {
		input := map[string]any{"stop_hook_active": false}
		for name, v := range state {
			input[name] = v
		}
		found, err := query.Eval(context.Background(), rego.EvalInput(input))
		if err != nil || len(found) == 0 {
			return "", "", err
		}
		decision, ok := found[0].Expressions[0].Value.(map[string]any)
		if !ok {
			return "", "", errors.New("there is no decision")
		}
		rule, _ := decision["rule"].(string)
		text, _ := decision["text"].(string)
		return rule, text, nil
	}, nil
}
