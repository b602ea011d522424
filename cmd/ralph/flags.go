package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/text"
)

// flagError says what to write instead of a flag that cannot be used.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		if near := text.Nearest("--"+unknown.GetSpecifiedName(), known); near != "" {
			return fmt.Errorf("%w; %s", err, near)
		}
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s is %q: write %s", invalid.GetFlag().Name, invalid.GetValue(), flagKinds[invalid.GetFlag().Value.Type()])
	}
	return fmt.Errorf("%w; ralph help %s lists the flags", err, cmd.Name())
}

// unknownCommand says what to write instead of a command that there is not.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("there is no command %q; did you mean ralph %s?", args[0], near[0])
	}
	return fmt.Errorf("there is no command %q; ralph help lists the commands", args[0])
}

// noArguments refuses words behind a command that takes none, and says where one of a policy goes.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.Flags().Lookup("policy") != nil:
		return fmt.Errorf("%s takes no argument: write %[1]s --policy %s", cmd.CommandPath(), args[0])
	}
	return fmt.Errorf("%s takes no argument, and this is %q: ralph help %s lists its flags", cmd.CommandPath(), args[0], cmd.Name())
}

// flagKinds are the types of flags whose values can be invalid.
var flagKinds = map[string]string{
	"int":      "a whole number, such as 20",
	"float64":  "a number, such as 5 or 2.5",
	"duration": "a number with its unit, such as 90m or 8h",
	"bool":     "true or false",
}
