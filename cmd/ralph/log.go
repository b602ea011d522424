package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
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
		Use:   "log",
		Short: "Show the decisions of this project, one a line",
		Long: "log shows the decision log: when, what, by which policy and rule, and why. A loop\n" +
			"that ralph stop or ralph start --force ended has a line too. With --format json each line\n" +
			"is the whole record of a decision, for jq and other programs; ralph explain shows the one\n" +
			"of a number, or of an id, in full. The numbers count from the latest decision of the project,\n" +
			"whatever flags choose; --all and --follow show ids instead. Of texts for the agent the log has only the size, unless eval ran with --log-private.",
		Example: "  ralph log -n 50\n" +
			"  ralph log -f --policy speckit\n" +
			"  ralph log --action stop --since 1h\n" +
			"  ralph log -n 0 --format json | jq -r .rule | sort | uniq -c",
		Args: noArgs("--policy"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.log(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.last, "last", "n", 20, "how many of the last decisions, 0 for all")
	fl.StringArrayVarP(&f.policies, "policy", "p", nil, "only decisions of this policy `name`; may be repeated")
	sessionVar(fl, &f.session, "only decisions of this session", mustBeKnown)
	fl.StringVar(&f.action, "action", "", "only decisions to stop, or to continue")
	fl.StringVar(&f.rule, "rule", "", "only decisions by the rule of this `name`, by any rule of the include of that name, or by a limit, such as limits.continuations")
	fl.StringVar(&f.since, "since", "", "only decisions since this `time`: 90m, 2d, 2026-11-20 or 2026-11-20T12:00:00Z")
	fl.BoolVarP(&f.follow, "follow", "f", false, "also show each new decision as it is made")
	formatFlag(cmd, &f.format, "a line", "text", "json")
	projectFlag(fl, &f.project)
	fl.BoolVar(&f.all, "all", false, "show decisions of all projects")
	return cmd
}

// A logged decision is what one line of the log shows of it.
type logged struct{ project.Decision }

// done puts in front of a reason that the work is done.
func done(success bool, reason string) string {
	if !success {
		return reason
	}
	return strings.TrimSuffix("done: "+reason, ": ")
}

// verdict is the action. A prompt and the end of a session have none, as there is nothing to stop, and a command
// decides nothing.
func (l logged) verdict() string {
	switch {
	case l.Command != "":
		return "ended"
	case l.Event == host.UserPromptSubmit || host.Watched(l.Event):
		return "-"
	}
	return l.Action.String()
}

func (a *app) log(ctx context.Context, f logFlags) error {
	if err := atLeast("last", 0, f.last); err != nil {
		return err
	}
	own, err := a.store()
	if err != nil {
		return err
	}
	root := ""
	if !f.all {
		if root, err = a.projectDir(f.project); err != nil {
			return err
		}
	}
	if f.session, err = a.findSession(root, f.session, mustBeKnown); err != nil {
		return err
	}
	match, err := a.logFilter(root, f, time.Now())
	if err != nil {
		return err
	}
	columns, paint := newLogColumns(), a.palette()
	show := func(number string, line []byte) {
		if f.format == "json" {
			fmt.Fprintf(a.stdout, "%s\n", line)
			return
		}
		if l, ok := columns.fit(number, line); ok {
			columns.write(a.stdout, paint, number, l, l.Goal(ctx), f.all)
		}
	}
	listed, found := lister(own, root), []int{}
	lines, err := own.ReadLog(func(line []byte) bool {
		l, n := listed(line)
		if n == 0 || !match(l) {
			return false
		}
		found = append(found, n)
		return true
	}, f.last)
	if err != nil {
		return err
	}
	slices.Reverse(found) // the log is read from its end
	if len(lines) == 0 && !f.all {
		if err := a.policiesExist(f.project, f.policies); err != nil {
			return err
		}
	}
	if len(lines) == 0 && !f.follow {
		a.status = exitFindings
		a.noDecision(f.all || len(f.policies) > 0 || f.session+f.action+f.rule+f.since != "")
		return nil
	}
	if f.follow {
		ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer cancel()
		listed := lister(own, root)
		take := func(line []byte) bool { l, n := listed(line); return n > 0 && match(l) }
		if err := own.FollowLog(ctx, take, f.last, func(line []byte) { show(lineID(line), line) }); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}
	if f.format == "text" {
		sessions, err := a.knownSessions(root) // what is shown of an ID is unique among those that --session knows
		if err != nil {
			return err
		}
		columns.distinguish(sessions)
	}
	numbers := make([]string, len(lines))
	for i, line := range lines {
		if numbers[i] = strconv.Itoa(found[i]); f.all {
			numbers[i] = lineID(line)
		}
		columns.fit(numbers[i], line)
	}
	if f.format == "text" {
		columns.head(a.stdout, paint, f.all)
	}
	for i, line := range lines {
		show(numbers[i], line)
	}
	return nil
}

// policiesExist fails with the first policy that does not exist. One whose decisions are in the
// log may be gone since.
func (a *app) policiesExist(project string, names []string) error {
	root, _, err := a.findProject(project)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := findPolicy(root, name); err != nil {
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

// fit makes room for a line of the log.
func (c *logColumns) fit(number string, line []byte) (l logged, ok bool) {
	if json.Unmarshal(line, &l) != nil {
		return l, false
	}
	if !c.sessions[l.Session] { // -f shows it as it comes
		c.distinguish(append(slices.Collect(maps.Keys(c.sessions)), l.Session))
	}
	c.number = max(c.number, len(number))
	c.session = max(c.session, utf8.RuneCountInString(l.Session))
	c.agent = max(c.agent, utf8.RuneCountInString(agentName(l)))
	c.policy, c.by = max(c.policy, utf8.RuneCountInString(l.Policy)), max(c.by, utf8.RuneCountInString(l.By()))
	return l, true
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
func (c *logColumns) name(l logged) string {
	return firstRunes(cmp.Or(l.Session, "-"), c.prefix) + agentName(l)
}

func agentName(l logged) string {
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

func (c *logColumns) write(w io.Writer, paint palette, number string, l logged, goal string, root bool) {
	verdict := l.verdict()
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

// logFilter makes what the flags say a function.
func (a *app) logFilter(root string, f logFlags, now time.Time) (func(l logged) bool, error) {
	var since time.Time
	if f.since != "" {
		var err error
		if since, err = parseSince(f.since, now); err != nil {
			return nil, err
		}
	}
	if f.action != "" {
		if err := oneOf("action", f.action, rules.Stop.String(), rules.Continue.String()); err != nil {
			return nil, err
		}
	}
	names := map[string]bool{}
	for _, name := range f.policies {
		file, _ := policyFile(root, name) // it may be gone since
		names[name], names[file] = true, true
		if p, err := findPolicy(root, name); err == nil {
			names[p.name] = true
		}
	}
	return func(l logged) bool {
		return (len(names) == 0 || names[l.Policy]) &&
			(f.session == "" || l.Session == f.session) &&
			(f.action == "" || l.verdict() == f.action) &&
			(f.rule == "" || l.Rule == f.rule || strings.HasPrefix(l.Rule, f.rule+"/")) &&
			!l.Time.Before(since)
	}, nil
}

// lister returns a function that takes the lines of the log from the latest on, and numbers those that log lists of a
// project, or with root "" of all: 1 is the latest, 0 is a line that it does not list.
func lister(own *store.Store, root string) func(line []byte) (l logged, n int) {
	within, n := ofProject(own, root), 0
	return func(line []byte) (l logged, _ int) {
		if json.Unmarshal(line, &l) != nil || !within(l.Root) {
			return l, 0
		}
		n++
		return l, n
	}
}

// lineID returns the ID of a record.
func lineID(line []byte) string {
	var l struct{ ID string }
	_ = json.Unmarshal(line, &l) // the line is whole JSON
	return l.ID
}

// ofProject reports which roots of decisions belong to a project: its own, and the worktrees of its runs. Without
// a project all do.
func ofProject(own *store.Store, project string) func(root string) bool {
	if project == "" {
		return func(string) bool { return true }
	}
	roots := map[string]bool{project: true}
	all, _ := run.List(own.Dir(), project) // runs that cannot be read have no decisions to show
	for _, info := range all {
		roots[info.Root] = true
	}
	return func(root string) bool { return roots[root] }
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

// records reads the decisions of a project from the log that match: the last n, or
// all if n is 0, the oldest first.
func (a *app) records(root string, n int, match func(loop.Record) bool) ([]loop.Record, error) {
	own, err := a.store()
	if err != nil {
		return nil, err
	}
	within := ofProject(own, root)
	records := []loop.Record{} // not nil: it is written as JSON
	_, err = own.ReadLog(func(line []byte) bool {
		var r loop.Record
		if json.Unmarshal(line, &r) != nil || r.V != 1 || r.Command != "" || !within(r.Root) || !match(r) { // another V is another form
			return false
		}
		records = append(records, r)
		return n > 0 // the lines themselves are only counted
	}, n)
	slices.Reverse(records) // the log is read from its end
	return records, err
}
