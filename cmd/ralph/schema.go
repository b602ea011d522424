package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "Print the JSON Schema of policies, tests, state files, or of what commands print",
		Long:      wrapped(schemaNames()),
		ValidArgs: schemaNames(),
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
		return policytest.Schema(), nil
	}
	if src, ok := schema.Shipped(strings.TrimPrefix(name, "ralph:")); ok {
		return src, nil
	}
	for _, o := range outputs() {
		if o.name == name {
			return o.schema(), nil
		}
	}
	return nil, fmt.Errorf("there is no schema %q, expected one of %s", name, strings.Join(schemaNames(), ", "))
}

// wrapped writes words as lines of help.
func wrapped(words []string) string {
	var lines []string
	line := ""
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if line != "" && len(line)+1+len(word) > 92 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n")
}

// schemaNames lists the names of all schemas.
func schemaNames() []string {
	return slices.Concat([]string{"policy", "test"}, schema.ShippedNames(), outputNames())
}
