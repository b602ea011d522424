package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop/replay"
	"github.com/ralph-sdk/ralph/project"
)

type replayFlags struct {
	policy   string
	recorded string
	project  string
	session  string
	set      []string
	last     int
	format   string
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Annotations: exits("no decision differs", exit{exitFindings, "a decision differs"}),
		Use:         "replay --policy NEW",
		Short:       "Decide recorded decisions again with a changed policy",
		Args:        noArgs("--policy"),
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.replay(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.policy, "policy", "p", workspace.DefaultPolicy, "policy `file`, or name of a shipped policy, that decides now")
	fl.StringVar(&f.recorded, "recorded", "", "`name` of the policy that decided then; NEW's own by default, or the only one in the log")
	projectFlag(fl, &f.project)
	sessionVar(fl, &f.session, "only decisions of this session", false)
	setFlag(fl, &f.set)
	fl.IntVarP(&f.last, "last", "n", 100, "how many decisions, the latest; 0 for all")
	formatFlag(cmd, &f.format, "the report", "text", "json")
	return cmd
}

// replayReport is what replay found.
type replayReport struct {
	Policy    string          `json:"policy"`
	Recorded  string          `json:"recorded"`
	Decisions []replay.Result `json:"decisions"`
	Same      int             `json:"same"`
	Differs   int             `json:"differs"`
	Unknown   int             `json:"unknown"`
}

func (a *app) replay(ctx context.Context, f replayFlags) error {
	if err := atLeast("last", 0, f.last); err != nil {
		return err
	}
	p, err := a.open(f.project)
	if err != nil {
		return err
	}
	defer p.Close()
	policy, err := p.Open(ctx, p.AtHand(f.policy), project.Load{Set: f.set})
	if err != nil {
		return err
	}
	if f.session, err = p.Session(ctx, f.session, false); err != nil {
		return err
	}
	entries, err := p.History(project.Query{Session: f.session, Match: isDecision})
	if err != nil {
		return err
	}
	if len(entries) == 0 && f.session != "" {
		return fmt.Errorf("the decision log has no decision of session %s", f.session)
	}
	out := replayReport{Policy: policy.Name, Decisions: []replay.Result{}}
	if out.Recorded, err = decidedBy(entries, f.recorded, policy.Name); err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e project.Entry) bool { return e.Policy != out.Recorded })
	if f.last > 0 && len(entries) > f.last {
		entries = entries[len(entries)-f.last:]
	}
	for _, e := range entries {
		r, err := e.Record()
		if err != nil {
			return err
		}
		result := replay.Decide(ctx, policy.Program, r)
		switch result.Outcome {
		case replay.Same:
			out.Same++
		case replay.Differs:
			out.Differs++
			a.status = exitFindings
		default:
			out.Unknown++
		}
		out.Decisions = append(out.Decisions, result)
	}
	if f.format == "json" {
		return a.encodeJSON(out)
	}
	return writeReplay(a.stdout, out)
}

// decidedBy chooses the policy whose decisions are replayed.
func decidedBy(entries []project.Entry, asked, name string) (string, error) {
	policies := map[string]bool{}
	for _, r := range entries {
		policies[r.Policy] = true
	}
	all := slices.Sorted(maps.Keys(policies))
	base := func(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }
	switch {
	case len(all) == 0:
		return "", errors.New("the decision log has no decisions of this project and session; see: ralph log")
	case asked != "" && !policies[asked]:
		return "", fmt.Errorf("the decision log has no decision of %s, only of %s", asked, strings.Join(all, ", "))
	case asked != "":
		return asked, nil
	case policies[name]:
		return name, nil
	}
	var alike []string
	for _, p := range all {
		if base(p) == base(name) {
			alike = append(alike, p)
		}
	}
	switch {
	case len(alike) == 1:
		return alike[0], nil
	case len(all) == 1:
		return all[0], nil
	}
	return "", fmt.Errorf("%s has decided nothing yet; with --recorded name the policy that decided then: %s", name, strings.Join(all, ", "))
}

// writeReplay writes one line a decision and the counts.
func writeReplay(w io.Writer, r replayReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "decisions of %s, decided again by %s\n", r.Recorded, r.Policy)
	for _, d := range r.Decisions {
		what := d.Then.String()
		switch d.Outcome {
		case replay.Differs:
			what += "  →  " + d.Now.String()
		case replay.Unknown:
			what += "  →  unknown: " + strings.Join(d.Why, "; ")
		}
		fmt.Fprintf(&b, "%s  %-7s  %s\n", d.Time.Local().Format(time.DateTime), d.Outcome, what)
	}
	fmt.Fprintf(&b, "%s: %d same, %d different, %d unknown\n", plural(len(r.Decisions), "decision"), r.Same, r.Differs, r.Unknown)
	_, err := io.WriteString(w, b.String())
	return err
}
