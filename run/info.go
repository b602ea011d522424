package run

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
)

// Info is a run that is kept.
type Info struct {
	ID      string            `json:"id"`
	Root    string            `json:"root"` // where the agent works
	Home    string            `json:"home"` // the project that it belongs to
	Policy  string            `json:"policy"`
	Client  string            `json:"client"`
	Args    []string          `json:"args"` // as in [Event]
	Command []string          `json:"-"`    // Args with the values
	Prompt  string            `json:"-"`    // of the user
	Started time.Time         `json:"started"`
	Latest  time.Time         `json:"latest"` // when something happened last
	Running bool              `json:"running"`
	Waiting string            `json:"waiting,omitempty"` // why it waits now, "" if it does not
	Until   *time.Time        `json:"until,omitempty"`   // it waits until then at the latest, nil while it is paused
	Ended   End               `json:"ended,omitempty"`   // "" if it runs, or was killed
	Why     string            `json:"why,omitempty"`     // it ended
	Limits  Limits            `json:"limits"`
	Totals  Totals            `json:"totals"` // up to Latest
	Labels  map[string]string `json:"labels,omitempty"`
}

// Find reads a run that [WithState] keeps in a directory.
func Find(state, id string) (Info, error) {
	disk := store.Open(state)
	c, err := readRun(disk, id)
	if err != nil {
		return Info{}, err
	}
	p, g := c.Plan, c.Progress
	live, _ := disk.LiveRun(p.Root, p.Policy)
	info := Info{
		ID: p.ID, Root: p.Root, Home: p.Home, Policy: p.Policy, Client: p.Client, Args: withoutValues(p.Args), Command: p.Args, Prompt: p.Prompt, Started: p.Started, Latest: p.Started,
		Running: g.End == "" && live == p.ID, Ended: g.End, Limits: p.Limits, Labels: p.Labels,
		Totals: Totals{Iterations: g.Iterations, Tokens: g.Tokens, Cost: g.Cost, Outcomes: g.Outcomes},
	}
	if ev := g.Event; ev != nil {
		info.Latest, info.Totals.Elapsed = ev.Time, ev.Time.Sub(p.Started)
		switch {
		case ev.Kind == RunEnd:
			info.Why = ev.Why
		case ev.Kind == Waiting && info.Running:
			info.Waiting, info.Until = ev.Why, ev.Until
		}
	}
	return info, nil
}

// Live returns the ID of the run of a policy that is under way in a project, "" if there is none. The project of a run in
// a worktree is the worktree.
func Live(state, root, policy string) (id string, err error) {
	return store.Open(state).LiveRun(root, policy)
}

// List reads the runs that are kept in a directory, the latest first: those of one project, or all if root is "". What
// cannot be read is left out.
func List(state, root string) ([]Info, error) {
	ids, err := store.Open(state).Runs()
	var all []Info
	for _, id := range ids {
		if info, err := Find(state, id); err == nil && (root == "" || info.Home == root) {
			all = append(all, info)
		}
	}
	return all, err
}
