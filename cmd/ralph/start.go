package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/project"
)

func (a *app) startCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "start [policy [text]]",
		SuggestFor: []string{"resume", "on", "continue"},
		Short:      "Undo ralph stop; with a text, write the state from which a policy's loop begins",
		Long: `Undo ralph stop, for all policies of the project or for one. With a text, also write the state from which the
policy's loop begins, for example: ralph start stravinsky "Make the tests pass".`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return fmt.Errorf("write the text as one argument: ralph start %s '%s'", args[0], strings.Join(args[1:], " "))
			}
			if len(args) == 1 && strings.Contains(args[0], " ") && !strings.HasSuffix(args[0], ".yaml") {
				return fmt.Errorf("name the policy before the text: ralph start NAME '%s'", args[0])
			}
			return nil
		},
		RunE: a.here(a.start),
	}
}

func (a *app) start(ctx context.Context, p project.Project, home *project.Home, args []string) (err error) {
	name, words, f := "", "", project.File{}
	if len(args) > 0 {
		name = args[0]
		if f, err = p.Policy(name); err != nil {
			return err
		}
	}
	if len(args) > 1 {
		words = args[1]
	}
	if err := a.undo(ctx, home, p, f.Name, words == ""); err != nil || words == "" {
		return err
	}
	l, err := home.Open(ctx, p, f, project.Settings{})
	if err != nil {
		return err
	}
	if err := l.Start(ctx, words); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Started %s: %s\n", name, l.Policy().Description)
	if len(a.hosts(p, name)) == 0 {
		fmt.Fprintf(a.stdout, "No hook in the settings uses it: ralph install claude-code --policy %s\n", name)
	}
	return nil
}

// undo undoes a stop of one policy, which need not be usable, or of all.
func (a *app) undo(ctx context.Context, home *project.Home, p project.Project, name string, say bool) error {
	l, err := home.Stops(p, name)
	if err != nil {
		return err
	}
	stops, err := l.Stops(ctx)
	if err != nil {
		return err
	}
	_, all := stops[""]
	_, one := stops[name]
	switch {
	case (all || one || name == "" && len(stops) > 0) && host.InSession(a.getenv) != "":
		return errPerson
	case name != "" && all:
		return errors.New("a stop of all policies is in force: ralph start undoes it")
	case len(stops) == 0 || name != "" && !one:
		if say {
			fmt.Fprintln(a.stdout, "No stop was in force. If the policy has start, a text begins its loop: ralph start NAME 'TEXT'")
		}
		return nil
	}
	if err := l.Undo(ctx, name); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, "The stop is undone.")
	return nil
}

// hosts returns the hosts of which an installed hook uses a policy.
func (a *app) hosts(p project.Project, policy string) (hosts []*host.Host) {
	for _, f := range p.AllSettings(a.getenv) {
		entries, _ := p.Hooks(f)
		if slices.ContainsFunc(entries, func(e host.Entry) bool { return slices.Contains(e.Names(), policy) }) {
			hosts = append(hosts, f.Host)
		}
	}
	return hosts
}

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "stop [policy ...]",
		SuggestFor: []string{"pause", "off", "disable"},
		Short:      "Let agents of this project stop, until ralph start",
		Long: `Let agents of this project stop, whatever the policies say, until ralph start: all policies, or the named ones.
ralph stop until also takes the hook of ralph until out of the settings.`,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, names []string) error {
			for _, name := range names { // all or none
				if _, err := p.Policy(name); err != nil {
					return err
				}
			}
			if len(names) == 0 {
				names = []string{""}
			}
			for _, name := range names {
				if err := a.stop(ctx, p, home, name); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func (a *app) stop(ctx context.Context, p project.Project, home *project.Home, name string) error {
	l, err := home.Stops(p, "")
	if err != nil {
		return err
	}
	typed := name
	if name != "" {
		f, err := p.Policy(name)
		if err != nil {
			return err
		}
		name = f.Name // a file may have been typed
	}
	if name == project.Until {
		if _, err := a.takeOut(nil, p, []string{project.Until}); err != nil {
			return err
		}
	}
	if err := l.Stop(ctx, name); err != nil {
		return err
	}
	switch name {
	case "":
		fmt.Fprintf(a.stdout, "Agents of %s may stop until ralph start.\n", p.Root)
	case project.Until:
		fmt.Fprintf(a.stdout, "Agents of %s may stop. To begin again: ralph until 'COMMAND'\n", p.Root)
	default:
		fmt.Fprintf(a.stdout, "%s lets agents of %s stop. To undo that: ralph start %s\n", name, p.Root, typed)
	}
	return nil
}
