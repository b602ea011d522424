package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

type graphFlags struct {
	out, format, situation string
	log                    bool
	set                    []string
}

func (a *app) graphCommand() *cobra.Command {
	var f graphFlags
	formats := []string{"text", "svg", "mermaid", "json"}
	cmd := &cobra.Command{
		Use:   "graph [POLICY]",
		Short: "Draw how a policy decides: its rules, what they decide, and the facts that they read",
		Args:  atMostOne("policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.graph(cmd.Context(), workspace.OrDefault(args)[0], f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "write to this `file` (default: stdout)")
	fl.StringVarP(&f.format, "format", "o", "", "draw as "+alternatives(formats)+" (default: text on a terminal, else svg)")
	restrict(cmd, "format", &f.format, formats...)
	fl.BoolVar(&f.log, "log", false, "count the decisions of this project that each rule was tried and held in, as the decision log has them")
	fl.StringVar(&f.situation, "situation", "", "mark the path of the situation in this `file`, JSON with the keys of given in a test; - is stdin")
	setFlag(fl, &f.set)
	rejects(cmd, func(cmd *cobra.Command, args []string) error {
		return a.unknown(cmd.Context(), "", workspace.OrDefault(args)...)
	})
	return cmd
}

func (a *app) graph(ctx context.Context, name string, f graphFlags) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	policy, err := a.findOrRead(p, name)
	if err != nil {
		return err
	}
	var draft policytest.Draft
	if f.situation != "" {
		if draft, err = a.situation(f.situation); err != nil {
			return err
		}
		set, _ := draft.Given["set"].(map[string]any) // also for the picture
		for _, name := range slices.Sorted(maps.Keys(set)) {
			f.set = append(f.set, name+"="+fmt.Sprint(set[name]))
		}
		delete(draft.Given, "set")
	}
	if policy, err = p.Load(ctx, policy, project.Load{Set: f.set}); err != nil {
		return err
	}
	var marks graph.Marks
	if f.log {
		marks.Counts, err = countLog(p, policy)
	}
	if err == nil && f.situation != "" {
		marks.Way, err = wayOf(ctx, p, policy, draft)
	}
	if err != nil {
		return err
	}
	return a.writeGraph(ctx, graph.New(policy.Program, marks), f)
}

// countLog counts the project's decisions by the current version of the policy.
func countLog(p *project.Project, policy project.Policy) (*graph.Counts, error) {
	entries, err := p.History(project.Query{Policies: []string{policy.Name}, Match: isDecision})
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("the decision log has no decision by %s in this project", policy.Name)
	}
	if err != nil {
		return nil, err
	}
	c, digest := &graph.Counts{Of: "decisions"}, policy.Digest()
	for _, e := range entries {
		if e.Digest != digest {
			c.Older++
			continue
		}
		c.Add(e.Trace.Steps, cmp.Or(e.Rule, string(e.Cause)))
	}
	return c, nil
}

// situation reads a situation.
func (a *app) situation(file string) (policytest.Draft, error) {
	src, err := a.read("the situation", "", file, maxInput)
	if err != nil {
		return policytest.Draft{}, err
	}
	draft, err := policytest.FromSituation(src)
	if draft.Note != "" {
		fmt.Fprintf(a.stderr, "ralph: %s\n", draft.Note)
	}
	return draft, err
}

// wayOf decides a situation, and returns its way.
func wayOf(ctx context.Context, p *project.Project, policy project.Policy, draft policytest.Draft) (*graph.Way, error) {
	r, err := draft.Decide(ctx, policy.Program, p.Language())
	w := &graph.Way{Steps: r.Trace.Steps, Decided: r.Rule, Ended: endedAt(r)}
	if err == nil && r.Rule == "" && r.Cause != "" && w.Ended == "" {
		err = fmt.Errorf("no rule decides this situation: %s", r.Reason)
	}
	return w, err
}

// endedAt returns the part of a policy's head at which a decision ended, "" if rules were tried.
func endedAt(r loop.Record) string {
	switch when, on := r.Trace.When, r.Trace.On; {
	case len(r.Trace.Steps) > 0 || r.Cause == "":
		return ""
	case when != nil && when.Outcome != rules.Holds:
		return "when"
	case on != nil && on.Outcome != rules.Holds:
		return "on"
	case r.Loop == nil && len(r.Trace.Facts) > 0:
		return "state"
	case r.Loop != nil && r.Loop.Owner != "":
		return "owner"
	}
	return ""
}

func (a *app) writeGraph(ctx context.Context, g *graph.Graph, f graphFlags) (err error) {
	terminal, shown := terminalOf(unscreened(a.stdout))
	if f.format == "" && shown && f.out == "" {
		f.format = "text"
	}
	var out []byte
	switch f.format {
	case "text":
		width := 100
		if shown {
			width = widthOf(terminal)
		}
		out = []byte(g.Text(width))
	case "mermaid":
		out, err = g.Mermaid()
	case "json":
		out, err = asJSON(g)
	default:
		out = g.SVG()
	}
	switch {
	case err != nil:
		return err
	case f.out != "":
		return rewrite(ctx, f.out, func([]byte) ([]byte, error) { return out, nil })
	}
	_, err = a.stdout.Write(out)
	return err
}
