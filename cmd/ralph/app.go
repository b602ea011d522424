package main

import (
	"io"

	"github.com/spf13/cobra"
)

// app is one run of the program.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string

	hook   bool // a host waits for the answer: nothing may fail
	status int
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "ralph",
		Short: "Decides whether a coding agent may stop",
		Long: "ralph decides, each time a coding agent is about to stop, whether it may.\n" +
			"What it decides by are policy files: facts are gathered, rules are tried in order,\n" +
			"and the first one that holds decides.",
		Example: "  ralph eval --policy speckit        # the Stop hook\n" +
			"  ralph check .ralph/policy.yaml     # what is wrong with a policy\n" +
			"  ralph explain                      # why the last decision was what it was",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(a.evalCommand(), a.checkCommand(), a.explainCommand(), a.versionCommand())
	return root
}
