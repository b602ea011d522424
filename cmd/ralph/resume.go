package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/spf13/cobra"
)

func (a *app) resumeCommand() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:     "resume [POLICY]",
		Short:   "Undo pause",
		Long:    "resume undoes pause: with a policy for that loop, without one for the project.",
		Example: "  ralph resume\n  ralph resume ralph-wiggum",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.setActive(cmd.Context(), project, args[0], true)
			}
			return a.switchOn(project)
		},
	}
	projectFlag(cmd.Flags(), &project)
	return cmd
}

func (a *app) switchOn(project string) error {
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
	return nil
}
