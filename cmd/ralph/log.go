package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
)

type logFlags struct {
	last     int
	policies []string
	session  string
	rule     string
	since    string
	follow   bool
	format   string
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
	fl.IntVarP(&f.last, "last", "n", 20, "show this many of the last decisions; 0 shows all")
	fl.StringArrayVarP(&f.policies, "policy", "p", nil, "only show decisions of this policy `name`; may be repeated")
	sessionVar(fl, &f.session, "only show decisions of this session", false)
	fl.StringVar(&f.rule, "rule", "", "only show decisions by the rule of this `name`, by the rules of the include of that name, or by a limit, such as limits.continuations")
	fl.StringVar(&f.since, "since", "", "only show decisions since this `time`: 90m, 2d, 2026-11-20 or 2026-11-20T12:00:00Z")
	fl.BoolVarP(&f.follow, "follow", "f", false, "also show each new decision as it is made")
	formatFlag(cmd, &f.format, "a line", "text", "json")
	fl.BoolVar(&f.all, "all", false, "show decisions of all projects")
	rejects(cmd, func(cmd *cobra.Command, _ []string) error {
		_, err := f.from(time.Now())
		wrong := errors.Join(atLeast("last", 0, f.last), err)
		if f.all {
			return wrong
		}
		return errors.Join(wrong, a.unknown(cmd.Context(), f.session, f.policies...))
	})
	return cmd
}

func (a *app) log(ctx context.Context, f logFlags) error {
	since, err := f.from(time.Now())
	if err != nil {
		return err
	}
	p, err := a.opened(f.all)
	if err != nil {
		return err
	}
	defer p.Close()
	q := project.Query{Policies: f.policies, Rule: f.rule, Last: f.last, Since: since}
	if q.Session, err = p.Session(ctx, f.session, false); err != nil {
		return err
	}
	entries, err := p.History(q)
	if err != nil {
		return err
	}
	if len(entries) == 0 && !f.follow {
		a.noDecision(f.all || len(f.policies) > 0 || f.session+f.rule+f.since != "")
		return nil
	}
	if f.format == "json" {
		show := func(e project.Entry) { fmt.Fprintf(a.stdout, "%s\n", e.Line) }
		return a.entries(ctx, p, q, entries, f.follow, show)
	}
	sessions, err := p.Sessions(ctx) // shortened IDs are unique among those for --session
	if err != nil {
		return err
	}
	t := logTable{paint: a.palette(), ids: f.all || f.follow, all: f.all, prefix: distinct(sessions), widths: []int{0, len(time.DateTime), len(loop.Continued), 8, 14, 16}}
	if file, ok := a.terminal(a.stdout); ok {
		t.narrow(widthOf(file))
	}
	for _, e := range entries {
		t.fit(t.cells(e))
	}
	if !f.follow {
		fmt.Fprintln(a.stdout, t.cutLine(t.titles(), bold, "reason"))
	}
	return a.entries(ctx, p, q, entries, f.follow, func(e project.Entry) { t.write(a.stdout, e, e.Goal(ctx)) })
}

// entries prints decisions, and with follow each further one as it is made.
func (a *app) entries(ctx context.Context, p *project.Project, q project.Query, entries []project.Entry, follow bool, show func(project.Entry)) error {
	if follow {
		ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer cancel()
		return p.Follow(ctx, q, show)
	}
	for _, e := range entries {
		show(e)
	}
	return nil
}

// opened opens the project of a command; with all it returns one without a directory, which means all projects.
func (a *app) opened(all bool) (*project.Project, error) {
	if all {
		return project.Open(a.in(""))
	}
	return a.open()
}

// from returns the time of --since; zero without it.
func (f logFlags) from(now time.Time) (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	return parseSince(f.since, now)
}

// noDecision reports that the log has no decision, or no matching one.
func (a *app) noDecision(asked bool) {
	none := "the decision log has no such decision"
	if !asked {
		none = "the decision log has no decision of this project yet; if an agent has stopped here, run `ralph doctor`"
	}
	fmt.Fprintln(a.stderr, "ralph: "+none)
	a.status = exitFindings
}

// A logTable prints decisions, one a line.
type logTable struct {
	paint  palette
	most   int   // characters in a line: the terminal's width, 0 for no limit
	widths []int // of all columns except the last
	ids    bool  // instead of numbers
	all    bool  // with project roots
	prefix int   // how many characters of a session's ID to print
}

// distinct returns how many characters distinguish the sessions' IDs.
func distinct(sessions []string) int {
	n := 8
	slices.Sort(sessions)
	for i, id := range sessions[min(1, len(sessions)):] {
		x, y := []rune(sessions[i]), []rune(id)
		same := 0
		for same < min(len(x), len(y)) && x[same] == y[same] {
			same++
		}
		n = max(n, same+1)
	}
	return n
}

func firstRunes(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n])
	}
	return s
}

func (t *logTable) titles() []string {
	number := "#"
	if t.ids {
		number = "id"
	}
	return []string{number, "time", "outcome", "session", "policy", "by"}
}

func (t *logTable) cells(e project.Entry) []string {
	number := e.ID
	if !t.ids {
		number = strconv.Itoa(e.Number)
	}
	session := firstRunes(cmp.Or(e.Session, "-"), t.prefix) // as accepted by --session
	if e.Agent != "" {
		session += "/" + firstRunes(e.Agent, 8)
	}
	at, policy, by := e.Time.Local().Format(time.DateTime), project.Short(e.Policy), e.By()
	if t.most > 0 && t.most < roomy {
		at, policy, by = at[len("2006-"):len(at)-len(":05")], cut(policy, 12), cut(by, 16)
	}
	return []string{number, at, cmp.Or(string(e.Outcome()), "-"), session, policy, by}
}

// roomy is how many characters a line with full times, policies and rules needs.
const roomy = 120

// narrow makes each line fit into most characters: it cuts the reason, and if there is little room also times, policies
// and rules.
func (t *logTable) narrow(most int) {
	if t.most = most; most < roomy {
		t.widths = []int{1, len("01-02 15:04"), len(loop.Continued), len("session"), len("policy"), len("by")}
	}
}

// fit makes room for a line.
func (t *logTable) fit(cells []string) {
	for i, cell := range cells {
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
	}
}

// line pads the cells; the outcome is coloured.
func (t *logTable) line(cells []string, shade string) string {
	var b strings.Builder
	for i, cell := range cells {
		switch i {
		case 0:
			cell = fmt.Sprintf("%*s", t.widths[i], cell)
		default:
			cell = fmt.Sprintf("%-*s", t.widths[i], cell)
		}
		if i == 2 || shade == bold {
			cell = t.paint.in(shade, cell)
		}
		b.WriteString(cell + "  ")
	}
	return b.String()
}

func (t *logTable) write(w io.Writer, e project.Entry, goal string) {
	cells := t.cells(e)
	t.fit(cells) // -f prints each as it arrives
	rest := cut(e.Said(), 100)
	note := func(what, text string) {
		if text != "" {
			rest += "  (" + what + text + ")"
		}
	}
	if e.Event != host.Stop {
		note("", e.Event)
	}
	if e.Rule != "" {
		note("note by ", strings.Join(e.Noted, ", "))
	}
	note("goal: ", goal)
	if t.all {
		rest += "  [" + e.Root + "]"
	}
	fmt.Fprintln(w, t.cutLine(cells, outcomeShade(e.Outcome()), rest))
}

// outcomeShade returns the colour of an outcome.
func outcomeShade(o loop.Outcome) string {
	switch o {
	case loop.Continued, loop.Waiting, loop.Done:
		return green
	case loop.Failed, loop.Lost:
		return red
	case loop.Stopped, loop.Limited, loop.Asked:
		return yellow
	}
	return ""
}

// cutLine returns a line with the text after the columns, cut to the width of the terminal.
func (t *logTable) cutLine(cells []string, shade, rest string) string {
	left := t.most
	for _, width := range t.widths {
		left -= width + 2
	}
	switch {
	case t.most == 0:
	case left < 2: // not even the columns fit
		return cut(t.line(cells, ""), t.most)
	default:
		rest = cut(rest, left)
	}
	return t.line(cells, shade) + rest
}

// parseSince parses a time, or a duration before now.
func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := parseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since must be a time such as 90m, 2d, 2026-11-20 or 2026-11-20T12:00:00Z; got %q", s)
}
