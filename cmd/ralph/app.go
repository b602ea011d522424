package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
)

// app is one run of the program, with its inputs and outputs.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	now    func() time.Time

	status int
}

// Exit statuses. Status 2 means "continue" to a host, so no error has it.
const (
	exitOK       = 0
	exitFound    = 1 // a check or a test failed
	exitContinue = 2 // of eval --answer exit-code only
	exitUsage    = 64
)

// run returns the exit status of a command line.
func (a *app) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		args = []string{"eval"}
		if isTerminal(a.stdin) {
			args = []string{"status"}
		}
	}
	hook := args[0] == "eval"
	root := a.root(hook)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return a.status
	case hook: // a mistyped flag must not hold an agent, nor be silent
		(&answerer{app: a}).trouble(err)
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	}
	fmt.Fprintf(a.stderr, "ralph: %s\n", text.Clean(strings.TrimSpace(err.Error())))
	return exitUsage
}

// errFound ends a command that printed what it found.
var errFound = errors.New("something was found")

// root returns the tree of commands; a hook, for which a host waits, gets only the one that it needs.
func (a *app) root(hook bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "ralph",
		Short:         "Decide by a policy file whether a coding agent may stop",
		SilenceUsage:  true,
		SilenceErrors: true,

		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.Args, root.RunE, root.SuggestionsMinimumDistance = cobra.ArbitraryArgs, unknownCommand, 2
	root.AddCommand(a.evalCommand())
	if hook {
		return root
	}
	root.Version = version()
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group("agent", "Use it with your agent:", a.untilCommand(), a.runCommand(), a.initCommand(), a.installCommand(), a.uninstallCommand(), a.trustCommand())
	group("loop", "Watch and steer loops:", a.statusCommand(), a.logCommand(), a.explainCommand(), a.viewCommand(), a.startCommand(), a.stopCommand(), a.doctorCommand())
	group("policy", "Write policies:", a.checkCommand(), a.testCommand())
	root.SetHelpCommand(a.helpCommand())
	return root
}

// version returns the version of the module, as go install knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// project returns the project in which the command is typed.
func (a *app) project() (project.Project, error) {
	dir, err := os.Getwd()
	if err != nil {
		return project.Project{}, err
	}
	return project.Find(dir, a.getenv)
}

// here returns what a command runs: f, with the project in which the command is typed, and ralph's own directory.
func (a *app) here(f func(ctx context.Context, p project.Project, home *project.Home, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := a.project()
		if err != nil {
			return err
		}
		home, err := project.OpenHome(p, a.getenv)
		if err != nil {
			return err
		}
		return f(cmd.Context(), p, home, args)
	}
}

// printJSON writes a value for programs, with < and > as they are.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func isTerminal(r any) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
