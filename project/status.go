package project

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// The states of a loop.
const (
	StateRunning    = "running"
	StateDone       = "done"         // its last decision was a success, and its state has not changed since
	StateStopped    = "stopped"      // by ralph stop, until ralph start
	StateInRun      = "in a run"     // a run continues it; sessions step aside
	StatePaused     = "paused"       // by ralph pause, or all loops are off
	StateOff        = "switched off" // the policy's on: is not true
	StateUnreadable = "unreadable"   // its state is unusable
)

// Status is the status of a project, as ralph status prints it in JSON.
type Status struct {
	Project  string     `json:"project"`
	Trusted  bool       `json:"trusted"`       // its loops and settings also count for hooks of all projects
	Off      string     `json:"off,omitempty"` // why all loops are off
	Paused   []Pause    `json:"paused,omitempty"`
	Loops    []Loop     `json:"loops"`
	Others   []Recent   `json:"others,omitempty"`   // policies without a loop, with their last decision
	Runs     []run.Info `json:"runs,omitempty"`     // of ralph run: live, or killed
	Unusable []Unusable `json:"unusable,omitempty"` // policies that cannot continue an agent
	Shadows  []string   `json:"shadows,omitempty"`  // files of the project that replace shipped policies
	Finished []Finished `json:"finished,omitempty"` // the latest loops that ended
	Hints    []Hint     `json:"hints,omitempty"`    // not yet seen by an agent
}

// Pause is a pause by ralph pause.
type Pause struct {
	Policy  string    `json:"policy,omitempty"`  // "" is every policy
	Session string    `json:"session,omitempty"` // "" is every session
	At      time.Time `json:"at"`
}

// Hint is what the user adds to the next continuation.
type Hint struct {
	Text    string    `json:"text"`
	Policy  string    `json:"policy,omitempty"`
	Session string    `json:"session,omitempty"`
	At      time.Time `json:"at"`
}

// Unusable is a policy of the project that cannot be used.
type Unusable struct {
	Policy  string `json:"policy"`
	Problem string `json:"problem"`
}

// Loop is an existing loop.
type Loop struct {
	Policy   string         `json:"policy"`
	Name     string         `json:"name"` // the policy's name for it
	State    string         `json:"state"`
	Why      string         `json:"why,omitempty"` // why no session is continued
	File     string         `json:"file"`
	Changed  time.Time      `json:"changed,omitzero"` // when the file changed
	Owner    string         `json:"owner,omitempty"`  // the session that owns it, "" is every session
	Goal     string         `json:"goal,omitempty"`   // first line of the prompt
	Measure  *rules.Measure `json:"measure,omitempty"`
	Problems []string       `json:"problems,omitempty"`

	Continuations int            `json:"continuations"` // in the streak of the session with the last decision
	Limit         int            `json:"limit"`         // of the streak
	Since         time.Time      `json:"since,omitzero"`
	Last          *Last          `json:"last,omitempty"`
	Memory        map[string]any `json:"memory,omitempty"` // the policy's memory; of private values, their size
}

// Last is the last decision on a loop, by its owner if it has one.
type Last struct {
	At      time.Time    `json:"at"`
	Session string       `json:"session,omitempty"`
	Agent   string       `json:"agent,omitempty"` // subagent of that session
	Host    string       `json:"host,omitempty"`
	Action  rules.Action `json:"action"`
	By      string       `json:"by"` // rule or limit
	Reason  string       `json:"reason"`
	Success bool         `json:"success,omitempty"` // the work is done
}

// Recent is the last decision of a policy without a loop.
type Recent struct {
	Policy string `json:"policy"`
	Last   Last   `json:"last"`
}

// Finished is a loop or a run that ended.
type Finished struct {
	Policy string       `json:"policy"`
	Name   string       `json:"name,omitempty"` // the policy's name for it, "" if that is its file
	Result loop.Outcome `json:"result"`
	At     time.Time    `json:"at"`
	By     string       `json:"by"` // rule, limit or command
	Reason string       `json:"reason"`
	Goal   string       `json:"goal,omitempty"` // first line of the prompt
	File   string       `json:"file,omitempty"` // the current path of its state
	Run    string       `json:"run,omitempty"`  // ID, if it is a run
}

// Active returns when a loop last changed or decided.
func (l Loop) Active() time.Time {
	if l.Last != nil && l.Last.At.After(l.Changed) {
		return l.Last.At
	}
	return l.Changed
}

// maxFinished is how many ended loops are shown.
const maxFinished = 3

// Status returns the status of every loop of the project. It runs and changes nothing.
func (p *Project) Status(ctx context.Context) (*Status, error) {
	s := &Status{Project: p.dir, Trusted: p.own.Trusts(p.dir), Loops: []Loop{}}
	if why, off := workspace.Off(s.Project, p.env); off {
		s.Off = why
	}
	pauses, err := p.own.Pauses(s.Project)
	if err != nil {
		return nil, err
	}
	for _, o := range pauses {
		s.Paused = append(s.Paused, Pause(o))
	}
	hints, err := p.own.Hints(s.Project)
	if err != nil {
		return nil, err
	}
	for _, o := range hints {
		s.Hints = append(s.Hints, Hint(o))
	}
	runs, err := run.List(p.own.Dir(), s.Project)
	if err != nil {
		return nil, err
	}
	h, err := p.history()
	if err != nil {
		return nil, err
	}
	policies := p.Policies(ctx)
	for _, policy := range policies {
		if policy.Shadows != "" {
			s.Shadows = append(s.Shadows, policy.Name)
		}
		if policy.Problem != "" {
			s.Unusable = append(s.Unusable, Unusable{policy.Name, policy.Problem})
		}
	}
	if err := p.addLoops(ctx, s, policies, h); err != nil {
		return nil, err
	}
	for _, info := range runs {
		if info.Ended == "" {
			s.Runs = append(s.Runs, info)
		}
	}
	s.Others = others(policies, h)
	s.Finished = finished(ctx, h, runs, s.Loops)
	return s, nil
}

// addLoops adds existing loops, and policies whose loop is unknown.
func (p *Project) addLoops(ctx context.Context, s *Status, policies []Policy, h history) error {
	for _, policy := range loops(policies) {
		f, err := p.look(ctx, policy, "")
		if err != nil {
			s.Unusable = append(s.Unusable, Unusable{policy.Name, err.Error()})
			continue
		}
		if !f.exists() && len(f.problems()) == 0 {
			continue
		}
		l, err := p.status(ctx, f, h)
		if err != nil {
			return err
		}
		s.Loops = append(s.Loops, l)
	}
	return nil
}

// Loops returns the existing loops, without data from the log.
func (p *Project) Loops(ctx context.Context) ([]Loop, error) {
	var s Status
	err := p.addLoops(ctx, &s, p.Policies(ctx), history{})
	return s.Loops, err
}

// status returns the status of one loop.
func (p *Project) status(ctx context.Context, f found, h history) (l Loop, err error) {
	v, program := f.verdict, f.policy.Program
	l = Loop{Policy: f.policy.Name, State: StateRunning, File: f.file, Problems: f.problems(), Limit: program.Limits().Continuations}
	l.Measure = v.Measure
	if v.Loop != nil {
		l.Name, l.Owner = v.Loop.Name, v.Loop.Owner
	}
	if f.file != "" {
		doc := p.read(ctx, program.Loop().State, f.file)
		l.Changed, l.Goal = doc.ModTime, firstLine(doc.Body)
		l.Problems = append(l.Problems, harmful(program.Loop().State, f.file, doc, l.Problems)...)
	}
	if err := p.remember(ctx, &l, h); err != nil {
		l.Problems = append(l.Problems, err.Error())
	}
	off, err := p.off(l.Policy, l.Owner)
	if err != nil {
		return l, err
	}
	switch {
	case v.Aside == rules.Stopped:
		l.State, l.Why = StateStopped, v.Reason
	case v.Aside == rules.InRun:
		l.State, l.Why = StateInRun, v.Reason
	case f.status == rules.Invalid || !f.exists():
		l.State = StateUnreadable
	case v.Aside == rules.Off:
		l.State, l.Why = StateOff, v.Reason
	case off != "":
		l.State, l.Why = StatePaused, off
	case l.Last != nil && l.Last.Success && l.Last.Action == rules.Stop && !l.Changed.After(l.Last.At):
		l.State = StateDone
	}
	return l, nil
}

// harmful returns values of a state that violate its schema and matter to users, except known ones.
func harmful(fact *rules.Fact, file string, doc state.Doc, known []string) (texts []string) {
	if doc.Status != state.OK || fact.Schema == nil {
		return nil
	}
	checked := fact.Schema.Check(doc.Document)
	for _, bad := range slices.Concat(checked.Unusable, doc.Unusable) {
		text := fmt.Sprintf("%s:%d:%d: %s %s", file, bad.Line, bad.Col, fact.Name+strings.ReplaceAll(bad.Pointer, "/", "."), bad.Text())
		if !slices.Contains(known, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// remember adds the last decision on a loop, and the memory of its session.
func (p *Project) remember(ctx context.Context, l *Loop, h history) error {
	i := slices.IndexFunc(h.latest, func(d Decision) bool {
		return d.Policy == l.Policy && (l.Owner == "" || d.Session == l.Owner) && d.Loop != nil && d.Loop.State == l.File && (d.Skipped == "" || l.Owner != "")
	})
	if i < 0 {
		return nil
	}
	d := h.latest[i]
	l.Last = d.last()
	if l.Measure == nil {
		l.Measure = d.Measure
	}
	root := p.dir
	entries, err := loop.LocalStore(p.own.Dir()).Load(ctx,
		loop.Key{Root: root, Policy: d.Policy, Host: d.Host, Session: cmp.Or(d.Session, store.NoSession), Agent: d.Agent},
		loop.Key{Root: root, Policy: d.Policy, Project: true})
	if len(entries) != 2 || err != nil {
		return err
	}
	mine, shared := entries[0].Memory, entries[1].Memory
	if mine.Streak == 0 || !mine.Latest.After(shared.Reset) {
		return nil
	}
	l.Continuations, l.Since, l.Memory = mine.Streak, mine.Since, map[string]any{}
	for _, m := range []rules.Memory{mine, shared} {
		for name, v := range m.Values {
			if slices.Contains(m.Private, name) {
				b, _ := json.Marshal(v)
				v = fmt.Sprintf("(%d bytes)", len(b))
			}
			l.Memory[name] = v
		}
	}
	return nil
}

func (d Decision) last() *Last {
	return &Last{At: d.Time, Session: d.Session, Agent: d.Agent, Host: d.Host, Action: d.Action, By: d.By(), Reason: d.Said(), Success: d.Success}
}

// others returns the last decisions of policies without a loop.
func others(policies []Policy, h history) (all []Recent) {
	for _, policy := range policies {
		if policy.Program == nil || policy.Program.Loop() != nil {
			continue
		}
		if i := slices.IndexFunc(h.latest, func(d Decision) bool { return d.Policy == policy.Name }); i >= 0 {
			all = append(all, Recent{policy.Name, *h.latest[i].last()})
		}
	}
	return all
}

// ended returns how a decision ended its loop, whose file may be gone by then.
func ended(d Decision) loop.Outcome {
	if o := d.Outcome(); o != loop.Idle && o != loop.Skipped {
		return o
	}
	return loop.Stopped
}

// finished returns the loops and runs that ended last, latest first, except those that exist again.
func finished(ctx context.Context, h history, runs []run.Info, exist []Loop) (all []Finished) {
	for _, d := range h.ends {
		f := Finished{Policy: d.Policy, Result: ended(d), At: d.Time, By: d.By(), Reason: d.Said(), File: d.Archived()}
		if d.Loop != nil {
			if d.Loop.Name != d.Loop.State {
				f.Name = d.Loop.Name
			}
			if f.File == "" && slices.ContainsFunc(exist, func(l Loop) bool { return l.Policy == d.Policy && l.File == d.Loop.State }) {
				continue // shown with it
			}
		}
		f.Goal = d.Goal(ctx)
		for _, info := range runs {
			if d.Session == run.Session(info.ID) {
				f.Run = info.ID
			}
		}
		all = append(all, f)
	}
	for _, info := range runs {
		if info.Ended == "" {
			continue
		}
		result := Outcome(info.Ended)
		if i := slices.IndexFunc(all, func(f Finished) bool { return f.Run == info.ID }); i >= 0 {
			all[i].Result = result
			continue
		}
		all = append(all, Finished{Policy: info.Policy, Result: result, At: info.Latest, By: "ralph run", Reason: oneLine(info.Why), Goal: firstLine(info.Prompt), Run: info.ID})
	}
	slices.SortStableFunc(all, func(a, b Finished) int { return b.At.Compare(a.At) })
	return all[:min(len(all), maxFinished)]
}

// Goal returns the first line of the prompt of a loop that the decision ended, from the archived file, because the log
// has no prompts. It returns "" if the decision ended no loop or if the file is gone.
func (d Decision) Goal(ctx context.Context) string {
	if !strings.HasPrefix(d.Archived(), state.ArchiveDir+"/") {
		return ""
	}
	root, err := state.OpenRoot(d.Root)
	if err != nil {
		return ""
	}
	defer root.Close()
	return firstLine(root.Read(ctx, state.File{Path: d.Archived(), Format: state.LenientFrontMatter}).Body)
}

// firstLine returns the first line of text that is not blank, without a heading mark.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = oneLine(strings.TrimLeft(line, "# ")); line != "" {
			return cut(line, 60)
		}
	}
	return ""
}
