package project

import (
	"cmp"
	"context"
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

// Status is the status of a project, as ralph status prints it in JSON.
type Status struct {
	Project string     `json:"project"`
	Trusted bool       `json:"trusted"`       // its loops and settings also count for hooks of all projects
	Off     string     `json:"off,omitempty"` // why all loops are off
	Paused  []Pause    `json:"paused,omitempty"`
	Loops   []Loop     `json:"loops"`
	Runs    []run.Info `json:"runs,omitempty"` // of ralph run: live, or killed

	Unread   []UnreadHook `json:"unread,omitempty"`   // hooks that ralph cannot read
	Shadows  []string     `json:"shadows,omitempty"`  // files of the project that replace shipped policies
	Finished []Finished   `json:"finished,omitempty"` // the latest loops that ended, other than those of Loops
	Hints    []Hint       `json:"hints,omitempty"`    // not yet seen by an agent
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

// Loop is a policy that an installed hook evaluates, that has a loop, or that decided in the last day, and its loop if it
// exists.
type Loop struct {
	Policy   string         `json:"policy"`
	Hooks    []Installed    `json:"hooks,omitempty"` // that evaluate it
	State    State          `json:"state"`
	Why      string         `json:"why,omitempty"`    // the cause of the state
	Heard    time.Time      `json:"heard,omitzero"`   // the last sign of life of the session
	Name     string         `json:"name,omitempty"`   // the policy's name for the loop
	File     string         `json:"file,omitempty"`   // of the loop's state; of a loop that ended, where it is now; "" without a loop
	Changed  time.Time      `json:"changed,omitzero"` // when the file changed
	Owner    string         `json:"owner,omitempty"`  // the session that owns it, "" is every session
	Goal     string         `json:"goal,omitempty"`   // first line of the prompt
	Measure  *rules.Measure `json:"measure,omitempty"`
	Problems []string       `json:"problems,omitempty"`

	Last   *Last          `json:"last,omitempty"`
	Since  time.Time      `json:"since,omitzero"`   // of the streak of the session with the last decision
	Limits []rules.Limit  `json:"limits,omitempty"` // of the streak, with what is counted now
	Memory map[string]any `json:"memory,omitempty"` // the policy's memory; of private values, their size
}

// Last is the last decision on a loop, by its owner if it has one.
type Last struct {
	At      time.Time    `json:"at"`
	Session string       `json:"session,omitempty"`
	Agent   string       `json:"agent,omitempty"` // subagent of that session
	Host    string       `json:"host,omitempty"`
	Outcome loop.Outcome `json:"outcome"`
	Cause   rules.Cause  `json:"cause,omitempty"`
	By      string       `json:"by"` // rule or limit
	Reason  string       `json:"reason"`
}

// Finished is a loop or a run that ended.
type Finished struct {
	Policy string       `json:"policy"`
	Name   string       `json:"name,omitempty"` // the policy's name for it, "" if that is its file
	Result loop.Outcome `json:"result"`
	Cause  rules.Cause  `json:"cause,omitempty"`
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

// Status returns the status of every policy that could continue an agent of the project. It runs and changes nothing.
func (p *Project) Status(ctx context.Context) (*Status, error) {
	s := &Status{Project: p.dir, Trusted: p.orders.Trusts(p.dir), Loops: []Loop{}}
	if why, off := workspace.Off(s.Project, p.env); off {
		s.Off = why
	}
	pauses, err := p.orders.Pauses(s.Project)
	if err != nil {
		return nil, err
	}
	for _, o := range pauses {
		s.Paused = append(s.Paused, Pause(o))
	}
	hints, err := p.orders.Hints(s.Project)
	if err != nil {
		return nil, err
	}
	for _, o := range hints {
		s.Hints = append(s.Hints, Hint(o))
	}
	k, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	if s.Loops, err = p.lines(ctx, k); err != nil {
		return nil, err
	}
	s.Unread = k.unread
	for _, policy := range k.policies {
		if policy.Shadows != "" {
			s.Shadows = append(s.Shadows, policy.Name)
		}
	}
	for _, info := range k.runs {
		if info.Ended == "" {
			s.Runs = append(s.Runs, info)
		}
	}
	s.Finished = finished(ctx, k, s.Loops)
	return s, nil
}

// harmful returns values of a state that violate its schema and matter to users, except known ones.
func harmful(fact *rules.Fact, file string, doc state.Doc, known []string) (texts []string) {
	if doc.Status != state.OK || fact.Schema == nil {
		return nil
	}
	checked := fact.Schema.Check(doc.Document)
	for _, bad := range slices.Concat(checked.Unusable, doc.Unusable) {
		text := fmt.Sprintf("%s:%d:%d: %s %s", file, bad.Line, bad.Col, fact.Name+strings.ReplaceAll(bad.Pointer, "/", "."), bad.Text())
		if fact.Private {
			text = fmt.Sprintf("%s: %s has a value that does not fit its schema", file, fact.Name)
		}
		if !slices.Contains(known, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (d Decision) last() *Last {
	o, cause := d.Ended()
	return &Last{At: d.Time, Session: d.Session, Agent: d.Agent, Host: d.Host, Outcome: o, Cause: cause, By: d.By(), Reason: d.Said()}
}

// ended returns how a decision ended its loop, whose file may be gone by then.
func ended(d Decision) loop.Outcome {
	if o := d.Outcome(); o != loop.Idle && o != loop.Skipped {
		return o
	}
	return loop.Stopped
}

// finished returns the loops and runs that ended last, latest first, except those that lines show.
func finished(ctx context.Context, k known, lines []Loop) (all []Finished) {
	for _, d := range k.ends {
		_, cause := d.Ended()
		f := Finished{Policy: d.Policy, Result: ended(d), Cause: cause, At: d.Time, By: d.By(), Reason: d.Said(), File: d.Archived()}
		file := f.File
		if d.Loop != nil {
			if d.Loop.Name != d.Loop.State {
				f.Name = d.Loop.Name
			}
			file = cmp.Or(file, d.Loop.State)
		}
		if slices.ContainsFunc(lines, func(l Loop) bool { return l.Policy == d.Policy && l.File == file && file != "" }) {
			continue
		}
		f.Goal = d.Goal(ctx)
		for _, info := range k.runs {
			if d.Session == run.Session(info.ID) {
				f.Run = info.ID
			}
		}
		all = append(all, f)
	}
	for _, info := range k.runs {
		if info.Ended == "" {
			continue
		}
		result := Outcome(info.Ended)
		if i := slices.IndexFunc(all, func(f Finished) bool { return f.Run == info.ID }); i >= 0 {
			all[i].Result, all[i].Cause = result, Cause(info)
			continue
		}
		all = append(all, Finished{Policy: info.Policy, Result: result, Cause: Cause(info), At: info.Latest, By: "ralph run", Reason: oneLine(info.Why), Goal: firstLine(info.Prompt), Run: info.ID})
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
