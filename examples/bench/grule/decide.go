// Package grule decides by the rules of grule's language.
package grule

import (
	_ "embed"

	"github.com/hyperjumptech/grule-rule-engine/ast"
	"github.com/hyperjumptech/grule-rule-engine/builder"
	"github.com/hyperjumptech/grule-rule-engine/engine"
	"github.com/hyperjumptech/grule-rule-engine/pkg"
)

//go:embed policy.grl
var policy []byte

// New returns the decision: the rule that holds, and its text. It has one instance of the rules, so it is for one goroutine.
func New() (func(state map[string]any) (rule, text string, err error), error) {
	library := ast.NewKnowledgeLibrary()
	if err := builder.NewRuleBuilder(library).BuildRuleFromResource("policy", "1", pkg.NewBytesResource(policy)); err != nil {
		return nil, err
	}
	rules, err := library.NewKnowledgeBaseInstance("policy", "1")
	if err != nil {
		return nil, err
	}
	machine := engine.NewGruleEngine()
	machine.ReturnErrOnFailedRuleEvaluation = true
	return func(state map[string]any) (string, string, error) {
		out := &struct{ Name, Text string }{}
		facts := ast.NewDataContext()
		for name, v := range state {
			if err := facts.Add(name, v); err != nil {
				return "", "", err
			}
		}
		if err := facts.Add("stop_hook_active", false); err != nil {
			return "", "", err
		}
		if err := facts.Add("out", out); err != nil {
			return "", "", err
		}
		err := machine.Execute(facts, rules)
		return out.Name, out.Text, err
	}, nil
}
