package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

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

// otherWords are commands that people know from elsewhere.
var otherWords = map[string]string{"lint": "check", "validate": "check", "list": "init --list", "policies": "init --list", "version": "--version",
	"pause": "stop", "off": "stop", "disable": "stop", "resume": "start", "on": "start", "continue": "start", "remove": "uninstall", "new": "init", "logs": "log"}

// instead says what to write for a word that is no command, and for one behind a command that takes none.
func instead(root *cobra.Command, err error) error {
	var word, at string
	if n, _ := fmt.Sscanf(fmt.Sprint(err), "unknown command %q for %q", &word, &at); n < 2 {
		return err
	}
	_, name, below := strings.Cut(at, " ")
	cmd, _, _ := root.Find([]string{name})
	switch {
	case below && cmd.Flags().Lookup("policy") != nil:
		return fmt.Errorf("%s takes no argument: write %[1]s --policy %s", at, word)
	case below:
		return fmt.Errorf("%s takes no argument, and this is %q: ralph help %s lists its flags", at, word, name)
	case otherWords[word] != "":
		return fmt.Errorf("unknown command %q: write ralph %s", word, otherWords[word])
	}
	return fmt.Errorf("unknown command %q: %s", word, nearestCommand(root, word))
}

// nearestCommand guesses which command, or other known word, is meant.
func nearestCommand(root *cobra.Command, word string, known ...string) string {
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	return cmp.Or(text.Nearest(word, known), "ralph help lists the commands")
}

// flagKinds are the types of flags whose values can be invalid.
var flagKinds = map[string]string{
	"int":      "a whole number, such as 20",
	"float64":  "a number, such as 5 or 2.5",
	"duration": "a number with its unit, such as 90m or 8h",
	"bool":     "true or false",
}
