package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/view"
)

func (a *app) viewCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "view",
		Short: "Show what runs, and each decision with its reasons, as a page in a browser",
		Long: `Show what runs in the project, and each decision with its reasons, as a page in a browser of this machine. The address that
is printed opens the page in one browser. Ctrl-C ends it. The page changes nothing.`,
		Args: noArguments,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, _ []string) error {
			source := view.Open(home, p, a.getenv)
			defer source.Close()
			if out != "" {
				return os.WriteFile(out, view.File(source.Read(ctx)), 0o600)
			}
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			defer stop()
			s, err := view.Listen(source.Read)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, s.URL())
			return s.Serve(ctx)
		}),
	}
	cmd.Flags().StringVar(&out, "out", "", "write the page with the data of now into this `file`, and serve nothing")
	return cmd
}
