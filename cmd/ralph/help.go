package main

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/docs"
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
)

// helpTexts has the long help of commands, with examples: NAME.txt. {} is replaced by generated text. A command without
// a file has its help in its code.
//
//go:embed help/*.txt
var helpTexts embed.FS

// licenseTexts has the licences of ralph and of the modules that the program contains.
//
//go:embed licenses.txt
var licenseTexts string

// describe sets the help of a command.
func describe(c *cobra.Command) {
	text, err := helpTexts.ReadFile("help/" + c.Name() + ".txt")
	if err != nil || c.Example != "" {
		return
	}
	long, examples, _ := strings.Cut(string(text), "\n\nExamples:\n")
	c.Long = strings.Replace(strings.TrimSpace(long), "{}", c.Long, 1)
	c.Example = strings.TrimRight(examples, "\n")
}

// What help prints in addition to commands and checks: the list of checks, JSON Schemas, shell completions, and licences.
const (
	allChecks  = "checks"
	schemas    = "schema"
	completion = "completion"
	licenses   = "licenses"
)

// helpCommand explains commands, as --help does, and checks, and prints files for editors and shells.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | CHECK | checks | schema [NAME] | completion SHELL | licenses]",
		Short: "Explain a command or a check; print a JSON Schema, or the completions of a shell",
		Long:  strings.Join(schemaNames(), ", "),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var words []string
			switch {
			case len(args) == 0:
				words = helpTopics(cmd.Root())
			case args[0] == schemas:
				words = schemaNames()
			case args[0] == completion:
				words = slices.Sorted(maps.Keys(completions(cmd.Root())))
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if about, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				about.InitDefaultHelpFlag()
				return about.Help()
			}
			topic, name := args[0], strings.Join(args[1:], " ")
			switch {
			case topic == schemas:
				src, err := a.schemaSource(cmp.Or(name, "policy"))
				if err == nil {
					_, err = a.stdout.Write(src)
				}
				return err
			case topic == completion:
				all := completions(cmd.Root())
				if write := all[name]; write != nil {
					return write(a.fileOut())
				}
				return fmt.Errorf("name the shell: `ralph help completion` needs %s", alternatives(slices.Sorted(maps.Keys(all))))
			case name != "":
			case topic == allChecks:
				return a.listChecks()
			case topic == licenses:
				_, err := io.WriteString(a.stdout, licenseTexts)
				return err
			default:
				if text := aboutCheck(topic); text != "" {
					_, err := fmt.Fprint(a.stdout, text)
					return err
				}
			}
			topic = strings.Join(args, " ")
			meant := nearest.DidYouMean(topic, helpTopics(cmd.Root()))
			if meant != "" {
				meant = ", " + strings.TrimSuffix(meant, "?")
			}
			return fmt.Errorf("unknown command or check %q%s; run `ralph help` or `ralph help checks` for a list",
				topic, meant)
		},
	}
}

// completions returns the functions that write a shell's completions.
func completions(root *cobra.Command) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        root.GenZshCompletion,
		"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": root.GenPowerShellCompletionWithDesc,
	}
}

// helpTopics returns the arguments of help.
func helpTopics(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return append(append(names, checkIDs()...), allChecks, schemas, completion, licenses)
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

// aboutCheck returns the page of a check of policies or of doctor, or "".
func aboutCheck(id string) string {
	about := docs.Check(id)
	for _, c := range doctorChecks() {
		if c.id == id {
			about += fmt.Sprintf("# %s\n\nFound by `ralph doctor`: %s.\n\n%s\n\n**Fix**: %s\n", c.id, c.doc, c.cause, c.fix)
		}
	}
	return about
}
