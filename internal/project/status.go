package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// The states of an installed policy.
const (
	Ready    = "ready"    // it decides the next stop
	Stopped  = "stopped"  // a person stopped it, or switched ralph off
	Unusable = "unusable" // it cannot decide
	NoHook   = "no hook"  // nothing asks it
	Running  = "running"  // a run decides by it
	Killed   = "killed"   // the process of a run by it ended before the run
	Beside   = "beside"   // it is not ralph's, and answers the same stops
)

// Problem is something that keeps a policy from deciding, and the command or edit that repairs it.
type Problem struct {
	What string `json:"what"`
	Fix  string `json:"fix"`
}

// Status is what a policy of an installed hook would do at the next stop.
type Status struct {
	Policy   string       `json:"policy"`
	State    string       `json:"state"`
	Host     string       `json:"host,omitempty"` // "": no hook uses the policy
	Settings string       `json:"settings,omitempty"`
	Bound    string       `json:"bound,omitempty"`
	Run      *run.State   `json:"run,omitempty"`  // of ralph run
	Last     *loop.Record `json:"last,omitempty"` // the last decision
	Problems []Problem    `json:"problems,omitempty"`

	logged string    // the policy's name in the log
	since  time.Time // earlier decisions are of another policy of that name
	again  string    // installs the hook again
}

// Status returns what would decide the next stop of each installed hook, in the order of the settings, and the policies of the project that
// no hook uses; before them the runs that did not come to their end. It reads no decisions: AddLast adds the last ones.
func (h *Home) Status(ctx context.Context, p Project, getenv func(string) string) ([]Status, error) {
	all, err := h.runs(ctx, p)
	if err != nil {
		return nil, err
	}
	files := p.AllSettings(getenv)
	for _, f := range files {
		entries, err := p.Hooks(f)
		if err != nil {
			all = append(all, Status{Policy: "?", State: Unusable, Host: f.Host.Name, Settings: f.Path,
				Problems: []Problem{{fmt.Sprintf("%s cannot be read: %v", f.Path, err), "repair the file by hand: ralph changes no settings that it cannot read"}}})
		}
		for _, e := range entries {
			for _, o := range h.Hook(ctx, p, e.Names(), e.Set, looking) {
				s := h.status(ctx, p, e, o)
				s.Host, s.Settings = f.Host.Name, f.Path
				if e.Events != nil { // else it is that of the plugin
					s.again = again(e, f)
				}
				if _, limit := f.Host.Limit(getenv); s.Bound != "" && limit != "" {
					s.Bound += " " + limit
				}
				s.inEntry(e, f)
				all = append(all, s)
			}
		}
	}
	all = append(all, p.rivals(files, all)...)
	for _, name := range p.Names() {
		unused := !slices.ContainsFunc(all, func(s Status) bool { return s.Policy == name && s.Run == nil })
		if unused && name != Until {
			e := host.Entry{Host: host.ClaudeCode, Policies: []string{name}}
			s := h.status(ctx, p, e, h.Hook(ctx, p, e.Names(), nil, looking)[0])
			if s.State == Ready {
				s.State = NoHook
			}
			s.add("no hook uses it", "ralph install "+typed(e))
			all = append(all, s)
		}
	}
	return all, nil
}

// runs returns the runs of a project that are live, and the latest if it was killed.
func (h *Home) runs(ctx context.Context, p Project) (all []Status, err error) {
	l, err := h.Stops(p, "")
	if err != nil {
		return nil, err
	}
	runs, err := run.List(ctx, h.Store, p.Root)
	if err != nil {
		return nil, err
	}
	for i, s := range runs {
		live, err := run.Live(ctx, l, s)
		if err != nil {
			return nil, err
		}
		switch {
		case live:
			all = append(all, Status{Policy: s.Plan.Name, State: Running, Run: &s})
		case i == 0 && s.End == nil:
			all = append(all, Status{Policy: s.Plan.Name, State: Killed, Run: &s, Problems: []Problem{{"its process ended before the run", "ralph run --resume"}}})
		}
	}
	return all, nil
}

// add adds a problem, with which the policy is not ready.
func (s *Status) add(what, fix string) {
	s.Problems = append(s.Problems, Problem{what, fix})
	if s.State == Ready {
		s.State = Unusable
	}
}

// looking is how policies are opened to be looked at.
var looking = Settings{Quiet: true, Whole: true}

// typed is how an entry is named on a command line: its host, and its policies but for the default.
func typed(e host.Entry) string {
	if slices.Equal(e.Names(), []string{Default}) {
		return e.Host
	}
	return e.Host + " --policy " + strings.Join(e.Policies, " --policy ")
}

// status looks at one policy of a hook.
func (h *Home) status(ctx context.Context, p Project, e host.Entry, o Opened) Status {
	s := Status{Policy: o.Name, State: Ready, logged: o.File.Name}
	if o.Err != nil {
		fix := "ralph check " + o.Name
		if errors.Is(o.Err, fs.ErrNotExist) {
			fix = "ralph uninstall " + typed(e)
			if o.Name == Default {
				fix = "ralph init, or " + fix
			}
		} else if _, err := p.Parse(o.File, Settings{Whole: true}); err == nil && len(e.Set) > 0 {
			fix = "ralph install " + typed(e) + " with the right --set"
		}
		s.add(o.Err.Error(), fix)
		return s
	}
	policy := o.Loop.Policy()
	s.Bound = policy.Bound()
	if reaches := policy.Reaches(); len(reaches) > 0 || e.OnlyApproved {
		if ok, err := h.Approved(ctx, o.File); err != nil || !ok {
			what := "it needs your approval"
			if len(reaches) > 0 {
				what += ": it " + strings.Join(reaches, ", ")
			}
			s.add(what, "ralph trust "+o.Name)
		}
	}
	if why, undo, err := o.Off(ctx); err != nil {
		s.add(err.Error(), "ralph doctor shows where ralph keeps its files")
	} else if why != "" {
		s.State = Stopped
		s.add(why, undo)
	}
	if info, err := os.Stat(o.File.Path); err == nil && o.Name == Until {
		s.since = info.ModTime()
	}
	return s
}

// Until is the policy that ralph until replaces with each command, and that goes with its hook.
const Until = "until"

// Off returns why an opened policy decides nothing, or "", and what ends that.
func (o Opened) Off(ctx context.Context) (why, undo string, err error) {
	why, err = o.Loop.Off(ctx)
	file, exists := strings.CutSuffix(why, " exists")
	switch {
	case exists:
		return why, "remove " + file, err
	case strings.HasPrefix(why, "RALPH_OFF"):
		return why, "unset RALPH_OFF", err
	case why == "":
		return "", "", err
	}
	stops, err := o.Loop.Stops(ctx)
	if _, all := stops[""]; all {
		return why, "ralph start", err
	}
	return why, "ralph start " + o.Name, err
}

// again is the command that installs an entry.
func again(e host.Entry, f SettingsFile) string {
	command := "ralph install " + typed(e) + " --scope " + f.Scope
	for _, set := range e.Set {
		command += " --set '" + strings.ReplaceAll(set, "'", `'\\''`) + "'"
	}
	return command
}

// inEntry adds what is wrong with an entry itself.
func (s *Status) inEntry(e host.Entry, f SettingsFile) {
	if _, err := process.Find(e.Program, filepath.Dir(f.Path)); err != nil {
		fix := "install ralph in a directory of PATH"
		if filepath.IsAbs(e.Program) {
			fix = s.again
		}
		s.add(fmt.Sprintf("%s names %s, which is no program here", f.Path, e.Program), fix)
	}
	if f.Host.Peek(f.Bytes).DisableAllHooks {
		s.add(f.Path+": disableAllHooks is true, so no hook runs", "edit it")
	}
}

// AddLast adds to each policy its last decision.
func (h *Home) AddLast(p Project, all []Status) error {
	last := map[string]*loop.Record{}
	entries, err := h.Decisions(p)
	for _, e := range entries {
		last[e.Policy] = &e.Record
	}
	for i, s := range all {
		if r := last[s.logged]; r != nil && r.Time.After(s.since) {
			all[i].Last = r
		}
	}
	return err
}
