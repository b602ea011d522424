package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// switches is the document of a project: what is not decided there.
type switches struct {
	Stops map[string]time.Time `json:"stops,omitempty"` // by a person: a policy, or "" for all, and when
	Runs  map[string]string    `json:"runs,omitempty"`  // by a run: the name that it holds, and its ID
}

// Stop lets agents of the loop's project stop, whatever its policy says, until Undo: for one policy, or for all of the project if it is
// "". The policy need not be the loop's.
func (l *Loop) Stop(ctx context.Context, policy string) (err error) {
	defer caught(&err)
	now := l.now()
	return l.change(ctx, func(s *switches) { s.Stops[policy] = now })
}

// Undo undoes Stop for one policy, or for all of the project if it is "". It may be called without a stop.
func (l *Loop) Undo(ctx context.Context, policy string) error {
	return l.change(ctx, func(s *switches) {
		if policy == "" {
			clear(s.Stops)
		}
		delete(s.Stops, policy)
	})
}

// Stops returns what Stop stopped, and when: names of policies, and "" for all.
func (l *Loop) Stops(ctx context.Context) (map[string]time.Time, error) {
	s, err := l.switches(ctx)
	return s.Stops, err
}

func (l *Loop) switches(ctx context.Context) (switches, error) {
	key := l.key("project", l.root)
	b, err := l.store.Load(ctx, key)
	if err != nil {
		return switches{}, l.fault(key, err)
	}
	s, err := l.readSwitches(b)
	if err != nil { // the error of Update names the file
		err = cmp.Or(l.change(ctx, func(*switches) {}), err)
	}
	return s, err
}

func (l *Loop) readSwitches(b []byte) (switches, error) {
	s := switches{map[string]time.Time{}, map[string]string{}}
	if len(b) > 0 && (json.Unmarshal(b, &s) != nil || s.Stops == nil || s.Runs == nil) {
		return switches{}, &fs.PathError{Op: "read", Path: l.key("project", l.root), Err: errDamaged}
	}
	return s, nil
}

func (l *Loop) change(ctx context.Context, change func(*switches)) error {
	key := l.key("project", l.root)
	return l.fault(key, l.store.Update(ctx, key, func(old []byte) ([]byte, error) {
		s, err := l.readSwitches(old)
		if err != nil {
			return nil, err
		}
		change(&s)
		if len(s.Stops) == 0 && len(s.Runs) == 0 {
			return nil, nil
		}
		return json.Marshal(s)
	}))
}

// Off returns why events are not decided, or "": a person switched ralph off, or stopped the policy.
func (l *Loop) Off(ctx context.Context) (string, error) { return l.off(ctx, true) }

// off is Off, and for an event that is not of a run, that a run decides by the policy in the project.
func (l *Loop) off(ctx context.Context, run bool) (why string, err error) {
	defer caught(&err)
	if v, ok := l.env("RALPH_OFF"); ok && !slices.Contains([]string{"", "0", "false", "no"}, strings.ToLower(strings.TrimSpace(v))) {
		return "RALPH_OFF is set", nil
	}
	if l.root != "" {
		file := filepath.Join(l.root, ".ralph", "off")
		if _, err := os.Lstat(file); err == nil {
			return file + " exists", nil
		}
	}
	s, err := l.switches(ctx)
	if err != nil {
		return "", err
	}
	name := l.Policy().Name
	_, one := s.Stops[name]
	if _, all := s.Stops[""]; one || all {
		return "a person stopped it", nil
	}
	if s.Runs[name] == "" || run || l.root == "" {
		return "", nil
	}
	id, err := l.Held(ctx, name)
	if id == "" {
		return "", err
	}
	return "the run " + id + " decides by this policy here", nil
}

// isOff is the decision of an event that is not decided. It is recorded once a session for each reason.
func (w *work) isOff(ctx context.Context, why string) Decision {
	d := made{Decision: Decision{Outcome: Off, Policy: w.policy.Name, Reason: why}}
	if w.record == nil {
		return d.Decision
	}
	mark, first := w.policy.Name+": "+why, false
	err := w.store.Update(ctx, w.key, func(old []byte) ([]byte, error) {
		s, err := readSession(old)
		if err != nil {
			return nil, err
		}
		if first = !slices.Contains(s.Off, mark); first {
			s.Off = append(s.Off, mark)
		}
		return s.bytes()
	})
	if err == nil && first {
		w.keepRecord(ctx, &d, time.Now())
	}
	return d.Decision
}
