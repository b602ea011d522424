package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/loop"
)

type explainFlags struct {
	evalFlags
	format  string
	session string
	last    int
	tried   bool // not those where the policy could not be used, so that no rule was tried
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show why a decision was made",
		Long: "explain shows a decision: every rule that was reached, what it read, the value of each\n" +
			"operand, the first one that kept it from holding, effects and timings. Without --input\n" +
			"that is the last decision of this project in the decision log; with it the event is\n" +
			"decided now, and nothing is changed.",
		Example: "  ralph explain\n" +
			"  ralph explain --policy speckit --last 3\n" +
			"  ralph explain --policy speckit --input event.json --format json",
		Args: noArgs("--policy"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.explain(cmd.Context(), f) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.input, "input", "i", "", "`file` with an event to decide now, - for stdin")
	formatFlag(cmd, &f.format, "the explanation", "text", "json")
	fl.StringVar(&f.session, "session", "", "only decisions of this session `id`")
	fl.IntVarP(&f.last, "last", "n", 1, "how many of the last decisions, 0 for all")
	fl.BoolVar(&f.private, "private", false, "show prompts, transcript texts and environment values (with --input)")
	return cmd
}

func (a *app) explain(ctx context.Context, f explainFlags) error {
	if err := atLeast("last", 0, f.last); err != nil {
		return err
	}
	var records []loop.Record
	var err error
	if f.input != "" {
		records, err = a.decideNow(ctx, f.evalFlags)
	} else {
		records, err = a.logged(f)
	}
	if err != nil {
		return err
	}
	if f.format == "json" {
		if err := a.encodeJSON(records); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		if err := a.policiesExist(f.project, f.policies); err != nil {
			return err
		}
		a.status = exitFindings
		a.noDecision(len(f.policies) > 0 || f.session != "")
		return nil
	}
	if f.format == "text" {
		for i, r := range records {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			write := func(w io.Writer) error { return writeExplanation(w, r) }
			if err := painted(a.stdout, write, a.palette().explanation); err != nil {
				return err
			}
		}
	}
	return nil
}

// decideNow decides the event of --input and changes nothing.
func (a *app) decideNow(ctx context.Context, f evalFlags) ([]loop.Record, error) {
	f.deadline = loop.DefaultDeadline
	input, err := a.readInput(f.input)
	if err != nil {
		return nil, err
	}
	_, ev, err := a.decode(input, f.host)
	if err != nil {
		return nil, err
	}
	loops, _, err := a.loops(ctx, ev, f)
	if err != nil {
		return nil, err
	}
	if len(loops) == 0 {
		return nil, errors.New("loops are off, because of RALPH_OFF or the file .ralph/off")
	}
	records := make([]loop.Record, len(loops))
	ctx, cancel := context.WithTimeoutCause(ctx, f.deadline, fmt.Errorf("no decision within %s", f.deadline))
	defer cancel()
	for i, d := range rehearse(ctx, ev, loops) {
		records[i] = d.Record(f.private)
	}
	return records, nil
}

// logged finds the latest decisions of this project, oldest first.
func (a *app) logged(f explainFlags) ([]loop.Record, error) {
	root, err := a.projectDir(f.project)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range f.policies {
		p, err := findPolicy(root, name)
		if err != nil {
			p.name, _ = policyFile(root, name) // it may be gone since
			names[name] = true
		}
		names[p.name] = true
	}
	return a.records(root, f.last, func(r loop.Record) bool {
		return (len(names) == 0 || names[r.Policy]) && (f.session == "" || r.Session == f.session) &&
			(!f.tried || r.Error == "" || len(r.Trace.Steps) > 0)
	})
}
