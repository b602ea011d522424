package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// The exit statuses. None of them is 2, which belongs to `--answer exit-code`.
const (
	exitOK       = 0
	exitFindings = 1 // there is something to see to, or nothing to show
	exitFailed   = 3 // the command could not do its work
)

// Those of a run.
const (
	exitLimit       = 10
	exitRateLimit   = 11
	exitNoAccess    = 12
	exitCrashes     = 13
	exitNoProgress  = 14
	exitInterrupted = 130 // as shells say it
)

// exits are the ways in which a command ends.
type exits struct {
	command string
	ok      string // what 0 means
	other   exit   // beside 0 and 3; the zero exit is none
	more    []exit // beside that
}

type exit struct {
	status  int
	meaning string
}

// exitTable lists the commands that do more than succeed or fail.
func exitTable() []exits {
	return []exits{
		{"eval", "the event was answered; on any error the agent may stop, and stderr says why", exit{2, "with --answer exit-code: the agent goes on"}, nil},
		{"stop", "each loop that was named is stopped", exit{exitFindings, "a policy or a session was named that has no loop to stop"}, nil},
		{"resume", "the loop goes on, or did already", exit{exitFindings, "RALPH_OFF still switches all loops off"}, nil},
		{"hint", "the hint waits, or with --clear was removed", exit{exitFindings, "with --clear: no hint waits"}, nil},
		{"log", "there are such decisions", exit{exitFindings, "the log holds no such decision"}, nil},
		{"explain", "the decision is shown", exit{exitFindings, "the log holds no such decision"}, nil},
		{"check", "nothing was found", exit{exitFindings, "something was found, as severe as --fail-on says"}, nil},
		{"test", "all tests pass", exit{exitFindings, "a test fails, there are no tests, or the coverage is below --threshold"}, nil},
		{"diff", "the policies are known to decide alike", exit{exitFindings, "they differ, or may differ"}, nil},
		{"replay", "no decision differs", exit{exitFindings, "a decision differs"}, nil},
		{"fmt", "done", exit{exitFindings, "with --list: the layout of a file would change"}, nil},
		{"doctor", "no problem was found", exit{exitFindings, "a problem was found; notes do not count"}, nil},
		{"run", "a rule with success: true, or --until, ended the run", exit{exitFindings, "another rule, or no rule, ended the run"}, []exit{
			{exitLimit, "a limit ended the run"},
			{exitRateLimit, "the rate limit resets after the time of the run"},
			{exitNoAccess, "the client cannot sign in, or the account cannot pay"},
			{exitCrashes, "the agent failed three times in a row"},
			{exitNoProgress, "the policy's limit of repeats ended the run"},
			{exitInterrupted, "the run was interrupted"},
		}},
		{"trust", "done", exit{exitFindings, "with --revoke: the policy was not approved"}, nil},
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
	list = append(list, ends.more...)
	if command != "eval" { // it never fails: what goes wrong is answered
		list = append(list, exit{exitFailed, failedMeaning})
	}
	slices.SortFunc(list, func(a, b exit) int { return cmp.Compare(a.status, b.status) })
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
	all := exitsOf(command)
	width := len(strconv.Itoa(all[len(all)-1].status))
	for _, e := range all {
		fmt.Fprintf(w, "  %*d  %s\n", width, e.status, e.meaning)
	}
}
