package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/store"
)

type hintFlags struct {
	policy  string
	session string
	clear   bool
	project string
}

func (a *app) hintCommand() *cobra.Command {
	var f hintFlags
	cmd := &cobra.Command{
		Use:   "hint TEXT...",
		Short: "Show the agent a text with its next continuation",
		Long: "hint keeps a text until a policy sends an agent of this project on, and adds it to what the\n" +
			"agent is shown then, under a heading of its own. The agent sees it once. It is kept among\n" +
			"ralph's own files, not in the project. ralph status shows the hints that wait. The decision\n" +
			"log has only the size of a hint, unless eval ran with --log-private.",
		Example: "  ralph hint 'The tests need docker: skip them.'\n  ralph hint --policy speckit Take the old parser as an example.\n  ralph hint --clear",
		RunE: func(_ *cobra.Command, args []string) error {
			text := strings.TrimSpace(strings.Join(args, " "))
			switch {
			case f.clear && text != "":
				return errors.New("--clear takes no text: it removes the hints that wait")
			case !f.clear && text == "":
				return errors.New("write the text for the agent: ralph hint TEXT")
			}
			return a.hint(f, text)
		},
	}
	cmd.Flags().StringVarP(&f.policy, "policy", "p", "", "only with a continuation by this policy: a `name` or a file")
	sessionVar(cmd.Flags(), &f.session, "only in this session", mayBeNew)
	cmd.Flags().BoolVar(&f.clear, "clear", false, "remove the hints that wait; with --policy or --session only those for it")
	projectFlag(cmd.Flags(), &f.project)
	return cmd
}

func (a *app) hint(f hintFlags, text string) error {
	root, err := a.projectDir(f.project)
	if err != nil {
		return err
	}
	own, err := a.store()
	if err != nil {
		return err
	}
	if f.policy != "" {
		p, err := findPolicy(root, f.policy)
		if err != nil {
			return err
		}
		f.policy = p.name
	}
	if f.session, err = a.findSession(root, f.session, mayBeNew); err != nil {
		return err
	}
	if f.clear {
		return a.clearHints(own, root, f)
	}
	if err := own.AddHint(store.Hint{Root: root, Policy: f.policy, Session: f.session, Text: text, At: time.Now().UTC()}); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "The agent sees it with its next continuation%s.\n", audience(f.policy, f.session))
	return nil
}

func (a *app) clearHints(own *store.Store, root string, f hintFlags) error {
	hints, err := own.Hints(root)
	if err != nil {
		return err
	}
	n := 0
	for _, h := range hints {
		if (f.policy == "" || h.Policy == f.policy) && (f.session == "" || h.Session == f.session) && own.TakeHint(h) {
			n++
		}
	}
	if n == 0 {
		fmt.Fprintln(a.stdout, "no hint waits")
		a.status = exitFindings
		return nil
	}
	fmt.Fprintf(a.stdout, "removed %s\n", plural(n, "hint"))
	return nil
}

// audience says which continuations a hint fits.
func audience(policy, session string) string {
	out := ""
	if policy != "" {
		out += " by " + policy
	}
	if session != "" {
		out += " in session " + session
	}
	return out
}
