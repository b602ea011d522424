// Package ralph decides by a policy.
package ralph

import (
	"context"
	"embed"

	"github.com/ralph-sdk/ralph/rules"
)

//go:embed policy.yaml state.schema.json
var files embed.FS

// New returns the decision: the rule that holds, and its text.
func New() (func(state map[string]any) (rule, text string, err error), error) {
	src, err := files.ReadFile("policy.yaml")
	if err != nil {
		return nil, err
	}
	p, err := rules.Options{Files: files}.Parse("policy.yaml", src)
	if err != nil {
		return nil, err
	}
	return func(state map[string]any) (string, string, error) {
		v, err := p.Eval(context.Background(), rules.Input{Values: map[string]any{"state": state}})
		return v.Rule, v.Reason, err
	}, nil
}
