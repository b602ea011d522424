package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop/simulate"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

type simulateFlags struct {
	project  string
	agent    string
	turns    int
	maxStops int
	seed     uint64
	step     time.Duration
	run      bool
	ownRun   bool // the user says whether it is a run
	set      []string
	format   string
}

func (a *app) simulateCommand() *cobra.Command {
	var f simulateFlags
	kinds := make([]string, len(simulate.Kinds()))
	for i, k := range simulate.Kinds() {
		kinds[i] = string(k)
	}
	cmd := &cobra.Command{
		Use:   "simulate [POLICY]",
		Short: "Run a policy against a scripted agent: does the loop end?",
		Long: "simulate lets a scripted agent work and stop, turn after turn, in a copy of a project, and shows\n" +
			"each decision in a line. No model is asked, no program is run, time is virtual, and nothing\n" +
			"outside of the copy changes. The same seed gives the same run.\n\n" +
			"The agents are: " + strings.Join(kinds, ", ") + ". An honest one does the work that the\n" +
			"policy's files show, a stuck one gets nowhere, a forgetful one writes nothing down, a lying one\n" +
			"says at once that all is done, a crashing one leaves half a file, a random one does all of that.\n\n" +
			"With --run the agent works by iterations of ralph run, as a policy expects that reads run.*:\n" +
			"one turn, in which each has a fresh session. A random agent meets the outcomes too.",
		Example: "  ralph simulate speckit --agent all\n" +
			"  ralph simulate speckit --agent stuck --set reentry=always\n" +
			"  ralph simulate .ralph/policy.yaml --project . --agent random --seed 7",
		Args: atMostOne("policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.ownRun = cmd.Flags().Changed("run")
			return a.simulate(cmd.Context(), orDefault(args)[0], f)
		},
	}
	fl := cmd.Flags()
	projectFlag(fl, &f.project).Usage = "project `dir` to copy (default: the demo of the policy, else an empty project)"
	fl.StringVarP(&f.agent, "agent", "a", "honest", "`kind` of agent, or all: "+strings.Join(kinds, ", "))
	restrict(cmd, "agent", &f.agent, append(kinds, "all")...)
	fl.IntVar(&f.turns, "turns", 3, "how many prompts the user sends")
	fl.IntVar(&f.maxStops, "max-stops", 200, "stops within one turn after which the loop counts as endless")
	fl.Uint64Var(&f.seed, "seed", 1, "`number` that decides what is left to chance")
	fl.DurationVar(&f.step, "step", 30*time.Second, "virtual time between two stops")
	fl.BoolVar(&f.run, "run", false, "iterations of ralph run in the place of stops (default: if the policy has run, or reads run.*)")
	setFlag(fl, &f.set)
	formatFlag(cmd, &f.format, "the report", "text", "json")
	return cmd
}

func (a *app) simulate(ctx context.Context, name string, f simulateFlags) error {
	if f.turns < 1 || f.maxStops < 1 || f.step <= 0 {
		return errors.New("--turns, --max-stops and --step must be greater than 0")
	}
	p, program, err := a.openToTry(ctx, "", name, f.set)
	if err != nil {
		return err
	}
	project, err := simulated(p, f.project)
	if err != nil {
		return err
	}
	kinds := []simulate.Kind{simulate.Kind(f.agent)}
	if f.agent == "all" {
		kinds = simulate.Kinds()
	}
	if !f.ownRun {
		f.run = program.Run != nil || slices.ContainsFunc(program.Uses().Names, func(u rules.Use) bool { return strings.HasPrefix(u.Name, "run.") })
	}
	reports := []*simulate.Report{}
	for _, kind := range kinds {
		r, err := simulate.Run(ctx, program, simulate.Options{
			Name: p.name, Project: project, Agent: kind, Seed: f.seed, Turns: f.turns, MaxStops: f.maxStops, Step: f.step, Run: f.run,
		})
		if err != nil {
			return err
		}
		if !r.Ended {
			a.status = exitFindings
		}
		reports = append(reports, r)
	}
	if f.format == "json" {
		return a.encodeJSON(reports)
	}
	return writeSimulation(a.stdout, reports, program, f)
}

// simulated finds the project to copy: the one that is named, else the demo of the
// policy. An empty one is better than a project that the user did not name.
func simulated(p policy, named string) (fs.FS, error) {
	if named != "" {
		info, err := os.Stat(named)
		if err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--project %s: there is no such folder", named)
		}
		return state.Files(named), nil
	}
	if p.shipped {
		if _, err := fs.Stat(examples.Demos, p.name+"/demo"); err != nil {
			return nil, nil
		}
		return fs.Sub(examples.Demos, p.name+"/demo")
	}
	dir := filepath.FromSlash(p.name)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.project, dir)
	}
	demo := filepath.Join(filepath.Dir(dir), "demo")
	if info, err := os.Stat(demo); err == nil && info.IsDir() {
		return state.Files(demo), nil
	}
	return nil, nil
}

// alike counts the stops at the beginning of the list that differ in nothing but
// their number: a loop that stands still is one line.
func alike(stops []simulate.Stop) int {
	n := 1
	for n < len(stops) && shown(stops[n]) == shown(stops[0]) && stops[n].Turn == stops[0].Turn && stops[n].Stop > 1 {
		n++
	}
	return n
}

// shown is what a line shows of a stop.
func shown(s simulate.Stop) string {
	said := s.Reason
	switch {
	case s.Error != "":
		said = "error: " + s.Error
	case s.Stop == 0 && len(s.Notices) > 0:
		said = strings.Join(s.Notices, " ")
	}
	what := s.Did
	if s.Outcome != "" && s.Outcome != string(run.OK) && !strings.HasPrefix(s.Did, s.Outcome) {
		what += " (" + s.Outcome + ")"
	}
	if said != "" {
		what += " → " + clipped(said, 60)
	}
	return fmt.Sprintf("%-8s  %s\x00%s", s.Action, cmp.Or(s.Rule, "-"), what)
}

func writeStops(b *strings.Builder, stops []simulate.Stop, width int) {
	first, last := stops[0], stops[len(stops)-1]
	at := fmt.Sprint(first.Stop)
	switch {
	case first.Stop == 0:
		at = "-"
	case len(stops) > 1:
		at = fmt.Sprintf("%d-%d", first.Stop, last.Stop)
	}
	verdict, what, _ := strings.Cut(shown(first), "\x00")
	fmt.Fprintf(b, "  %4d  %7s  %-*s  %s\n", first.Turn, at, width+10, verdict, what)
}

// writeSimulation writes one line a decision, and how each run came out.
func writeSimulation(w io.Writer, reports []*simulate.Report, p *rules.Program, f simulateFlags) error {
	var b strings.Builder
	width := len("rule")
	for _, r := range reports {
		for _, s := range r.Stops {
			width = max(width, len(s.Rule))
		}
	}
	for i, r := range reports {
		if i > 0 {
			b.WriteByte('\n')
		}
		how, stops := "", "stops"
		if r.Run {
			how, stops = ", ralph run", "iter."
		}
		fmt.Fprintf(&b, "%s, %s agent, seed %d%s\n", r.Policy, r.Agent, r.Seed, how)
		fmt.Fprintf(&b, "  turn  %7s  verdict   %-*s  what happened\n", stops, width, "rule")
		for n := 0; n < len(r.Stops); {
			like := alike(r.Stops[n:])
			writeStops(&b, r.Stops[n:n+like], width)
			n += like
		}
		b.WriteString("  " + outcome(r, p, f) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcome says in a sentence how a run came out.
func outcome(r *simulate.Report, p *rules.Program, f simulateFlags) string {
	if !r.Ended && r.Run {
		return fmt.Sprintf("it does not end: the agent was started %d times; ralph run ends it by its limit of iterations", r.Most)
	}
	if !r.Ended {
		text := fmt.Sprintf("it does not end: the agent was continued %d times in one turn", r.Most)
		if p.Limits().Continuations > f.maxStops {
			text += fmt.Sprintf("; only limits.continuations would end it, after %d", p.Limits().Continuations)
		}
		return text
	}
	by := "no rule held"
	if r.Last != "" {
		by = "rule " + r.Last
	}
	if len(r.Stops) > 0 && r.Stops[len(r.Stops)-1].Error != "" {
		by = "an error"
	}
	switch {
	case r.Crashed:
		return fmt.Sprintf("it ends: after %s, since the agent crashed three times in a row", plural(r.Most, "iteration"))
	case r.Run:
		return fmt.Sprintf("it ends: after %s, by %s", plural(r.Most, "iteration"), by)
	}
	return fmt.Sprintf("it ends: after at most %s in one turn, the last time by %s", plural(r.Most, "continuation"), by)
}

// clipped is the first line of a text, cut to n runes.
func clipped(s string, n int) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(s); len(runes) > n {
		s, more = string(runes[:n]), true
	}
	if more {
		return s + "…"
	}
	return s
}
