package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/spf13/cobra"
)

func (a *app) resumeCommand() *cobra.Command {
	var f pauseFlags
	cmd := &cobra.Command{
		Use:   "resume [POLICY]",
		Short: "Undo pause",
		Long: "resume undoes pause: for a policy, for a session, or without either for the project. What\n" +
			"was paused by itself stays paused; resume names it.",
		Example: "  ralph resume\n  ralph resume ralph-wiggum\n  ralph resume --session 6f2c",
		Args:    atMostOne("policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.session == "" {
				return a.switchOn(cmd.Context(), f.project)
			}
			return a.pauseOne(cmd.Context(), f, args, false)
		},
	}
	projectFlag(cmd.Flags(), &f.project)
	sessionVar(cmd.Flags(), &f.session, "resume only this session", mustBeKnown)
	return cmd
}

func (a *app) switchOn(ctx context.Context, project string) error {
	dir, err := a.projectDir(project)
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(dir, filepath.FromSlash(workspace.OffFile)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(a.stdout, "the loops of this project are not off: there is no %s\n", workspace.OffFile)
	case err != nil:
		return err
	default:
		fmt.Fprintln(a.stdout, "the loops of this project are on")
	}
	if why, off := workspace.Off("", a.getenv); off {
		fmt.Fprintf(a.stdout, "but %s: it turns loops off in every process that inherits it\n", why)
		a.status = exitFindings
	}
	own, err := a.store()
	if err != nil {
		return err
	}
	if _, err := own.Pauses(dir); err != nil { // what it held cannot be known
		fmt.Fprintf(a.stdout, "removed what could not be read: %v\n", err)
		return own.ChangePauses(ctx, dir, func([]store.Pause) []store.Pause { return nil })
	}
	return a.stillPaused(own, dir, store.Pause{})
}
