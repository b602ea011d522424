package project

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// The states of a loop.
const (
	StateRunning    = "running"
	StateDone       = "done"         // its last decision says so, and its state has not changed since
	StateStopped    = "stopped"      // by ralph stop, until ralph start
	StateInRun      = "in a run"     // a run continues it, and sessions step aside
	StatePaused     = "paused"       // by ralph pause, or all loops are off
	StateOff        = "switched off" // on: of the policy is not true
	StateUnreadable = "unreadable"   // its state cannot be used
)

// Status is what a project has, as ralph status prints it in JSON.
type Status struct {
	Project  string     `json:"project"`
	Trusted  bool       `json:"trusted"`       // loops and settings count for hooks of all projects too
	Off      string     `json:"off,omitempty"` // why all loops are off
	Paused   []Pause    `json:"paused,omitempty"`
	Loops    []Loop     `json:"loops"`
	Others   []Recent   `json:"others,omitempty"`   // policies that name no loop, with their last decision
	Runs     []run.Info `json:"runs,omitempty"`     // of ralph run: under way, or killed
	Unusable []Unusable `json:"unusable,omitempty"` // policies: nothing continues an agent by them
	Shadows  []string   `json:"shadows,omitempty"`  // files of the project that replace shipped policies
	Finished []Finished `json:"finished,omitempty"` // the latest few loops that ended
	Hints    []Hint     `json:"hints,omitempty"`    // that no agent has seen yet
}

// Pause is what ralph pause keeps from running.
type Pause struct {
	Policy  string    `json:"policy,omitempty"`  // "" is every policy
	Session string    `json:"session,omitempty"` // "" is every session
	At      time.Time `json:"at"`
}

// Hint is a text that the agent sees with its next continuation.
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

// Loop is a loop that exists.
type Loop struct {
	Policy   string    `json:"policy"`
	Name     string    `json:"name"` // what the policy calls it
	State    string    `json:"state"`
	Why      string    `json:"why,omitempty"` // no session is continued
	File     string    `json:"file"`
	Changed  time.Time `json:"changed,omitzero"` // the file
	Owner    string    `json:"owner,omitempty"`  // session that it belongs to, "" is every session
	Goal     string    `json:"goal,omitempty"`   // first line of the prompt
	Measure  *Measure  `json:"measure,omitempty"`
	Problems []string  `json:"problems,omitempty"`

	Continuations int            `json:"continuations"` // in the streak of the session that decided last
	Limit         int            `json:"limit"`         // of the streak
	Since         time.Time      `json:"since,omitzero"`
	Last          *Last          `json:"last,omitempty"`
	Memory        map[string]any `json:"memory,omitempty"` // what the policy remembers; of what is private, how large it is
}

// Last is the last decision on a loop: of its owner, if it has one.
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

// Recent is the last decision of a policy that names no loop.
type Recent struct {
	Policy string `json:"policy"`
	Last   Last   `json:"last"`
}

// Finished is a loop, or a run, that ended.
type Finished struct {
	Policy string    `json:"policy"`
	Name   string    `json:"name,omitempty"` // what the policy called it, "" if that is its file
	Result string    `json:"result"`         // done, given up, limit or ended by a command
	At     time.Time `json:"at"`
	By     string    `json:"by"` // rule, limit or command
	Reason string    `json:"reason"`
	Goal   string    `json:"goal,omitempty"` // first line of the prompt
	File   string    `json:"file,omitempty"` // where its state is now
	Run    string    `json:"run,omitempty"`  // ID of the run that it was
}

// The results of a loop that ended.
const (
	ResultDone    = "done"
	ResultGivenUp = "given up"
	ResultLimit   = "limit"
	ResultEnded   = "ended"
)

// Active returns when something happened to a loop last.
func (l Loop) Active() time.Time {
	if l.Last != nil && l.Last.At.After(l.Changed) {
		return l.Last.At
	}
	return l.Changed
}

// maxFinished is how many loops that ended are shown.
const maxFinished = 3

// Status looks at every loop of the project. It runs nothing and changes nothing.
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

// addLoops adds the loops that exist, and the policies whose loop cannot be looked for.
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

// Loops returns the loops that exist, without what the log says of them.
func (p *Project) Loops(ctx context.Context) ([]Loop, error) {
	var s Status
	err := p.addLoops(ctx, &s, p.Policies(ctx), history{})
	return s.Loops, err
}

// status is what is known of one loop.
func (p *Project) status(ctx context.Context, f found, h history) (l Loop, err error) {
	v, program := f.verdict, f.policy.Program
	l = Loop{Policy: f.policy.Name, State: StateRunning, File: f.file, Problems: f.problems(), Limit: program.Limits().Continuations}
	if v.Measure != nil {
		l.Measure = &Measure{v.Measure.Done, v.Measure.Total}
	}
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

// harmful says which values of a state do not fit its schema so that users are to know of it, but for those that are known.
func harmful(fact *rules.Fact, file string, doc state.Doc, known []string) (texts []string) {
	if doc.Status != state.OK || fact.Schema == nil {
		return nil
	}
	checked := fact.Schema.Check(doc.Document)
	for _, bad := range slices.Concat(checked.Unusable, checked.Warnings, doc.Unusable) {
		if !bad.Harms() {
			continue
		}
		text := fmt.Sprintf("%s:%d:%d: %s %s", file, bad.Line, bad.Col, fact.Name+strings.ReplaceAll(bad.Pointer, "/", "."), bad.Text())
		if !slices.Contains(known, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// remember adds the last decision on a loop, and what its session remembers.
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
		loop.Key{Root: root, Policy: d.Policy, Host: d.Host, Session: d.Session, Agent: d.Agent},
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

// others are the last decisions of the policies that name no loop.
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

// finished returns the loops and runs that ended last, the latest first, but for those that exist again.
func finished(ctx context.Context, h history, runs []run.Info, exist []Loop) (all []Finished) {
	for _, d := range h.ends {
		f := Finished{Policy: d.Policy, Result: ResultGivenUp, At: d.Time, By: d.By(), Reason: d.Said(), File: d.Archived()}
		if d.Loop != nil {
			if d.Loop.Name != d.Loop.State {
				f.Name = d.Loop.Name
			}
			if f.File == "" && slices.ContainsFunc(exist, func(l Loop) bool { return l.Policy == d.Policy && l.File == d.Loop.State }) {
				continue // its last decision is shown with it
			}
		}
		switch {
		case d.Success:
			f.Result = ResultDone
		case d.Bound != "":
			f.Result = ResultLimit
		case d.Command != "":
			f.Result = ResultEnded
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
		result := ResultGivenUp
		switch info.Ended {
		case run.Success:
			result = ResultDone
		case run.AtLimit:
			result = ResultLimit
		}
		if i := slices.IndexFunc(all, func(f Finished) bool { return f.Run == info.ID }); i >= 0 {
			all[i].Result = result
			continue
		}
		all = append(all, Finished{Policy: info.Policy, Result: result, At: info.Latest, By: "ralph run", Reason: oneLine(info.Why), Goal: firstLine(info.Prompt), Run: info.ID})
	}
	slices.SortStableFunc(all, func(a, b Finished) int { return b.At.Compare(a.At) })
	return all[:min(len(all), maxFinished)]
}

// Goal returns the first line of the prompt of a loop that the decision ended, "" if it ended none or the file is gone.
// Prompts are not in the log, so it is in the archived file.
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

// firstLine returns the first line of a text that says anything, without the mark of a heading.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = oneLine(strings.TrimLeft(line, "# ")); line != "" {
			return cut(line, 60)
		}
	}
	return ""
}
