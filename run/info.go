package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run/step"
	"github.com/ralph-sdk/ralph/state"
)

// Info describes a kept run.
type Info struct {
	ID      string            `json:"id"`
	Root    string            `json:"root"` // where the agent works
	Home    string            `json:"home"` // the project in which it is listed
	Files   string            `json:"-"`    // where its Dir is
	Policy  string            `json:"policy"`
	Client  string            `json:"client"`
	Args    []string          `json:"args"` // as in [Event]
	Command []string          `json:"-"`    // Args including the values
	Prompt  string            `json:"-"`    // the user's
	Started time.Time         `json:"started"`
	Latest  time.Time         `json:"latest"` // the time of the last event
	Running bool              `json:"running"`
	Waiting string            `json:"waiting,omitempty"` // why it is waiting, "" if it is not
	Until   *time.Time        `json:"until,omitempty"`   // the latest end of the wait, nil while paused
	Ended   End               `json:"ended,omitempty"`   // "" if it is running or was killed
	Why     string            `json:"why,omitempty"`     // the reason for Ended
	Rule    string            `json:"rule,omitempty"`    // the rule that ended it, or a limit of the policy, as limits.NAME
	Limit   string            `json:"limit,omitempty"`   // the limit of the run that ended it: iterations, elapsed, tokens or cost
	Resets  *time.Time        `json:"resets_at,omitempty"`
	Limits  Limits            `json:"limits"`
	Totals  Totals            `json:"totals"` // up to Latest
	Labels  map[string]string `json:"labels,omitempty"`
}

// Find returns a run that [WithStore] kept in a store and a scope.
func Find(ctx context.Context, s loop.Store, scope, id string) (Info, error) {
	k, err := runsIn(s, scope)
	if err != nil {
		return Info{}, err
	}
	return k.find(ctx, id)
}

func (k *runs) find(ctx context.Context, id string) (Info, error) {
	c, _, err := k.read(ctx, id)
	if err != nil {
		return Info{}, err
	}
	live := ""
	if c.State.Final == nil {
		live, _ = k.holder(ctx, c.State.Plan.Root, c.State.Plan.Policy)
	}
	return info(c.State, c.text(c.State.Plan.Prompt), live == id), nil
}

// InfoOf returns the description of a run that another driver drives.
func InfoOf(s step.State) Info { return info(s, s.Plan.Prompt.Text, true) }

func info(s step.State, prompt string, alive bool) Info {
	p := s.Plan
	args, _ := escape.Secrets(p.Args)
	info := Info{
		ID: p.ID, Root: p.Root, Home: p.Home, Files: cmp.Or(p.Files, p.Home), Policy: p.Policy, Client: p.Client, Args: args, Command: p.Args, Prompt: prompt, Started: p.Started, Latest: p.Started,
		Running: s.Final == nil && alive, Limits: p.Limits, Labels: p.Labels, Totals: s.Totals(s.At),
	}
	if !s.At.IsZero() {
		info.Latest = s.At
	}
	if f := s.Final; f != nil {
		info.Ended, info.Why, info.Rule, info.Limit, info.Resets = f.End, f.Why, f.Rule, f.Limit, f.Resets
	}
	if w := s.Pending; w != nil && info.Running {
		info.Waiting, info.Until = w.Why, w.Latest()
	}
	return info
}

// Printed is the end of what an agent printed.
type Printed struct {
	Iteration int    `json:"iteration"`
	Text      string `json:"text"`
	Cut       int64  `json:"cut,omitempty"` // bytes that come before it
}

// Printed returns at most so many bytes of the end of what the agent printed in the latest iteration. Of a run that has
// none yet it is empty.
func (i Info) Printed(most int64) (p Printed, err error) {
	if p.Iteration = i.Totals.Iterations; p.Iteration == 0 {
		return p, nil
	}
	text, cut, err := i.end(outputName(p.Iteration, "out"), most)
	p.Text, p.Cut = strings.ToValidUTF8(string(text), "\ufffd"), cut
	return p, err
}

// Events returns the events of the run, from at most so many bytes of the end of run.jsonl. It leaves out lines that are
// no events of the run.
func (i Info) Events(most int64) (all []Event, err error) {
	text, _, err := i.end(logFile, most)
	for line := range bytes.Lines(text) {
		var ev Event
		if json.Unmarshal(line, &ev) == nil && ev.V == 1 && ev.Run == i.ID {
			all = append(all, ev)
		}
	}
	return all, err
}

// end returns at most so many bytes of the end of a file of the run, and how many come before them. An agent can write
// these files: links do not lead out of the project.
func (i Info) end(name string, most int64) (text []byte, cut int64, err error) {
	f, err := state.Files(i.Files).Open(path.Join(Dir, i.ID, name))
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	file, ok := f.(io.ReaderAt)
	if err != nil || !ok {
		return nil, 0, err
	}
	cut = max(0, info.Size()-most)
	text, err = io.ReadAll(io.NewSectionReader(file, cut, most))
	return text, cut, err
}

// Live returns the ID of the policy's live run in a project, or "" if there is none. The project of a run in a worktree
// is the worktree.
func Live(ctx context.Context, s loop.Store, scope, root, policy string) (id string, err error) {
	k, err := runsIn(s, scope)
	if err != nil {
		return "", err
	}
	return k.holder(ctx, root, policy)
}

// List returns the runs kept in a store and a scope, latest first: those of one project, or all if root is "". It skips
// what it cannot read.
func List(ctx context.Context, s loop.Store, scope, root string) ([]Info, error) {
	k, err := runsIn(s, scope)
	if err != nil {
		return nil, err
	}
	return k.list(ctx, root)
}

func (k *runs) list(ctx context.Context, root string) (all []Info, err error) {
	ids, err := k.orders(ctx).Runs()
	for _, id := range ids {
		if info, err := k.find(ctx, id); err == nil && (root == "" || info.Home == root) {
			all = append(all, info)
		}
	}
	return all, err
}
