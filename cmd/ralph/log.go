package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

type logFlags struct {
	last     int
	policies []string
	session  string
	action   string
	rule     string
	since    string
	follow   bool
	format   string
	project  string
	all      bool
}

func (a *app) logCommand() *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Annotations: exits("there are such decisions", exit{exitFindings, "the log holds no such decision"}),
		Use:         "log",
		Short:       "Show the decisions of this project, one a line",
		Args:        noArgs("--policy"),
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.log(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.last, "last", "n", 20, "how many of the last decisions, 0 for all")
	fl.StringArrayVarP(&f.policies, "policy", "p", nil, "only decisions of this policy `name`; may be repeated")
	sessionVar(fl, &f.session, "only decisions of this session", false)
	fl.StringVar(&f.action, "action", "", "only decisions to stop, or to continue")
	fl.StringVar(&f.rule, "rule", "", "only decisions by the rule of this `name`, by any rule of the include of that name, or by a limit, such as limits.continuations")
	fl.StringVar(&f.since, "since", "", "only decisions since this `time`: 90m, 2d, 2026-11-20 or 2026-11-20T12:00:00Z")
	fl.BoolVarP(&f.follow, "follow", "f", false, "also show each new decision as it is made")
	restrict(cmd, "action", &f.action, rules.Stop.String(), rules.Continue.String())
	formatFlag(cmd, &f.format, "a line", "text", "json")
	projectFlag(fl, &f.project)
	fl.BoolVar(&f.all, "all", false, "show decisions of all projects")
	return cmd
}

// done puts in front of a reason that the work is done.
func done(success bool, reason string) string {
	if !success {
		return reason
	}
	return strings.TrimSuffix("done: "+reason, ": ")
}

func (a *app) log(ctx context.Context, f logFlags) error {
	if err := atLeast("last", 0, f.last); err != nil {
		return err
	}
	p, err := a.opened(f.project, f.all)
	if err != nil {
		return err
	}
	defer p.Close()
	q := project.Query{Policies: f.policies, Action: f.action, Rule: f.rule, Last: f.last}
	if q.Session, err = p.Session(ctx, f.session, false); err != nil {
		return err
	}
	if f.since != "" {
		if q.Since, err = parseSince(f.since, time.Now()); err != nil {
			return err
		}
	}
	entries, err := p.History(q)
	if err != nil {
		return err
	}
	if len(entries) == 0 && !f.all {
		if err := policiesExist(p, f.policies); err != nil {
			return err
		}
	}
	columns, paint := newLogColumns(), a.palette()
	show := func(number string, e project.Entry) {
		if f.format == "json" {
			fmt.Fprintf(a.stdout, "%s\n", e.Line)
			return
		}
		columns.fit(number, e)
		columns.write(a.stdout, paint, number, e, e.Goal(ctx), f.all)
	}
	if f.follow {
		ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer cancel()
		return p.Follow(ctx, q, func(e project.Entry) { show(e.ID, e) })
	}
	if len(entries) == 0 {
		a.noDecision(f.all || len(f.policies) > 0 || f.session+f.action+f.rule+f.since != "")
		return nil
	}
	number := func(e project.Entry) string {
		if f.all {
			return e.ID
		}
		return strconv.Itoa(e.Number)
	}
	if f.format == "text" {
		sessions, err := p.Sessions(ctx) // what is shown of an ID is unique among those that --session knows
		if err != nil {
			return err
		}
		columns.distinguish(sessions)
		for _, e := range entries {
			columns.fit(number(e), e)
		}
		columns.head(a.stdout, paint, f.all)
	}
	for _, e := range entries {
		show(number(e), e)
	}
	return nil
}

// opened opens the project of a command, or with all none, which means all.
func (a *app) opened(flag string, all bool) (*project.Project, error) {
	if all {
		return project.Open(a.in(""))
	}
	return a.open(flag)
}

// policiesExist fails with the first policy that does not exist. One whose decisions are in the
// log may be gone since.
func policiesExist(p *project.Project, names []string) error {
	for _, name := range names {
		if _, err := p.Find(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// noDecision reports that the log holds no decision, or none that is asked for.
func (a *app) noDecision(asked bool) {
	none := "the decision log has no such decision"
	if !asked {
		none = "the decision log has no decision of this project yet; if an agent has stopped here, see: ralph doctor"
	}
	fmt.Fprintln(a.stderr, "ralph: "+none)
	a.status = exitFindings
}

// logColumns are the widths of the columns of the log that differ.
type logColumns struct {
	sessions       map[string]bool
	prefix         int // how much of a session's id is shown: as much as distinguishes the sessions
	number         int
	session, agent int
	policy, by     int
}

func newLogColumns() *logColumns {
	return &logColumns{sessions: map[string]bool{}, prefix: 8, session: 8, policy: 14, by: 16}
}

// fit makes room for a decision.
func (c *logColumns) fit(number string, e project.Entry) {
	if !c.sessions[e.Session] { // -f shows it as it comes
		c.distinguish(append(slices.Collect(maps.Keys(c.sessions)), e.Session))
	}
	c.number = max(c.number, len(number))
	c.session = max(c.session, utf8.RuneCountInString(e.Session))
	c.agent = max(c.agent, utf8.RuneCountInString(agentName(e)))
	c.policy, c.by = max(c.policy, utf8.RuneCountInString(e.Policy)), max(c.by, utf8.RuneCountInString(e.By()))
}

// distinguish shows as much of the IDs of sessions as distinguishes them.
func (c *logColumns) distinguish(sessions []string) {
	slices.Sort(sessions)
	for i, s := range sessions {
		c.sessions[s] = true
		if i > 0 {
			c.prefix = max(c.prefix, commonPrefix(sessions[i-1], s)+1)
		}
	}
}

// commonPrefix counts the characters at the beginning that two texts have in common.
func commonPrefix(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// name is the beginning of the session's id, as --session takes it, and of the subagent's.
func (c *logColumns) name(l project.Entry) string {
	return firstRunes(cmp.Or(l.Session, "-"), c.prefix) + agentName(l)
}

func agentName(l project.Entry) string {
	if l.Agent == "" {
		return ""
	}
	return "/" + firstRunes(l.Agent, 8)
}

func firstRunes(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n])
	}
	return s
}

func (c *logColumns) line(number, when, verdict, session, policy, by string) string {
	return fmt.Sprintf("%*s  %-19s  %s  %-*s  %-*s  %-*s  ", c.number, number, when, verdict, min(c.session, c.prefix)+c.agent, session, c.policy, policy, c.by, by)
}

func (c *logColumns) head(w io.Writer, paint palette, ids bool) {
	number := "#"
	if ids {
		number = "id"
	}
	fmt.Fprintln(w, paint.in(bold, c.line(number, "time", "verdict ", "session", "policy", "by")+"reason"))
}

func (c *logColumns) write(w io.Writer, paint palette, number string, l project.Entry, goal string, root bool) {
	verdict := l.Verdict()
	shade := map[string]string{rules.Continue.String(): green, rules.Stop.String(): yellow}[verdict]
	fmt.Fprint(w, c.line(number, l.Time.Local().Format(time.DateTime), paint.in(shade, fmt.Sprintf("%-8s", verdict)), c.name(l), l.Policy, l.By())+cut(done(l.Success, l.Said()), 100))
	if l.Event != host.Stop && l.Event != "" {
		fmt.Fprintf(w, "  (%s)", l.Event)
	}
	if l.Rule != "" && len(l.Noted) > 0 {
		fmt.Fprintf(w, "  (note by %s)", strings.Join(l.Noted, ", "))
	}
	if goal != "" {
		fmt.Fprintf(w, "  (goal: %s)", goal)
	}
	if root {
		fmt.Fprintf(w, "  [%s]", l.Root)
	}
	fmt.Fprintln(w)
}

// parseSince reads a point in time, or how long ago it was.
func parseSince(s string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since takes a time such as 90m, 2d, 2026-11-20 or 2026-11-20T12:00:00Z, not %q", s)
}
