package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
)

func (a *app) logCommand() *cobra.Command {
	var last int
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use:        "log",
		SuggestFor: []string{"logs"},
		Short:      "Show the last decisions of the project",
		Args:       noArguments,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, _ []string) error {
			if last < 1 {
				return fmt.Errorf("-n is %d: write 1 or more", last)
			}
			show := a.logLine
			if asJSON {
				show = a.logJSON
			}
			log := home.ReadLog(p)
			defer log.Close()
			all, err := log.Next()
			if err == nil && len(all) == 0 {
				fmt.Fprintf(a.stderr, "The log %s has no decision of %s.\n", home.Log, p.Root)
			}
			for all = all[max(0, len(all)-last):]; err == nil; all, err = log.Next() {
				for _, e := range all {
					show(e)
				}
				if !follow {
					return nil
				}
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(200 * time.Millisecond):
				}
			}
			return err
		}),
	}
	cmd.Flags().IntVarP(&last, "last", "n", 20, "show this many decisions")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "also show each new decision as it is made")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each decision as it is in the log, one JSON object a line")
	return cmd
}

func (a *app) logJSON(e project.Entry) { a.stdout.Write(e.Line) }

func (a *app) logLine(e project.Entry) {
	fmt.Fprintf(a.stdout, "%s  %-9s %s%s  %s\n", e.Time.Local().Format(time.DateTime), e.Outcome, e.Policy, by(e.Rule), text.Line(text.Cut(e.Reason, 100)))
}

// by names the rule that decided, if one did.
func by(rule string) string {
	if rule == "" {
		return ""
	}
	return " by " + rule
}
