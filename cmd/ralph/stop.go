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
			"a policy it ends every loop of the project that has a file. The state of a tool is such a\n" +
			"file only if ralph start wrote it; else cancel the work with the tool. Loops without a\n" +
			"file are paused by ralph pause.",
		Example: "  ralph stop\n  ralph stop ralph-wiggum",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.stop(cmd.Context(), project, args)
		},
	}
	projectFlag(cmd.Flags(), &project)
	return cmd
}

func (a *app) stop(ctx context.Context, project string, names []string) error {
	root, err := a.openProject(project)
	if err != nil {
		return err
	}
	defer root.Close()
	loops, err := a.stoppable(ctx, root, names)
	if err != nil {
		return err
	}
	ended, now := 0, time.Now()
	for _, l := range loops {
		r := l.read(ctx, root)
		if r.doc.Status == state.Missing && !root.Exists(l.path) {
			if len(names) > 0 {
				fmt.Fprintf(a.stdout, "no loop of %s is running: there is no %s\n", l.policy.shortName(), l.path)
				a.status = exitFindings
			}
			continue
		}
		if err := a.putAway(ctx, root, l, r, "ralph stop", now); err != nil {
			return err
		}
		ended++
		fmt.Fprintf(a.stdout, "ended %s%s; %s is now in %s\n", l.policy.shortName(), at(r.progress()), l.path, state.ArchiveDir)
	}
	if ended == 0 && len(names) == 0 {
		fmt.Fprintln(a.stdout, "no loop here has a file; `ralph status` shows the others, `ralph pause` pauses every loop")
	}
	return nil
}

// stoppable gives the loops of these policies, or all that are there, whose files may
// be put away: loop files, and states that ralph start wrote.
func (a *app) stoppable(ctx context.Context, root *state.Root, names []string) ([]loopFile, error) {
	var loops []loopFile
	for _, name := range names {
		l, ok, err := a.openLoop(ctx, root.Dir(), name)
		if err != nil {
			return nil, err
		}
		if ok {
			loops = append(loops, l)
			continue
		}
		s, ok, err := a.openToolState(ctx, root, name, "")
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%s has no loop file; `ralph pause` pauses every loop", name)
		case s.path == "":
			fmt.Fprintf(a.stdout, "no loop of %s is running: %s\n", name, s.problem)
			a.status = exitFindings
		case root.Exists(s.path) && !s.read(ctx, root).startedHere():
			return nil, fmt.Errorf("%s stays: ralph start did not write it. Cancel the work with the tool that wrote it; `ralph pause` pauses every loop", s.path)
		default:
			loops = append(loops, s.loopFile)
		}
	}
	if len(names) > 0 {
		return loops, nil
	}
	loops = a.loopFiles(ctx, root.Dir())
	for _, s := range a.startedStates(ctx, root) {
		loops = append(loops, s.loopFile)
	}
	return loops, nil
}

func at(progress string) string {
	if progress == "" {
		return ""
	}
	return " at " + progress
}
