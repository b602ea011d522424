package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/state"
)

func (a *app) stopCommand() *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "stop [POLICY]...",
		Short: "End a loop",
		Long: "stop ends a loop at once: its file moves to .ralph/archive, and nothing is lost. Without\n" +
			"a policy every loop of the project that has a file ends. Policies that go by the state\n" +
			"of a tool have no file of their own; ralph pause holds them.",
		Example: "  ralph stop\n  ralph stop ralph-wiggum",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.stop(cmd.Context(), project, args)
		},
	}
	projectFlag(cmd.Flags(), &project)
	return cmd
}

func (a *app) stop(ctx context.Context, project string, names []string) error {
	root, err := openProject(project)
	if err != nil {
		return err
	}
	defer root.Close()
	var loops []loopFile
	for _, name := range names {
		l, ok, err := a.openLoop(ctx, root.Dir(), name)
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("%s has no loop file to end: it goes by the state of its tool; ralph pause switches all loops of the project off", name)
		}
		loops = append(loops, l)
	}
	if len(names) == 0 {
		loops = a.loopFiles(ctx, root.Dir())
	}
	ended, now := 0, time.Now()
	for _, l := range loops {
		r := l.read(ctx, root)
		if r.doc.Status == state.Missing && !root.Exists(l.path) {
			if len(names) > 0 {
				fmt.Fprintf(a.stdout, "no loop of %s is running: there is no %s\n", l.policy.shortName(), l.path)
			}
			continue
		}
		if err := a.change(ctx, root, state.Change{Path: l.path, Op: state.OpArchive, Version: r.doc.Version, At: now}); err != nil {
			return err
		}
		ended++
		fmt.Fprintf(a.stdout, "ended %s%s: %s is in %s now\n", l.policy.shortName(), at(r.progress()), l.path, archiveFolder)
	}
	if ended == 0 && len(names) == 0 {
		fmt.Fprintln(a.stdout, "no loop is running here that has a file; ralph status shows the others, ralph pause switches all off")
	}
	return nil
}

func at(progress string) string {
	if progress == "" {
		return ""
	}
	return " at " + progress
}
