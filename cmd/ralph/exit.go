package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// The exit statuses. None of them is 2, which belongs to `--answer exit-code`.
const (
	exitOK       = 0
	exitFindings = 1 // there is something to see to, or nothing to show
	exitFailed   = 3 // the command could not do its work
)

// exits are the ways in which a command ends.
type exits struct {
	command string
	ok      string // what 0 means
	other   exit   // beside 0 and 3; the zero exit is none
}

type exit struct {
	status  int
	meaning string
}

// exitTable lists the commands that do more than succeed or fail.
func exitTable() []exits {
	return []exits{
		{"eval", "the event was answered; on any error the agent may stop, and stderr says why", exit{2, "with --answer exit-code: the agent goes on"}},
		{"pause", "the loop is paused, or was already", exit{exitFindings, "there is no such loop to pause"}},
		{"stop", "each loop that was named is ended", exit{exitFindings, "a policy was named that has no loop to end"}},
		{"resume", "the loop goes on, or did already", exit{exitFindings, "there is no such loop, or RALPH_OFF still switches all loops off"}},
		{"hint", "the hint waits, or with --clear was removed", exit{exitFindings, "with --clear: no hint waits"}},
		{"log", "there are such decisions", exit{exitFindings, "the log holds no such decision"}},
		{"explain", "the decision is shown", exit{exitFindings, "the log holds no such decision"}},
		{"check", "nothing was found", exit{exitFindings, "something was found, as severe as --fail-on says"}},
		{"test", "all tests pass", exit{exitFindings, "a test fails, there are no tests, or the coverage is below --threshold"}},
		{"simulate", "every turn ended", exit{exitFindings, "a turn went on for --max-stops"}},
		{"diff", "the policies are known to decide alike", exit{exitFindings, "they differ, or may differ"}},
		{"replay", "no decision differs", exit{exitFindings, "a decision differs"}},
		{"fmt", "done", exit{exitFindings, "with --list: the layout of a file would change"}},
		{"doctor", "no problem was found", exit{exitFindings, "a problem was found; notes do not count"}},
		{"trust", "done", exit{exitFindings, "with --revoke: the policy was not approved"}},
	}
}

const failedMeaning = "the command could not do its work, and stderr says why"

// exitsOf gives what the statuses of a command mean.
func exitsOf(command string) []exit {
	ends := exits{command: command, ok: "done"}
	for _, e := range exitTable() {
		if e.command == command {
			ends = e
		}
	}
	list := []exit{{exitOK, ends.ok}}
	if ends.other != (exit{}) {
		list = append(list, ends.other)
	}
	if command != "eval" { // it never fails: what goes wrong is answered
		list = append(list, exit{exitFailed, failedMeaning})
	}
	return list
}

// explainExits adds the exit statuses to the help of ralph's own commands.
func explainExits(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		help(cmd, args)
		if cmd.RunE != nil {
			writeExits(cmd.OutOrStdout(), cmd.Name())
		}
	})
}

func writeExits(w io.Writer, command string) {
	fmt.Fprintln(w, "\nExit status:")
	for _, e := range exitsOf(command) {
		fmt.Fprintf(w, "  %d  %s\n", e.status, e.meaning)
	}
}
