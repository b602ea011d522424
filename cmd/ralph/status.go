package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

func (a *app) statusCommand() *cobra.Command {
	var format, project string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show every loop of the project",
		Long: "status shows the loops of a project: those that have a file, and those that are in a streak\n" +
			"of continuations. A streak ends with your next prompt, when a rule lets the agent stop, and\n" +
			"when no rule decides. For each loop status shows the policy, the session that owns it, how\n" +
			"far it is, and the last decision with its reason.",
		Example: "  ralph status\n  ralph status --format json | jq '.loops[].state'",
		Args:    noArgs(""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.showStatus(cmd.Context(), project, format) },
	}
	formatFlag(cmd, &format, "the report", "text", "json")
	projectFlag(cmd.Flags(), &project)
	return cmd
}

// The states of a loop.
const (
	loopRunning    = "running"
	loopPaused     = "paused"
	loopUnreadable = "unreadable"
	loopEnded      = "at its limit" // the streak goes on when the limit is raised
)

// projectStatus is what status reports.
type projectStatus struct {
	Project string `json:"project"`
	Off     string `json:"off,omitempty"` // why all loops are off

	Paused []store.Pause `json:"paused,omitempty"` // by ralph pause, but for those that a loop file says

	Loops []loopStatus `json:"loops"`

	Runs []run.Info `json:"runs,omitempty"` // of ralph run: under way, or killed

	Unusable []unusablePolicy `json:"unusable,omitempty"` // policies of the project: nothing continues an agent by them

	Shadows []string `json:"shadows,omitempty"` // files of the project in the place of shipped policies

	Finished []finishedLoop `json:"finished,omitempty"` // the latest few whose file was archived
	Hints    []waitingHint  `json:"hints,omitempty"`    // that no agent has seen yet
}

// loopStatus is one loop.
type loopStatus struct {
	Policy        string    `json:"policy"`
	State         string    `json:"state"`
	Problem       string    `json:"problem,omitempty"` // why it is unreadable, or how it was read
	File          string    `json:"file,omitempty"`
	Changed       time.Time `json:"changed,omitzero"` // the file
	Owner         string    `json:"owner,omitempty"`  // session that took it over, else the one that the file names or the first that advanced it
	Agent         string    `json:"agent,omitempty"`  // subagent of that session
	Host          string    `json:"host,omitempty"`
	Iteration     *int      `json:"iteration,omitempty"`
	MaxIterations *int      `json:"max_iterations,omitempty"`
	Promise       string    `json:"promise,omitempty"`
	Continuations int       `json:"continuations"` // in the streak
	Limit         int       `json:"limit"`         // of the streak
	Since         time.Time `json:"since,omitzero"`
	Last          *lastSaid `json:"last,omitempty"`
	// Measure is how far the work was at the last decision.
	Measure *struct {
		Done  float64 `json:"done"`
		Total float64 `json:"total"`
	} `json:"measure,omitempty"`

	// Memory holds what the policy remembers, but for what is private, of which it says
	// how large it is.
	Memory map[string]any `json:"memory,omitempty"`

	progress string
}

// lastSaid is the last decision on a loop.
type lastSaid struct {
	At     time.Time    `json:"at"`
	Action rules.Action `json:"action"`
	By     string       `json:"by"` // rule or limit, as explain calls it
	Reason string       `json:"reason"`

	Success bool `json:"success,omitempty"` // the work is done
}

func (a *app) showStatus(ctx context.Context, project, format string) error {
	root, err := a.openProject(project)
	if err != nil {
		return err
	}
	defer root.Close()
	report := projectStatus{Project: root.Dir(), Loops: []loopStatus{}}
	if why, off := workspace.Off(root.Dir(), a.getenv); off {
		report.Off = why
	}
	own, err := a.store()
	if err != nil {
		return err
	}
	if report.Paused, err = own.Pauses(root.Dir()); err != nil {
		return err
	}
	sessions, err := sessionsOf(own, root.Dir())
	if err != nil {
		return err
	}
	files := map[string]bool{} // policies whose loop is the file
	for _, l := range a.loopFiles(ctx, root) {
		files[l.policy.name] = true
		r := l.read(ctx, root)
		if r.doc.Status == state.Missing && !root.Exists(l.path) {
			continue
		}
		report.Loops = append(report.Loops, a.fileStatus(ctx, root, own, l, r, sessions))
	}
	for _, s := range sessions {
		if files[s.Policy] {
			continue
		}
		if st, ok := a.sessionStatus(ctx, root, own, s); ok {
			report.Loops = append(report.Loops, st)
		}
	}
	for _, s := range a.toolStates(ctx, root) { // whose streak has not begun, or ended
		r := s.read(ctx, root)
		shown := func(st loopStatus) bool {
			return st.Policy == s.policy.name && (s.session == "" || st.File == s.path || st.Owner == s.session)
		}
		if (r.startedHere() || s.session != "" && r.doc.Status == state.OK) && !slices.ContainsFunc(report.Loops, shown) {
			about := slices.DeleteFunc(slices.Clone(sessions), func(d logged) bool { return d.Policy != s.policy.name || d.file(s.fact) != s.path })
			report.Loops = append(report.Loops, a.fileStatus(ctx, root, own, s.loopFile, r, about))
		}
	}
	for i, l := range report.Loops {
		if l.State == loopRunning && slices.ContainsFunc(report.Paused, func(p store.Pause) bool { return p.Covers(l.Policy, l.Owner) }) {
			report.Loops[i].State = loopPaused
		}
	}
	runs, err := run.List(own.Dir(), root.Dir())
	if err != nil {
		return err
	}
	for _, info := range runs {
		if info.Ended == "" {
			report.Runs = append(report.Runs, info)
		}
	}
	if report.Finished, err = finishedLoops(ctx, own, root); err != nil {
		return err
	}
	if report.Hints, err = waitingHints(own, root.Dir()); err != nil {
		return err
	}
	for _, name := range builtins() {
		if p, err := findPolicy(root.Dir(), name); err == nil && !p.shipped { // also where the disk takes another case for the same
			report.Shadows = append(report.Shadows, p.name)
		}
	}
	report.Unusable, _ = a.unusablePolicies(ctx, root.Dir())
	if format == "json" {
		return a.encodeJSON(report)
	}
	a.writeStatus(report, time.Now())
	return nil
}

// fileStatus is the status of a loop that has a file.
func (a *app) fileStatus(ctx context.Context, root *state.Root, own *store.Store, l loopFile, r loopState, sessions []logged) loopStatus {
	st := loopStatus{Policy: l.policy.name, State: loopRunning, File: l.path, Changed: r.doc.ModTime}
	switch {
	case r.doc.Status != state.OK:
		st.State, st.Problem = loopUnreadable, r.doc.Problem
	case len(r.unusable) > 0:
		st.State, st.Problem = loopUnreadable, strings.Join(r.unusable, "; ")
	case r.paused():
		st.State = loopPaused
	}
	if st.Problem == "" {
		st.Problem = strings.ReplaceAll(r.doc.Problem, "\n", "; ")
	}
	st.take(r)
	claimed := false
	st.Owner, claimed = ownerOf(ctx, own, root, l, r, sessions)
	named := st.Owner
	for _, s := range sessions {
		if s.Policy != st.Policy || named != "" && s.Session != named || !slices.Contains([]string{"", l.path}, s.file(l.fact)) {
			continue
		}
		// The owner's decisions count; without one those of the session that asked last.
		if st.Last == nil {
			a.remember(ctx, &st, own, root.Dir(), s)
			continue
		}
		if mine, shared, err := remembered(ctx, own, s.key()); named == "" && err == nil && running(mine.Memory, shared.Memory) {
			st.Owner, st.Agent, st.Host = "", "", "" // several sessions advance the file
		}
	}
	if claimed && named == "" { // the owner's session ended
		st.Owner, st.Agent, st.Host = "", "", ""
	}
	return st
}

// ownerClaim is what the guard owner remembers.
const ownerClaim = "owner/claim"

// ownerOf is the session that owns the loop of a file: the one that took it over, else the one
// that the file names, else the one that the guard owner remembers. claimed says that the guard
// remembers this loop; without an owner, the owner's session ended.
func ownerOf(ctx context.Context, own *store.Store, root *state.Root, l loopFile, r loopState, sessions []logged) (owner string, claimed bool) {
	if l.session != "" {
		return l.session, false
	}
	named := r.text(ownerFields())
	if named != "" && sessionEnded(own, root.Dir(), l.policy.name, named) {
		named = ""
	}
	_, shared, err := remembered(ctx, own, loop.Key{Root: root.Dir(), Policy: l.policy.name})
	if err != nil {
		return named, false // the session's own memory reports it
	}
	claim, claimed := shared.Memory.Values[ownerClaim].(map[string]any)
	rounds, _ := claim["rounds"].(int)
	if n, ok := r.number(counterFields()); !claimed || ok && n < rounds { // not as far: another loop
		return named, false
	}
	session, _ := claim["session"].(string)
	runs := false
	for _, s := range sessions {
		if s.Policy != l.policy.name || s.Session != session {
			continue
		}
		if !slices.Contains([]string{"", l.path}, s.file(l.fact)) { // the claim is about another loop
			return named, false
		}
		mine, shared, err := remembered(ctx, own, s.key())
		runs = runs || err == nil && running(mine.Memory, shared.Memory)
	}
	if named == "" || runs {
		return session, true
	}
	return named, true
}

// sessionEnded reports whether the last that a policy saw of a session was its end.
func sessionEnded(own *store.Store, root, policy, session string) bool {
	ended := false
	_, err := own.ReadLog(func(line []byte) bool {
		var l logged
		if json.Unmarshal(line, &l) != nil || l.Root != root || l.Policy != policy || l.Session != session || l.Command != "" {
			return false
		}
		ended = l.Event == host.SessionEnd
		return true
	}, 1)
	return err == nil && ended
}

// take fills in what the file says.
func (st *loopStatus) take(r loopState) {
	st.progress = r.progress()
	st.Owner, st.Promise = r.text(ownerFields()), r.text(promiseFields())
	if n, ok := r.number(counterFields()); ok {
		st.Iteration = &n
	}
	if n, ok := r.number(maximumFields()); ok && n > 0 {
		st.MaxIterations = &n
	}
}

// recall fills in values that the policy remembers.
func (st *loopStatus) recall(m rules.Memory) {
	for name, v := range m.Values {
		if st.Memory == nil {
			st.Memory = map[string]any{}
		}
		if slices.Contains(m.Private, name) {
			v = fmt.Sprintf("(%d bytes)", len(jsonText(v)))
		}
		st.Memory[name] = v
	}
}

// remember fills in what ralph remembers of a session.
func (a *app) remember(ctx context.Context, st *loopStatus, own *store.Store, root string, s logged) {
	mine, shared, err := remembered(ctx, own, s.key())
	if err != nil {
		st.Problem = err.Error()
	}
	if running(mine.Memory, shared.Memory) {
		st.Continuations, st.Since = mine.Memory.Streak, mine.Memory.Since
		st.recall(mine.Memory)
		st.recall(shared.Memory)
	}
	st.Host = s.Host
	if !s.ended {
		st.Owner, st.Agent = cmp.Or(st.Owner, s.Session), s.Agent
	}
	st.Last = &lastSaid{At: s.Time, Action: s.Action, By: s.why(), Reason: s.said(), Success: s.Success}
	st.Measure = s.Measure
	if _, program, err := a.open(ctx, root, s.Policy, nil); err == nil {
		st.Limit = program.Limits().Continuations
	}
}

// sessionStatus is the loop of a session whose streak goes on; ok is false if it does
// not, or the file that it was about is gone.
func (a *app) sessionStatus(ctx context.Context, root *state.Root, own *store.Store, s logged) (st loopStatus, ok bool) {
	st = loopStatus{Policy: s.Policy, State: loopRunning}
	a.remember(ctx, &st, own, root.Dir(), s)
	if st.Continuations == 0 || s.ended {
		return st, false
	}
	if s.Bound != "" {
		st.State = loopEnded
	}
	f, read := a.loggedFile(ctx, root.Dir(), s)
	if read.Path == "" {
		return st, true
	}
	r := readState(ctx, root, f, read.Path)
	switch {
	case r.doc.Status == state.OK:
		st.File, st.Changed = read.Path, r.doc.ModTime
		st.take(r)
		st.Owner = cmp.Or(st.Owner, s.Session)
	case r.doc.Status == state.Missing && read.Status != rules.Missing:
		return st, false // `ralph stop` or the tool ended the work since
	}
	return st, true
}

// loggedFile gives the file that the last decision of a session was about, as it was
// read, where only an event gives its path.
func (a *app) loggedFile(ctx context.Context, root string, s logged) (f *rules.Fact, about rules.FactRead) {
	_, program, err := a.open(ctx, root, s.Policy, nil)
	if err != nil || program.Inline() == nil {
		return nil, about
	}
	f = program.Inline()
	last, _ := a.records(root, 1, func(r loop.Record) bool { // what cannot be read is not shown
		return r.Time.Equal(s.Time) && r.Policy == s.Policy && r.Session == s.Session
	})
	for _, r := range last {
		for _, read := range r.Trace.Facts {
			if read.Name == f.Name {
				about = read
			}
		}
	}
	return f, about
}

func (a *app) writeStatus(report projectStatus, now time.Time) {
	paint := a.palette()
	if report.Off != "" {
		fmt.Fprintf(a.stdout, "all loops are off: %s; turn them on with: ralph resume\n", report.Off)
	}
	for _, p := range report.Paused {
		fmt.Fprintf(a.stdout, "paused: %s, %s; resume it with: ralph resume %s\n", pausedWhat(p), ago(now, p.At), pausedArgs(p))
	}
	for _, info := range report.Runs {
		fmt.Fprintf(a.stdout, "%s: %s\n", paint.in(bold, "run "+info.ID), stateWords(info))
		if info.Running {
			info.Totals.Elapsed = now.Sub(info.Started)
		}
		fmt.Fprintf(a.stdout, "  policy    %s\n  client    %s\n  used      %s of %d, %s\n", shortPolicy(info.Policy), info.Client, plural(info.Totals.Iterations, "iteration"), info.Limits.Iterations, used(info.Totals))
		fmt.Fprintf(a.stdout, "  since     %s, %s\n", info.Started.Local().Format(time.DateTime), ago(now, info.Started))
	}
	if len(report.Loops) == 0 && len(report.Runs) == 0 {
		fmt.Fprintln(a.stdout, "no loop in this project")
	}
	for _, l := range report.Loops {
		head := []string{paint.in(stateShade(l.State), l.State)}
		if l.progress != "" {
			head = append(head, visible(l.progress))
		}
		if l.Continuations > 0 {
			head = append(head, fmt.Sprintf("continuation %d of %d in this turn", l.Continuations, l.Limit))
		}
		fmt.Fprintf(a.stdout, "%s: %s\n", paint.in(bold, visible(l.Policy)), strings.Join(head, ", "))
		line := func(name, value string) {
			if value != "" {
				fmt.Fprintf(a.stdout, "  %-9s %s\n", name, visible(value)) // files of the project are not trusted with a terminal
			}
		}
		line("problem", l.Problem)
		if l.File != "" {
			line("file", l.File+", changed "+ago(now, l.Changed))
		}
		if l.Owner != "" {
			owner := "session " + l.Owner
			if l.Agent != "" {
				owner += ", agent " + l.Agent + ","
			}
			line("owner", strings.TrimSuffix(strings.TrimSpace(owner+" "+l.Host), ","))
		}
		if m := l.Measure; m != nil && m.Total > 0 {
			line("measure", measured(m.Done, m.Total))
		}
		if l.Promise != "" {
			line("promise", l.Promise)
		}
		for _, name := range slices.Sorted(maps.Keys(l.Memory)) {
			if name != ownerClaim { // the owner is shown
				line("memory", name+" = "+cut(jsonText(l.Memory[name]), 100))
			}
		}
		if !l.Since.IsZero() {
			line("since", l.Since.Local().Format(time.DateTime)+", "+ago(now, l.Since))
		}
		if l.Last != nil {
			line("decision", fmt.Sprintf("%s by %s, %s: %s", l.Last.Action, l.Last.By, ago(now, l.Last.At), cut(done(l.Last.Success, l.Last.Reason), 100)))
		} else {
			line("decision", "none yet")
		}
	}
	for _, h := range report.Hints {
		fmt.Fprintf(a.stdout, "hint for the next continuation%s, %s: %s\n", audience(h.Policy, h.Session), ago(now, h.At), cut(oneLine(h.Text), 100))
	}
	for _, p := range report.Unusable {
		fmt.Fprintf(a.stdout, "%s: %s; the agent may stop; run: ralph check %s\n  %s\n", paint.in(bold, p.Policy), paint.in(red, "cannot be used"), p.Policy, strings.ReplaceAll(p.Problem, "\n", "\n  "))
	}
	for _, file := range report.Shadows {
		fmt.Fprintf(a.stdout, "%s is used in the place of the shipped policy %s\n", file, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	for _, l := range report.Finished {
		line := fmt.Sprintf("finished: %s, %s by %s: %s", l.Policy, ago(now, l.At), l.By, cut(done(l.Success, l.Reason), 100))
		fmt.Fprintln(a.stdout, visible(strings.TrimSuffix(line, ": ")))
		fmt.Fprintf(a.stdout, "  goal      %s\n  file      %s\n", visible(cmp.Or(l.Goal, "the file holds none")), visible(l.File))
	}
}
