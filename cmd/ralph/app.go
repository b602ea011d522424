package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// app is one run of the program, with its inputs and outputs.
type app struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	getenv  func(string) string
	sources []loop.Source // in addition to ralph's own
	watch   run.Watch     // of agents

	typed   []string // the arguments
	project string   // --project

	hook   bool // a host waits for the answer: never fail
	status int
}

// run returns the whole program as a function. It returns the exit status.
func (a *app) run(ctx context.Context, args []string) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(a.stderr, "[ralph] internal error: %v\n", r)
			if status = exitFailed; a.hook {
				status = exitOK // the agent may stop
			} else {
				a.stderr.Write(debug.Stack()) // to report it
			}
		}
	}()
	if len(args) == 0 {
		if input, ok := bareInput(a.stdin, time.After(bareWait)); ok {
			// Its entry, and so its scope, is unknown.
			a.stdin, args = input, []string{a.evalCommand().Name(), "--scope", setup.ScopeUser}
		}
	}
	a.typed = args
	if len(args) == 0 || args[0] != "eval" { // every byte of stdout is for the host
		a.stdout, a.stderr = &screen{to: a.stdout}, &screen{to: a.stderr}
	}
	cmd := a.command(args)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return a.status
	case a.hook || len(args) > 0 && args[0] == "eval":
		// A mistyped flag must not hold an agent either, nor go unnoticed.
		surviveFullFiles()
		newAnswerer(a.stdout, a.stderr, answerJSON).write(host.Trouble("ralph", "", fmt.Errorf("%w; run `ralph help eval`", err)))
		return exitOK
	}
	var word string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for", &word); n == 1 {
		var names []string
		for _, c := range cmd.Root().Commands() {
			names = append(names, c.Name())
		}
		err = fmt.Errorf("unknown command %q; %s", word, cmp.Or(nearest.DidYouMean(word, names), "run `ralph help`"))
	}
	fmt.Fprintf(a.stderr, "ralph: %s\n", strings.TrimSpace(err.Error()))
	return exitFailed
}

// command returns the command for these arguments. A hook waits for eval, which is therefore built without the rest of
// the tree.
func (a *app) command(args []string) *cobra.Command {
	root := a.evalCommand()
	if len(args) > 0 && args[0] == root.Name() {
		root.Annotations[cobra.CommandDisplayNameAnnotation] = "ralph " + root.Name()
		root.SetArgs(args[1:])
	} else {
		root = a.tree(root)
		root.SetArgs(args)
	}
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(flagError)
	explainExits(root)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	return root
}

// in returns the configuration of a command's project, with the sources of the embedding program and models.
func (a *app) in(dir string) project.Config {
	options := []loop.Option{loop.WithSource(judge.Source())}
	for _, s := range a.sources {
		options = append(options, loop.WithSource(s))
	}
	return project.Config{Dir: dir, Options: options, Env: a.getenv}
}

// language returns the configuration of policies.
func (a *app) language() rules.Config { return loop.Config(a.in("").Options...) }

// defaultDeadline returns the deadline of a hook that sets none.
func defaultDeadline() time.Duration { return loop.Config().Deadline }

// tree returns the tree of commands with eval.
func (a *app) tree(eval *cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "ralph",
		Short: "Decides whether a coding agent may stop",
		Long: "Each time a coding agent is about to stop, ralph decides whether it may.\n" +
			"It follows policy files: it gathers facts and tries rules in order, and the first\n" +
			"rule that holds decides. Without a command, ralph answers a hook whose JSON is on stdin,\n" +
			"as ralph eval does.",
		Example: "  ralph init                  # write a policy for this project, with its tests\n" +
			"  ralph install claude-code   # run it whenever the coding agent stops\n" +
			"  ralph status                # which loops run\n" +
			"  ralph explain               # why the last decision was made",
	}
	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	group("Loops:", eval, a.startCommand(), a.stopCommand(), a.pauseCommand(), a.resumeCommand(), a.resetCommand(), a.hintCommand(),
		a.runCommand(), a.untilCommand(), a.statusCommand(), a.logCommand(), a.explainCommand(), a.viewCommand())
	group("Policies:", a.policiesCommand(), a.checkCommand(), a.testCommand(), a.diffCommand(), a.graphCommand())
	group("Setting up:", a.initCommand(), a.installCommand(), a.uninstallCommand(), a.doctorCommand(), a.trustCommand(), a.versionCommand())
	help := a.helpCommand()
	root.SetHelpCommand(help)
	root.DisableSuggestions = true                  // nearest has them
	root.CompletionOptions.DisableDefaultCmd = true // ralph help completion
	for _, c := range append(root.Commands(), help) {
		describe(c)
	}
	root.PersistentFlags().StringVar(&a.project, "project", "", "use this project root `dir` (default: CLAUDE_PROJECT_DIR, else the project of the working directory)")
	root.Version = thisVersion()
	root.SetVersionTemplate("{{.Version}}\n")
	a.complete(root)
	return root
}
