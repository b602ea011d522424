package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

type pauseFlags struct {
	project string
	session string
}

func (a *app) pauseCommand() *cobra.Command {
	var f pauseFlags
	cmd := &cobra.Command{
		Use:   "pause [POLICY]",
		Short: "Let agents stop until resume",
		Long: "pause lets agents stop until ralph resume, and keeps all state. It pauses one policy, one\n" +
			"session, one policy in one session, or with neither all loops of the project. All loops\n" +
			"are paused by the file .ralph/off; other pauses are in ralph's own directory. Hooks look for\n" +
			"a pause before they read a fact.",
		Example: "  ralph pause\n  ralph pause ralph-wiggum\n  ralph pause --session 6f2c",
		Args:    atMostOne("policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.session == "" {
				return a.switchOff(cmd.Context(), f.project)
			}
			return a.pauseOne(cmd.Context(), f, args, true)
		},
	}
	projectFlag(cmd.Flags(), &f.project)
	sessionVar(cmd.Flags(), &f.session, "pause only this session", mustBeKnown)
	return cmd
}

// pauseOne pauses a policy, a session, or a policy in a session, or resumes it.
func (a *app) pauseOne(ctx context.Context, f pauseFlags, names []string, pause bool) error {
	root, err := a.openProject(f.project)
	if err != nil {
		return err
	}
	defer root.Close()
	own, err := a.store()
	if err != nil {
		return err
	}
	p := store.Pause{At: time.Now().UTC()}
	if f.session != "" {
		if p.Session, err = a.findSession(root.Dir(), f.session, mustBeKnown); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		found, err := findPolicy(root.Dir(), names[0])
		if err != nil {
			return err
		}
		p.Policy = found.name
	}
	changed, err := changePause(ctx, own, root.Dir(), p, pause)
	if err != nil {
		return err
	}
	what := pausedWhat(p)
	switch {
	case pause && !changed:
		fmt.Fprintf(a.stdout, "%s is already paused\n", what)
	case pause:
		fmt.Fprintf(a.stdout, "paused %s; resume it with: ralph resume %s\n", what, pausedArgs(p))
	case changed:
		fmt.Fprintf(a.stdout, "resumed %s\n", what)
	default:
		fmt.Fprintf(a.stdout, "%s is not paused\n", what)
	}
	if !pause {
		return a.stillPaused(own, root.Dir(), p)
	}
	return nil
}

// changePause adds a pause or removes it, and reports whether there was anything to change.
func changePause(ctx context.Context, own *store.Store, root string, p store.Pause, pause bool) (changed bool, err error) {
	same := func(o store.Pause) bool { return o.Policy == p.Policy && o.Session == p.Session }
	err = own.ChangePauses(ctx, root, func(all []store.Pause) []store.Pause {
		if changed = slices.ContainsFunc(all, same) != pause; !changed {
			return all
		}
		if pause {
			return append(all, p)
		}
		return slices.DeleteFunc(all, same)
	})
	return changed, err
}

// stillPaused says which other pauses hold what was resumed; a zero Pause stands for the
// project.
func (a *app) stillPaused(own *store.Store, root string, resumed store.Pause) error {
	pauses, err := own.Pauses(root)
	for _, p := range pauses {
		if (resumed.Policy == "" || p.Policy == "" || p.Policy == resumed.Policy) && (resumed.Session == "" || p.Session == "" || p.Session == resumed.Session) {
			fmt.Fprintf(a.stdout, "still paused: %s; resume it with: ralph resume %s\n", pausedWhat(p), pausedArgs(p))
		}
	}
	return err
}

// pausedWhat names what a pause is about.
func pausedWhat(p store.Pause) string {
	switch {
	case p.Session == "":
		return shortPolicy(p.Policy)
	case p.Policy == "":
		return "session " + visible(p.Session)
	}
	return shortPolicy(p.Policy) + " in session " + visible(p.Session)
}

// pausedArgs are the arguments of ralph resume that undo a pause.
func pausedArgs(p store.Pause) string {
	var args []string
	if p.Policy != "" {
		args = append(args, shellwords.Quote(runtime.GOOS, shortPolicy(p.Policy)))
	}
	if p.Session != "" {
		args = append(args, "--session", shellwords.Quote(runtime.GOOS, p.Session))
	}
	return strings.Join(args, " ")
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
