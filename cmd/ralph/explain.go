package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

func (a *app) explainCommand() *cobra.Command {
	var now bool
	var input string
	var names []string
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show why the last decision was made: each rule, its operands and their values",
		Args:  noArguments,
		RunE: a.here(func(ctx context.Context, p project.Project, home *project.Home, _ []string) error {
			switch {
			case input != "" && now:
				return errors.New("write --now or --input, not both")
			case input != "":
				return a.explainInput(ctx, home, input, names)
			case now:
				ev := loop.Event{Dir: p.Root}
				if all, _ := home.Decisions(p); len(all) > 0 {
					ev.Session = all[len(all)-1].Session // whose counts would count
				}
				return a.explainEvent(ctx, home, p, ev, names, true)
			}
			return a.explainLast(home, p, names)
		}),
	}
	cmd.Flags().BoolVar(&now, "now", false, "decide now, without starting a program or asking a model, and change nothing")
	cmd.Flags().StringVarP(&input, "input", "i", "", "decide the event in this `file`, and change nothing; - is stdin")
	cmd.Flags().StringArrayVar(&names, "policy", nil, "decide by the policy of this `name` or file; may be repeated (default "+project.Default+")")
	return cmd
}

// explainLast shows the last decision of the project, or of some of its policies.
func (a *app) explainLast(home *project.Home, p project.Project, names []string) error {
	all, err := home.Decisions(p)
	if err != nil {
		return err
	}
	for i, name := range names { // a file may have been typed
		if policy, err := p.Policy(name); err == nil {
			names[i] = policy.Name
		}
	}
	for _, r := range slices.Backward(all) {
		if len(names) == 0 || slices.Contains(names, r.Policy) {
			fmt.Fprintf(a.stdout, "%s %s\n", r.Time.Local().Format("2006-01-02 15:04:05"), r.Event)
			a.show(r.Policy, rules.Verdict{Outcome: r.Outcome, Rule: r.Rule, Reason: r.Reason, Trace: &rules.Trace{Rules: r.Rules, Facts: r.Facts}})
			for _, h := range a.hosts(p, r.Policy) {
				if most, limit := h.Limit(a.getenv); r.Outcome == rules.Continued && most > 0 && r.Counts.Continuations >= most {
					fmt.Fprintln(a.stdout, limit)
				}
			}
			return nil
		}
	}
	return fmt.Errorf("the log has no decision of %s: ralph explain --now shows what would be decided", p.Root)
}

// explainInput decides an event as a host sends it.
func (a *app) explainInput(ctx context.Context, home *project.Home, input string, names []string) error {
	from := a.stdin
	if input != "-" {
		f, err := os.Open(input)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	_, ev, err := a.event("", from)
	if err != nil {
		return err
	}
	p, err := project.Find(ev.Dir, a.getenv)
	if err != nil {
		return err
	}
	return a.explainEvent(ctx, home, p, ev, names, false)
}

// explainEvent shows what would be decided. Quiet, it starts no program and asks no model.
func (a *app) explainEvent(ctx context.Context, home *project.Home, p project.Project, ev loop.Event, names []string, quiet bool) error {
	opened := home.Hook(ctx, p, names, nil, project.Settings{Quiet: quiet, Loop: []loop.Option{loop.WithClock(a.now)}})
	if len(opened) == 0 {
		_, err := p.Policy(project.Default)
		return err
	}
	for _, o := range opened {
		if o.Err != nil {
			fmt.Fprintf(a.stdout, "%s: failed: %s\n", o.Name, text.Clean(o.Err.Error()))
			continue
		}
		v, err := o.Loop.Explain(ctx, ev)
		if err != nil {
			return err
		}
		a.show(o.Name, v)
	}
	return nil
}

// show prints a decision: the outcome, each rule that was tried with its operands, the facts, and the effects.
func (a *app) show(policy string, v rules.Verdict) {
	fmt.Fprintf(a.stdout, "%s: %s%s\n", policy, v.Outcome, by(v.Rule))
	if v.Reason != "" {
		fmt.Fprintf(a.stdout, "  %s\n", text.Line(text.Cut(v.Reason, 200)))
	}
	t := v.Trace
	if t == nil {
		return
	}
	if len(t.Rules) > 0 {
		fmt.Fprintln(a.stdout, "rules")
	}
	for _, r := range t.Rules {
		fmt.Fprintf(a.stdout, "  %-7s %s (line %d)\n", r.Truth, r.Name, r.Line)
		for _, o := range r.Operands {
			fmt.Fprintf(a.stdout, "    %-7s %s%s\n", o.Truth, text.Line(o.Text), detail(o))
		}
	}
	if len(t.Facts) > 0 {
		fmt.Fprintln(a.stdout, "facts")
	}
	for _, f := range t.Facts {
		fmt.Fprintln(a.stdout, strings.TrimRight(fmt.Sprintf("  %-7s %s %s", f.Status, f.Name, text.Line(f.Path)), " "))
		if f.Problem != "" {
			fmt.Fprintf(a.stdout, "          %s\n", text.Line(strings.ReplaceAll(f.Problem, "\n", "; ")))
		}
	}
	if len(v.Effects) > 0 {
		fmt.Fprintln(a.stdout, "effects")
	}
	for _, e := range v.Effects {
		fmt.Fprintf(a.stdout, "  %s\n", text.Line(text.Cut(e.String(), 200)))
	}
}

// detail says why an operand is unknown, or what it read.
func detail(o rules.OperandTrace) string {
	if o.Why != "" {
		return "   because " + text.Line(o.Why)
	}
	var with []string
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		value, ok := o.Values[name].(string)
		if !ok {
			value = text.JSON(o.Values[name])
		}
		with = append(with, name+" = "+text.Line(text.Cut(value, 60)))
	}
	if len(with) == 0 {
		return ""
	}
	return "   with " + strings.Join(with, ", ")
}
