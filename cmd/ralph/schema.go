package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/rules/testfile"
	"github.com/ralph-sdk/ralph/schema"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of policies, of their tests, or of a state file",
		Long: "schema prints a JSON Schema: that of policies (policy, if no name is given), that of the\n" +
			"tests beside them (test), or one of the schemas of state files that ship with ralph:\n" +
			strings.Join(schema.ShippedNames(), ", ") + ". Editors complete and check with it: see the\n" +
			"first line of what ralph init writes.",
		Example: "  ralph schema > .ralph/policy.schema.json\n  ralph schema speckit-state",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("name one schema")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := "policy"
			if len(args) == 1 {
				name = args[0]
			}
			src, err := a.schemaSource(name)
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(src)
			return err
		},
	}
}

// schemaSource gives a JSON Schema by its name.
func (a *app) schemaSource(name string) ([]byte, error) {
	switch name {
	case "policy":
		return rules.PolicySchema(append(rules.Sources(), a.language().Sources...)), nil
	case "test":
		return testfile.Schema(), nil
	}
	if src, ok := schema.Shipped(strings.TrimPrefix(name, "ralph:")); ok {
		return src, nil
	}
	return nil, fmt.Errorf("there is no schema %q, expected one of policy, test, %s", name, strings.Join(schema.ShippedNames(), ", "))
}
