package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/text"
)

// checks.txt explains each finding of ralph check: a line == ID, its meaning, a line --, and a policy that has it.
//
//go:embed checks.txt
var checksFile string

// check is the explanation of a finding.
type check struct {
	id, meaning string
	example     string // a policy
}

// checks returns the explanations, by their IDs.
func checks() (all []check) {
	for _, part := range strings.Split("\n"+checksFile, "\n== ")[1:] {
		id, rest, _ := strings.Cut(part, "\n")
		meaning, example, _ := strings.Cut(rest, "\n--\n")
		all = append(all, check{id, meaning, strings.TrimRight(example, "\n") + "\n"})
	}
	return all
}

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or check]",
		Short: "Explain a command, or what ralph check found",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Root().Help()
			}
			if c, _, err := cmd.Root().Find(args); err == nil && c != cmd.Root() {
				return c.Help()
			}
			known := []string{}
			for _, c := range cmd.Root().Commands() {
				known = append(known, c.Name())
			}
			for _, c := range checks() {
				if c.id == args[0] {
					fmt.Fprintf(a.stdout, "%s\n\nA policy in which it is found:\n\n    %s\n", c.meaning, strings.ReplaceAll(strings.TrimSpace(c.example), "\n", "\n    "))
					return nil
				}
				known = append(known, c.id)
			}
			return fmt.Errorf("there is no command and no check %s: %s", args[0], cmp.Or(text.Nearest(args[0], known), "ralph help lists the commands"))
		},
	}
}
