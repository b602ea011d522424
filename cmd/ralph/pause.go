package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

func (a *app) pauseCommand() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "pause [POLICY]",
		Short: "Let agents stop until resume",
		Long: "pause lets agents stop, and keeps all state. With a policy it pauses that loop: it sets\n" +
			"the field active in the file of the loop. Without one it pauses every loop of the project\n" +
			"with the file .ralph/off, which hooks look for before they read a fact. A loop that is paused already\n" +
			"stays so.",
		Example: "  ralph pause\n  ralph pause ralph-wiggum",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.setActive(cmd.Context(), project, args[0], false)
			}
			return a.switchOff(cmd.Context(), project)
		},
	}
	projectFlag(cmd.Flags(), &project)
	return cmd
}

// setActive pauses one loop, or resumes it.
func (a *app) setActive(ctx context.Context, project, name string, active bool) error {
	root, err := a.openProject(project)
	if err != nil {
		return err
	}
	defer root.Close()
	l, ok, err := a.openLoop(ctx, root.Dir(), name)
	if err != nil {
		return err
	}
	fieldName, _ := l.field(activeFields())
	if !ok || fieldName == "" {
		command := map[bool]string{true: "resume", false: "pause"}[active]
		return fmt.Errorf("cannot %s only %q; `ralph %[1]s` %[1]ss every loop", command, name)
	}
	r := l.read(ctx, root)
	switch {
	case r.doc.Status == state.Missing:
		fmt.Fprintf(a.stdout, "no loop of %s is running: there is no %s\n", name, l.path)
		a.status = exitFindings
		return nil
	case r.doc.Status == state.Invalid:
		return fmt.Errorf("%s %s; repair it, or end the loop with: ralph stop %s", l.path, r.doc.Problem, name)
	case r.paused() != active:
		fmt.Fprintf(a.stdout, "%s is already %s\n", name, map[bool]string{true: "running", false: "paused"}[active])
		return nil
	}
	err = a.change(ctx, root, &state.Change{Path: l.path, Format: formatOf(l.fact), Version: r.doc.Version, Sets: []state.Set{{Path: []any{fieldName}, Value: active}}})
	if err != nil {
		return err
	}
	if active {
		fmt.Fprintf(a.stdout, "resumed %s%s\n", name, at(r.progress()))
	} else {
		fmt.Fprintf(a.stdout, "paused %s%s; resume it with: ralph resume %s\n", name, at(r.progress()), name)
	}
	return nil
}

func (a *app) switchOff(ctx context.Context, project string) error {
	root, err := a.openProject(project)
	if err != nil {
		return err
	}
	defer root.Close()
	note := fmt.Sprintf("All loops of this project are off since %s. Turn them on with: ralph resume\n", time.Now().UTC().Format(time.RFC3339))
	err = root.Write(ctx, workspace.OffFile, []byte(note), "")
	if errors.Is(err, state.ErrChanged) || err != nil && root.Exists(workspace.OffFile) {
		fmt.Fprintf(a.stdout, "all loops of this project are already off: %s\n", workspace.OffFile)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "all loops of this project are off: %s; turn them on with: ralph resume\n", workspace.OffFile)
	return nil
}
