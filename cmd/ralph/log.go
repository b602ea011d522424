package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
)

func (a *app) logCommand() *cobra.Command {
	var last int
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the last decisions of the project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, home, err := a.here()
			if err != nil {
				return err
			}
			show := a.logLine
			if asJSON {
				show = a.logJSON
			}
			f, err := home.OpenLog()
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(a.stderr, "No decision was made yet: %s does not exist.\n", home.Log())
				return nil
			} else if err != nil {
				return err
			}
			defer f.Close()
			lines := bufio.NewReader(f)
			records := ofProject(lines, p.Root)
			if len(records) == 0 {
				fmt.Fprintf(a.stderr, "The log has no decision of %s.\n", p.Root)
			}
			for _, r := range records[max(0, len(records)-max(0, last)):] {
				show(r)
			}
			for follow {
				select {
				case <-cmd.Context().Done():
					return nil
				case <-time.After(200 * time.Millisecond):
				}
				for _, r := range ofProject(lines, p.Root) {
					show(r)
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&last, "last", "n", 20, "show this many decisions")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "also show each new decision as it is made")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each decision as it is in the log, one JSON object a line")
	return cmd
}

// ofProject returns the decisions of a project that follow in a log.
func ofProject(r *bufio.Reader, root string) (records []project.Entry) {
	for e := range project.Records(r) {
		if e.Project == root {
			records = append(records, e)
		}
	}
	return records
}

func (a *app) logJSON(e project.Entry) { a.stdout.Write(e.Line) }

func (a *app) logLine(e project.Entry) {
	rule := e.Rule
	if rule != "" {
		rule = "by " + rule
	}
	fmt.Fprintf(a.stdout, "%s  %-9s %s %s  %s\n", e.Time.Local().Format(time.DateTime), e.Outcome, e.Policy, rule, text.Line(text.Cut(e.Reason, 100)))
}
