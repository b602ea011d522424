package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// The exit statuses. None of them is 2, which belongs to `--answer exit-code`.
const (
	exitOK       = 0
	exitFindings = 1 // findings, or nothing to show
	exitFailed   = 3 // the command failed
)

// The statuses of a run.
const (
	exitLimit       = 10
	exitRateLimit   = 11
	exitNoAccess    = 12
	exitCrashes     = 13
	exitNoProgress  = 14
	exitAsked       = 15
	exitWaiting     = 16
	exitInterrupted = 130 // as in shells
)

// An exit is an exit status of a command and its meaning.
type exit struct {
	status  int
	meaning string
}

// exits returns the annotations of a command for the meaning of 0 and of its other statuses. Every command can also
// fail, except eval, which answers errors.
func exits(ok string, others ...exit) map[string]string {
	all := map[string]string{}
	for _, e := range append(others, exit{exitOK, ok}) {
		all[exitPrefix+strconv.Itoa(e.status)] = e.meaning
	}
	return all
}

const (
	exitPrefix    = "exit "
	failedMeaning = "the command failed; stderr has the reason"
)

// exitsOf returns the exit statuses of a command.
func exitsOf(cmd *cobra.Command) []exit {
	list := []exit{}
	if cmd.Annotations[exitPrefix+"0"] == "" {
		list = append(list, exit{exitOK, "done"})
	}
	for key, meaning := range cmd.Annotations {
		if n, ok := strings.CutPrefix(key, exitPrefix); ok {
			status, _ := strconv.Atoi(n)
			list = append(list, exit{status, meaning})
		}
	}
	if cmd.Name() != "eval" {
		list = append(list, exit{exitFailed, failedMeaning})
	}
	slices.SortFunc(list, func(a, b exit) int { return cmp.Compare(a.status, b.status) })
	return list
}

// explainExits adds the exit statuses to the help of ralph's own commands.
func explainExits(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		describe(cmd)
		help(cmd, args)
		if cmd.RunE != nil {
			writeExits(cmd.OutOrStdout(), cmd)
		}
	})
}

func writeExits(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintln(w, "\nExit status:")
	all := exitsOf(cmd)
	width := len(strconv.Itoa(all[len(all)-1].status))
	for _, e := range all {
		fmt.Fprintf(w, "  %*d  %s\n", width, e.status, e.meaning)
	}
}
