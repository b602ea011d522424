package project

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/loop"
)

// The states of an installed policy.
const (
	Ready    = "ready"    // it decides the next stop
	Stopped  = "stopped"  // a person stopped it, or switched ralph off
	Unusable = "unusable" // it cannot decide
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
	Last     *loop.Record `json:"last,omitempty"` // the last decision
	Problems []Problem    `json:"problems,omitempty"`
}

// Status returns what would decide the next stop of each installed hook, in the order of the settings, and the policies of the project that no hook uses.
func (h *Home) Status(ctx context.Context, p Project, getenv func(string) string) ([]Status, error) {
	last, err := h.lastRecords(p)
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, f := range p.AllSettings(getenv) {
		entries, err := p.Entries(f)
		if err != nil {
			all = append(all, Status{Policy: "?", State: Unusable, Host: f.Host.Name, Settings: f.Path,
				Problems: []Problem{{fmt.Sprintf("%s cannot be read: %v", f.Path, err), "repair the file"}}})
		}
		for _, e := range entries {
			for _, name := range e.Names() {
				s := h.status(ctx, p, e, name)
				s.Host, s.Settings = f.Host.Name, f.Path
				s.Problems = append(s.Problems, inEntry(e, f)...)
				all = append(all, s.seen(last))
			}
		}
	}
	for _, name := range p.Names() {
		unused := !slices.ContainsFunc(all, func(s Status) bool { return s.Policy == name })
		if unused && name != "until" { // which comes and goes with its hook
			s := h.status(ctx, p, host.Entry{}, name)
			flag := " --policy " + name
			if name == Default {
				flag = ""
			}
			s.Problems = append(s.Problems, Problem{"no hook uses it", "ralph install claude-code" + flag})
			all = append(all, s.seen(last))
		}
	}
	return all, nil
}

// seen adds the last decision, and derives the state.
func (s Status) seen(last map[string]*loop.Record) Status {
	s.Last = last[s.Policy]
	if s.State == "" {
		s.State = Ready
	}
	if s.State == Ready && len(s.Problems) > 0 {
		s.State = Unusable
	}
	return s
}

// status looks at one policy of a hook.
func (h *Home) status(ctx context.Context, p Project, e host.Entry, name string) Status {
	s := Status{Policy: name}
	params, err := Params(e.Set)
	if err != nil {
		s.Problems = append(s.Problems, Problem{err.Error(), "ralph install " + e.Host + " --policy " + name + " --set NAME=VALUE"})
	}
	o := h.Hook(ctx, p, []string{name}, Settings{Params: params, Quiet: true, Whole: true})[0]
	if o.Err != nil {
		fix := "ralph check " + name
		if errors.Is(o.Err, fs.ErrNotExist) {
			fix = "ralph init " + name + ", or ralph uninstall " + e.Host + " --policy " + name
		}
		s.Problems = append(s.Problems, Problem{o.Err.Error(), fix})
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
			s.Problems = append(s.Problems, Problem{what, "ralph trust " + name})
		}
	}
	if why, err := o.Loop.Off(ctx); err != nil {
		s.Problems = append(s.Problems, Problem{err.Error(), "see the message"})
	} else if why != "" {
		s.State = Stopped
		s.Problems = append(s.Problems, Problem{why, undo(ctx, o.Loop, why)})
	}
	return s
}

// undo is what ends that events are not decided.
func undo(ctx context.Context, l *loop.Loop, why string) string {
	if file, ok := strings.CutSuffix(why, " exists"); ok {
		return "remove " + file
	}
	if strings.HasPrefix(why, "RALPH_OFF") {
		return "unset RALPH_OFF"
	}
	return StopInForce(ctx, l)
}

// StopInForce returns the command that undoes a person's stop of a policy, or "" if there is none.
func StopInForce(ctx context.Context, l *loop.Loop) string {
	stops, err := l.Stops(ctx)
	if err != nil {
		return ""
	}
	if _, all := stops[""]; all {
		return "ralph start"
	}
	if _, one := stops[l.Policy().Name]; one {
		return "ralph start " + l.Policy().Name
	}
	return ""
}

// inEntry returns what is wrong with an entry itself.
func inEntry(e host.Entry, f SettingsFile) (problems []Problem) {
	if _, err := process.Find(e.Program, filepath.Dir(f.Path)); err != nil {
		fix := "install ralph in a directory of PATH"
		if filepath.IsAbs(e.Program) {
			fix = fmt.Sprintf("ralph install %s --scope %s", e.Host, f.Scope)
			if len(e.Policies) > 0 {
				fix += " --policy " + strings.Join(e.Policies, " --policy ")
			}
		}
		problems = append(problems, Problem{fmt.Sprintf("%s names %s, which is no program here", f.Path, e.Program), fix})
	}
	if why := f.Host.Disabled(f.Bytes); why != "" {
		problems = append(problems, Problem{fmt.Sprintf("%s: %s, so no hook runs", f.Path, why), "edit it"})
	}
	return problems
}

// lastBytes of the log are searched for last decisions.
const lastBytes = 4 << 20

// lastRecords returns the last decision of each policy in a project.
func (h *Home) lastRecords(p Project) (map[string]*loop.Record, error) {
	last := map[string]*loop.Record{}
	f, err := h.OpenLog()
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > lastBytes {
		if _, err := f.Seek(-lastBytes, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	for r := range Records(bufio.NewReader(f)) {
		if r.Project == p.Root {
			last[r.Policy] = &r.Record
		}
	}
	return last, nil
}

// Entry is a line of the log.
type Entry struct {
	loop.Record
	Line []byte
}

// Records yields the whole lines that follow in a log. A line that cannot be read is left out: its writer was killed.
func Records(r *bufio.Reader) func(yield func(Entry) bool) {
	return func(yield func(Entry) bool) {
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			e := Entry{Line: bytes.Clone(line)}
			if json.Unmarshal(line, &e.Record) == nil && !yield(e) {
				return
			}
		}
	}
}
