package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

type explainFlags struct {
	evalFlags
	format  string
	session string
	now     bool
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Annotations: exits("the decision is shown", exit{exitFindings, "the log holds no such decision"}),
		Use:         "explain [N|ID]",
		Short:       "Show why a decision was made",
		Args:        atMostOne("number or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.explain(cmd.Context(), f, strings.Join(args, ""))
		},
	}
	fl := cmd.Flags()
	policiesFlag(fl, &f.policies).Usage = "only show decisions of this policy `name`; with --now or --input, decide by it (default " + workspace.DefaultPolicy + "); may be repeated"
	setFlag(fl, &f.set)
	fl.StringVarP(&f.input, "input", "i", "", "decide the event in this `file` now; - is stdin")
	fl.BoolVar(&f.now, "now", false, "decide now, as each installed hook would if its agent were about to stop in this project")
	formatFlag(cmd, &f.format, "the explanation", "text", "json")
	sessionVar(fl, &f.session, "only show decisions of this session; with --now, the session that is about to stop (default: the one last heard of)", false)
	fl.StringVar(&f.host, "host", "", "with --now: as the hooks of this `host`")
	fl.BoolVar(&f.private, "private", false, "with --now or --input: also show the words of the user and the agent: prompts, transcript texts, hints")
	rejects(cmd, func(cmd *cobra.Command, args []string) error {
		wrong := []error{wrongIf(f.now && f.input != "", "--now and --input exclude each other"), wrongIf(f.host != "" && !f.now, "--host needs --now")}
		if f.host != "" {
			wrong = append(wrong, oneOf("host", f.host, host.Names()...))
		}
		for _, name := range [...]string{"policy", "session", "input", "now"} {
			wrong = append(wrong, wrongIf(len(args) == 1 && cmd.Flags().Changed(name), "%s names one decision: remove --%s, or run `ralph explain` without %[1]s", strings.Join(args, ""), name))
		}
		if !f.now && f.input == "" { // otherwise the project may be the event's
			wrong = append(wrong, a.unknown(cmd.Context(), f.session, f.policies...))
		}
		return errors.Join(wrong...)
	})
	return cmd
}

func (a *app) explain(ctx context.Context, f explainFlags, which string) error {
	if f.now || f.input != "" {
		decide := a.decideNow
		if f.input != "" {
			decide = a.decideInput
		}
		all, err := decide(ctx, f)
		if err != nil {
			return err
		}
		return a.explainAll(f.format, all)
	}
	p, err := a.open()
	if err != nil {
		return err
	}
	defer p.Close()
	var entries []project.Entry
	if which != "" {
		entries, err = p.Decision(which)
	} else if f.session, err = p.Session(ctx, f.session, false); err == nil {
		entries, err = p.History(project.Query{Policies: f.policies, Session: f.session, Last: maxPolicies, Match: decidedStop})
		entries = lastStop(entries)
	}
	if err != nil {
		return err
	}
	records, err := recordsOf(entries)
	if err != nil || len(records) > 0 {
		var all []played
		for _, r := range records {
			all = append(all, played{record: r})
		}
		return errors.Join(err, a.explainAll(f.format, all))
	}
	if f.format == "json" {
		fmt.Fprintln(a.stdout, "[]")
	}
	if other, _ := p.History(project.Query{Last: 1, Match: isDecision}); len(other) > 0 {
		a.status = exitFindings
		fmt.Fprintln(a.stderr, "ralph: no such decision let an agent stop or continued it; run `ralph log` to list the others, `ralph explain N` to show one")
		return nil
	}
	a.noDecision(false)
	return nil
}

// recordsOf reads whole records.
func recordsOf(entries []project.Entry) ([]loop.Record, error) {
	records := make([]loop.Record, len(entries))
	for i, e := range entries {
		var err error
		if records[i], err = e.Record(); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// explainAll shows decisions.
func (a *app) explainAll(format string, all []played) error {
	if format == "json" {
		records := make([]loop.Record, len(all))
		for i, one := range all {
			records[i] = one.record
		}
		return a.encodeJSON(records)
	}
	for i, one := range all {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		write := func(w io.Writer) error { return writeExplanation(w, one.record, one.hook, one.state) }
		if err := painted(a.stdout, write, a.palette().explanation); err != nil {
			return err
		}
	}
	return nil
}

// decidedStop reports whether a decision stopped or continued an agent: a prompt or the end of a session has no
// decision, and rules that only note or remember leave it to others.
func decidedStop(r project.Decision) bool {
	return isDecision(r) && project.Decides(r.Event) &&
		(r.Rule != "" || r.Cause != "" || r.Reason != "" || len(r.Noted) == 0 && len(project.Held(r.Trace.Steps)) == 0)
}

// isDecision reports whether a log entry is a decision that this version of ralph can show.
func isDecision(d project.Decision) bool { return d.V == 1 && d.Command == "" }

// maxPolicies bounds the policies that decided an event.
const maxPolicies = 16

// lastStop returns the last of some decisions, oldest first, that stopped or continued the agent: if several policies
// decided one event, one that continued, otherwise one with a deciding rule.
func lastStop(records []project.Entry) []project.Entry {
	if len(records) == 0 {
		return records
	}
	last := records[len(records)-1]
	best, seen := last, map[string]bool{}
	for _, r := range slices.Backward(records) {
		together := last.Time.Sub(r.Time).Abs() < time.Second // the policies of an event decide at the same time
		if !together || seen[r.Policy] || r.Session != last.Session || r.Agent != last.Agent || r.Event != last.Event {
			break
		}
		seen[r.Policy] = true
		if best.Action != rules.Continue && (r.Action == rules.Continue || best.Rule == "" && r.Rule != "") {
			best = r
		}
	}
	return []project.Entry{best}
}

// A played decision is what one installed hook would answer.
type played struct {
	hook   string // "" if none is installed
	state  string // of the policy, as in status; "" for the event of a file
	record loop.Record
}

// decideInput decides the event of --input, and changes nothing.
func (a *app) decideInput(ctx context.Context, f explainFlags) ([]played, error) {
	f.evalFlags.project = a.project
	input, err := a.read("the event", "", f.input, maxInput)
	if err != nil {
		return nil, err
	}
	_, ev, err := a.hookOf(f.evalFlags).Event(input)
	if err != nil {
		return nil, err
	}
	return a.play(ctx, f, ev, "")
}

// decideNow decides an invented stop of the session last heard of, as each installed hook would, and changes nothing.
func (a *app) decideNow(ctx context.Context, f explainFlags) (all []played, err error) {
	p, err := a.open()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	f.evalFlags.project = p.Dir()
	if f.session, err = p.Session(ctx, f.session, true); err != nil {
		return nil, err
	}
	status, err := p.Status(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range p.InstalledHooks(ctx) {
		chosen := func(name string) bool {
			found, err := p.Find(name)
			return err == nil && hasPolicy(p, []string{h.Policy}, found)
		}
		if len(f.policies) > 0 && !slices.ContainsFunc(f.policies, chosen) || f.host != "" && f.host != h.Host {
			continue
		}
		of := f
		of.policies, of.set = []string{h.Policy}, setup.SetOver(h.Set, f.set)
		if h.User {
			of.scope = setup.ScopeUser
		}
		one, err := a.play(ctx, of, p.NextStop(h.Host, f.session), h.Host+", "+h.File)
		if err != nil {
			return nil, err
		}
		for _, o := range one {
			for _, l := range status.Loops {
				if l.Policy == o.record.Policy && slices.Contains(l.Hooks, h.Installed) {
					o.state = stateText(l, time.Now())
				}
			}
			all = append(all, o)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	fmt.Fprintln(a.stderr, "ralph: no installed hook evaluates it; this is what a hook would answer")
	return a.play(ctx, f, p.NextStop(cmp.Or(f.host, host.ClaudeCode), f.session), "")
}

// play returns what a hook with these flags would answer to an event.
func (a *app) play(ctx context.Context, f explainFlags, ev host.Event, hook string) (all []played, err error) {
	loops, _, err := a.hookOf(f.evalFlags).Loops(ctx, ev)
	if err != nil {
		return nil, err
	}
	for _, l := range loops {
		all = append(all, played{hook: hook, record: l.Preview(ctx, ev).Record(false)})
	}
	if why, off := workspace.Off(cmp.Or(f.evalFlags.project, ev.Cwd), a.getenv); off {
		for _, name := range workspace.OrDefault(f.policies) {
			all = append(all, played{hook: hook, record: loop.Record{Head: loop.Head{V: 1, Time: time.Now(), Policy: name, Host: ev.Host, Event: ev.Name, Session: ev.SessionID, Cause: rules.Off, Reason: "all loops are off: " + why + "; " + a.turnOn()}}})
		}
	}
	return all, nil
}
