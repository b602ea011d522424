package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

func (a *app) diffCommand() *cobra.Command {
	var format string
	var set []string
	var texts bool
	cmd := &cobra.Command{
		Annotations: exits("the policies always decide alike", exit{exitFindings, "they differ, or may differ"}),
		Use:         "diff OLD [NEW]",
		Short:       "Show states in which two policies decide differently",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errors.New("name the policies to compare, ralph diff OLD [NEW]; without NEW it is " + workspace.DefaultPolicy)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.open()
			if err != nil {
				return err
			}
			defer p.Close()
			var programs [2]*rules.Program
			var wrong [2]error
			for i, name := range oldAndNew(args) {
				var policy project.Policy
				if policy, wrong[i] = a.findOrRead(p, name); wrong[i] == nil {
					policy, wrong[i] = p.Load(cmd.Context(), policy, project.Load{Set: set})
				}
				programs[i] = policy.Program
			}
			if err := errors.Join(wrong[:]...); err != nil {
				return err
			}
			c := rules.Diff(programs[0], programs[1], texts)
			if !c.Same {
				a.status = exitFindings
			}
			if format == "json" {
				return a.encodeJSON(c)
			}
			return writeComparison(a.stdout, c)
		},
	}
	f := cmd.Flags()
	formatFlag(cmd, &format, "the answer", "text", "json")
	f.BoolVar(&texts, "texts", false, "also report a continue or an ask whose text differs")
	setFlag(f, &set).Usage = "set a param of both, as `name=value`; may be repeated"
	rejects(cmd, func(cmd *cobra.Command, args []string) error { return a.unknown(cmd.Context(), "", oldAndNew(args)...) })
	return cmd
}

// oldAndNew returns the policies that a command line compares; none if it does not name any.
func oldAndNew(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	return append(args[:len(args):len(args)], workspace.DefaultPolicy)[:2]
}

// writeComparison writes a comparison as text.
func writeComparison(w io.Writer, c *rules.Comparison) error {
	var b strings.Builder
	pair := func(word string, d rules.Difference) {
		fmt.Fprintf(&b, "%s:\n  old: %s%s\n  new: %s%s\n", word, decisionText(d.Old), placeOf(d.Old), decisionText(d.New), placeOf(d.New))
	}
	for _, d := range c.Differences {
		pair("differ", d)
		situation, err := json.Marshal(d.Situation)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "  = situation: %s\n", situation)
	}
	for _, d := range c.Unknown {
		pair("unknown whether they differ", d)
		fmt.Fprintf(&b, "  = why: %s\n", d.Why)
	}
	for _, s := range c.Uncompared {
		fmt.Fprintf(&b, "unknown: %s\n", s)
	}
	for _, s := range c.Notes {
		fmt.Fprintf(&b, "note: %s\n", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// decisionText returns a decision in a few words.
func decisionText(d rules.Side) string {
	switch {
	case d.Rule == "":
		return "no rule decides, the agent may stop"
	case d.Failed:
		return d.Rule + " stops, because it cannot be evaluated"
	}
	return d.Rule + " " + d.Action.String() + "s"
}

// placeOf returns the position of the deciding rule.
func placeOf(d rules.Side) string {
	if d.Pos.Line == 0 {
		return ""
	}
	return " (" + d.Pos.String() + ")"
}
