package main

import (
	"bufio"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/project"
)

// personFlag declares --yes, which answers what [app.person] asks.
func personFlag(fl *pflag.FlagSet, yes *bool) {
	fl.BoolVarP(yes, "yes", "y", false, "answer yes, for scripts and CI; an agent's session is refused all the same")
}

// person makes a command an act of a person. The returned function asks on the terminal and reports whether the answer is
// yes; with --yes it does not ask. The error is why it cannot ask: an agent's session, or no terminal.
func (a *app) person(yes bool) (ask func(question string) bool, err error) {
	if set := project.InSession(a.getenv); len(set) > 0 {
		return nil, fmt.Errorf("only a person may do this, and this is an agent's session (set: %s); if you are the person, run: %s", strings.Join(set, ", "), outside(runtime.GOOS, set, a.typed))
	}
	if yes {
		return func(string) bool { return true }, nil
	}
	in, isTerminal := terminalOf(a.stdin)
	if !isTerminal {
		return nil, errors.New("a person must answer: run it on a terminal, or add --yes")
	}
	return func(question string) bool {
		fmt.Fprintf(a.stderr, "%s [y/N] ", question)
		answer, _ := bufio.NewReader(in).ReadString('\n') // no answer is no
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
	}, nil
}

// inSession reports whether an agent started this process.
func (a *app) inSession() bool { return len(project.InSession(a.getenv)) > 0 }

// outside returns the command line that runs the same command without variables.
func outside(goos string, variables, args []string) string {
	words := slices.Concat([]string{"ralph"}, args)
	for i := range words {
		words[i] = shellwords.Quote(goos, words[i])
	}
	var without strings.Builder
	for _, name := range variables {
		if goos == "windows" {
			without.WriteString(`set "` + name + `=" && `)
		} else {
			without.WriteString(" -u " + name)
		}
	}
	if goos == "windows" {
		return without.String() + strings.Join(words, " ")
	}
	return "env" + without.String() + " " + strings.Join(words, " ")
}
