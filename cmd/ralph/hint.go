package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/amount"
)

type hintFlags struct {
	policy  string
	session string
	revoke  bool
}

func (a *app) hintCommand() *cobra.Command {
	var f hintFlags
	cmd := &cobra.Command{
		Annotations: exits("the hint waits, or with --revoke was withdrawn", exit{exitFindings, "with --revoke: no hint waits"}),
		Use:         "hint TEXT...",
		Short:       "Show the agent a text with its next continuation",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.hint(cmd.Context(), f, strings.TrimSpace(strings.Join(args, " ")))
		},
	}
	cmd.Flags().StringVarP(&f.policy, "policy", "p", "", "only with a continuation by this policy: a `name` or a file")
	sessionVar(cmd.Flags(), &f.session, "only in this session", false)
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "withdraw the hints that wait; with --policy or --session only those for it")
	rejects(cmd, func(cmd *cobra.Command, args []string) error {
		text := strings.TrimSpace(strings.Join(args, " "))
		wrong := []error{wrongIf(f.revoke && text != "", "--revoke takes no text: it withdraws the hints that wait"),
			wrongIf(!f.revoke && text == "", "write the text for the agent: ralph hint TEXT")}
		var policies []string
		if f.policy != "" {
			policies = append(policies, f.policy)
		}
		return errors.Join(append(wrong, a.unknown(cmd.Context(), f.session, policies...))...)
	})
	return cmd
}

func (a *app) hint(ctx context.Context, f hintFlags, text string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	if f.session, err = p.Session(ctx, f.session, false); err != nil {
		return err
	}
	if !f.revoke {
		h, err := p.Hint(ctx, text, f.policy, f.session)
		if err == nil {
			fmt.Fprintf(a.stdout, "The agent sees it with its next continuation%s.\n", audience(h.Policy, h.Session))
		}
		return err
	}
	n, err := p.ClearHints(ctx, f.policy, f.session)
	switch {
	case err != nil:
		return err
	case n == 0:
		fmt.Fprintln(a.stdout, "no hint waits")
		a.status = exitFindings
	default:
		fmt.Fprintf(a.stdout, "withdrew %s\n", amount.Of(n, "hint"))
	}
	return nil
}

// audience describes the continuations that show a hint.
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
