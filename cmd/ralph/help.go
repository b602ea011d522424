package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/docs/checks"
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
)

// helpTexts are what commands say of themselves, with examples: NAME.txt. Those that are made stand for {}. A command without
// such a file has them in its own.
//
//go:embed help/*.txt
var helpTexts embed.FS

// describe gives a command its text.
func describe(c *cobra.Command) {
	text, err := helpTexts.ReadFile("help/" + c.Name() + ".txt")
	if err != nil || c.Example != "" {
		return
	}
	long, examples, _ := strings.Cut(string(text), "\n\nExamples:\n")
	c.Long = strings.Replace(strings.TrimSpace(long), "{}", c.Long, 1)
	c.Example = strings.TrimRight(examples, "\n")
}

// doctorPage has the checks of doctor.
const doctorPage = "https://github.com/ralph-sdk/ralph/blob/main/docs/reference/doctor.md"

// helpCommand explains commands, as every command's --help does, and checks.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | CHECK]",
		Short: "Explain a command, or a check of ralph check or ralph doctor",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var words []string
			if len(args) == 0 {
				words = append(helpTopics(cmd.Root()), append(checkIDs(), allChecks)...)
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if about, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				about.InitDefaultHelpFlag()
				return about.Help()
			}
			if len(args) == 1 {
				if args[0] == allChecks {
					return a.listChecks()
				}
				if text := aboutCheck(args[0]); text != "" {
					_, err := fmt.Fprint(a.stdout, text)
					return err
				}
			}
			topic := strings.Join(args, " ")
			meant := nearest.DidYouMean(topic, append(helpTopics(cmd.Root()), append(checkIDs(), allChecks)...))
			if meant != "" {
				meant = ", " + strings.TrimSuffix(meant, "?")
			}
			return fmt.Errorf("there is neither a command nor a check %q%s; `ralph help` lists the commands, `ralph help checks` the checks",
				topic, meant)
		},
	}
}

func helpTopics(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

func checkIDs() (ids []string) {
	for _, c := range form.Checks() {
		ids = append(ids, c.ID)
	}
	for _, c := range doctorChecks() {
		ids = append(ids, c.id)
	}
	return ids
}

// allChecks is the topic that lists the checks.
const allChecks = "checks"

func (a *app) listChecks() error {
	for _, c := range form.Checks() {
		fmt.Fprintf(a.stdout, "%-18s  %-7s  %s\n", c.ID, c.Severity, c.Doc)
	}
	fmt.Fprintln(a.stdout, "\nof ralph doctor:")
	for _, c := range doctorChecks() {
		fmt.Fprintf(a.stdout, "%-14s  %s\n", c.id, c.doc)
	}
	return nil
}

// aboutCheck returns the page of the check of policies, or what the check of doctor finds; "" if there is neither.
func aboutCheck(id string) string {
	about := checks.Page(id)
	for _, c := range doctorChecks() {
		if c.id == id {
			about += fmt.Sprintf("%s, a check of ralph doctor: %s.\n%s\n", c.id, c.doc, doctorPage)
		}
	}
	return about
}
