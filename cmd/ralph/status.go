package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

func (a *app) statusCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show every loop of the project",
		Args:  noArgs(""),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.showStatus(cmd.Context(), format) },
	}
	formatFlag(cmd, &format, "the report", "text", "json")
	return cmd
}

func (a *app) showStatus(ctx context.Context, format string) error {
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	report, err := p.Status(ctx)
	if err != nil {
		return err
	}
	if format == "json" {
		return a.encodeJSON(report)
	}
	a.writeStatus(ctx, p, report, time.Now())
	return nil
}

func (a *app) writeStatus(ctx context.Context, p *project.Project, report *project.Status, now time.Time) {
	paint := a.palette()
	if report.Off != "" {
		fmt.Fprintf(a.stdout, "all loops are off: %s; %s\n", report.Off, a.turnOn())
	}
	for _, o := range report.Paused {
		fmt.Fprintf(a.stdout, "paused: %s, %s; run `ralph resume %s` to resume it\n", pausedWhat(o), ago(now, o.At), pausedArgs(o))
	}
	a.sideBySide(report, now)
	for _, info := range report.Runs {
		fmt.Fprintf(a.stdout, "%s: %s\n", paint.in(bold, "run "+info.ID), stateWords(info, p.Advice(ctx, info)))
		if info.Running {
			info.Totals.Elapsed += max(0, now.Sub(info.Latest))
		}
		fmt.Fprintf(a.stdout, "  policy    %s\n  client    %s\n  used      %s of %d, %s\n", project.Short(info.Policy), info.Client, amount.Of(info.Totals.Iterations, "iteration"), info.Limits.Iterations, used(info.Totals))
		fmt.Fprintf(a.stdout, "  since     %s, %s\n", info.Started.Local().Format(time.DateTime), ago(now, info.Started))
	}
	if len(report.Loops)+len(report.Runs) == 0 {
		fmt.Fprintln(a.stdout, "no loop in this project, and no hook that runs ralph")
	}
	for _, l := range report.Loops {
		a.showLoop(l, now)
	}
	for _, u := range report.Unread {
		fmt.Fprintf(a.stdout, "a hook that ralph cannot read: %s: %s\n", escape.Line(u.File), escape.Line(u.What))
	}
	for _, h := range report.Hints {
		fmt.Fprintf(a.stdout, "hint for the next continuation%s, %s: %s\n", audience(h.Policy, h.Session), ago(now, h.At), cut(oneLine(h.Text), 100))
	}
	for _, file := range report.Shadows {
		fmt.Fprintf(a.stdout, "%s replaces the shipped policy %s\n", file, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	for _, f := range report.Finished {
		line := fmt.Sprintf("%s: %s, %s by %s: %s", f.Result, project.Short(f.Policy), ago(now, f.At), f.By, cut(f.Reason, 100))
		fmt.Fprintln(a.stdout, escape.Line(strings.TrimSuffix(line, ": ")))
		a.field("loop", f.Name)
		a.field("goal", f.Goal)
		a.field("file", f.File)
		a.field("run", f.Run)
	}
}

// sideBySide prints each of several loops and runs on one line.
func (a *app) sideBySide(report *project.Status, now time.Time) {
	var rows [][]string
	for _, info := range report.Runs {
		word, _ := project.RunState(info)
		rows = append(rows, []string{"run " + info.ID, word, amount.Of(info.Totals.Iterations, "iteration"), ago(now, info.Latest), project.Short(info.Policy)})
	}
	for _, l := range report.Loops {
		row := []string{project.Short(l.Policy), string(l.State), "", "", l.Name}
		if m := l.Measure; m != nil && m.Total > 0 {
			row[2] = measured(m.Done, m.Total)
		}
		if l.Last != nil {
			row[3] = string(l.Last.Outcome) + " " + ago(now, l.Last.At)
		}
		rows = append(rows, row)
	}
	if len(rows) < 2 {
		return
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = cut(escape.Line(cell), 40)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], cell)
		}
		fmt.Fprintln(a.stdout, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(a.stdout)
}

// stateText returns the state of a policy, with its counts.
func stateText(l project.Loop, now time.Time) string {
	text := string(l.State)
	switch {
	case l.State == project.StateSilent && l.Last != nil && l.Heard.Equal(l.Last.At): // perhaps the host has no file of the session
		text = "last stop " + ago(now, l.Heard)
	case l.State == project.StateSilent:
		text = "not heard of since " + clock(l.Heard, now) + ", " + ago(now, l.Heard)
	case l.Last != nil && slices.Contains([]project.State{project.StateDone, project.StateLimit, project.StateEnded, project.StateFailed}, l.State):
		text += ", " + ago(now, l.Last.At)
	}
	for _, c := range l.Limits {
		if c.Name == "continuations" {
			text += fmt.Sprintf(", continuation %d of %d in this streak", c.At, c.Of)
		}
	}
	return text
}

// capText returns what a host itself allows, after its settings.
func capText(cap int) string {
	switch cap {
	case 0:
		return ""
	case 1:
		return ", which ends after 1 continuation of a prompt; `ralph run` has no such limit"
	}
	return fmt.Sprintf(", which ends after %d continuations of a prompt", cap)
}

// turnOn returns what turns loops on that are off.
func (a *app) turnOn() string {
	if _, env := workspace.Off("", a.getenv); env {
		return "unset RALPH_OFF in the environment of the agent"
	}
	return "run `ralph resume` to turn them on"
}

// field prints a named value unless it is empty. It escapes content of the project's files.
func (a *app) field(name, value string) {
	if value != "" {
		fmt.Fprintf(a.stdout, "  %-9s %s\n", name, escape.Line(value))
	}
}

// showLoop prints a policy and its loop with the state.
func (a *app) showLoop(l project.Loop, now time.Time) {
	paint := a.palette()
	fmt.Fprintf(a.stdout, "%s: %s\n", paint.in(bold, escape.Line(project.Short(l.Policy))), paint.in(stateShade(l.State), stateText(l, now)))
	a.writeLoop(l, now, false)
}

// writeLoop prints a loop. A loop that was just started has a known file and no decision.
func (a *app) writeLoop(l project.Loop, now time.Time, started bool) {
	if !started {
		for _, h := range l.Hooks {
			a.field("hook", h.Host+", "+h.File+capText(h.Cap))
		}
		for i, line := range strings.Split(l.Why, "\n") {
			a.field([]string{"why", ""}[min(i, 1)], line)
		}
		for _, problem := range l.Problems {
			a.field("problem", problem)
		}
	}
	if l.Name != l.File {
		a.field("loop", l.Name)
	}
	if !strings.HasPrefix(l.Name, l.Goal) {
		a.field("goal", l.Goal)
	}
	if l.File != "" {
		if !started {
			a.field("file", l.File+", changed "+ago(now, l.Changed))
		}
		if l.Owner == "" {
			a.field("owner", "none, every session")
		} else {
			a.field("owner", "session "+l.Owner)
		}
	}
	if m := l.Measure; m != nil && m.Total > 0 {
		a.field("measure", measured(m.Done, m.Total))
	}
	if started {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.Memory)) {
		a.field("memory", name+" = "+cut(jsonText(l.Memory[name]), 100))
	}
	most := ""
	for _, c := range l.Limits {
		switch c.Name {
		case "repeats":
			a.field("repeats", fmt.Sprintf("%d of %d without progress", c.At, c.Of))
		case "elapsed":
			most = ", at most " + amount.Time(time.Duration(c.Of))
		}
	}
	if !l.Since.IsZero() {
		a.field("since", l.Since.Local().Format(time.DateTime)+", "+ago(now, l.Since)+most)
	}
	if l.Last == nil {
		if l.File != "" {
			a.field("decision", "none yet")
		}
		return
	}
	a.field("decision", decision(*l.Last, now))
	in := l.Last.Session
	if l.Last.Agent != "" {
		in += ", agent " + l.Last.Agent
	}
	if l.Last.Host != "" {
		in += ", " + l.Last.Host
	}
	if l.Owner == "" || in != l.Owner {
		a.field("session", strings.TrimPrefix(in, ", "))
	}
}

// decision returns the last decision of a policy on one line.
func decision(l project.Last, now time.Time) string {
	return fmt.Sprintf("%s by %s, %s: %s", l.Outcome, l.By, ago(now, l.At), cut(l.Reason, 100))
}
