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

// Stop lets agents of the loop's project stop, whatever its policy says, until Undo: for one policy, or for all of the project if it is
// "". The policy need not be the loop's.
func (l *Loop) Stop(ctx context.Context, policy string) error {
	now := l.now()
	return l.changeStops(ctx, func(stops map[string]time.Time) { stops[policy] = now })
}

// Undo undoes Stop for one policy, or for all of the project if it is "". It may be called without a stop.
func (l *Loop) Undo(ctx context.Context, policy string) error {
	return l.changeStops(ctx, func(stops map[string]time.Time) {
		if policy == "" {
			clear(stops)
		}
		delete(stops, policy)
	})
}

// Stops returns what Stop stopped, and when: names of policies, and "" for all.
func (l *Loop) Stops(ctx context.Context) (map[string]time.Time, error) {
	b, err := l.store.Load(ctx, l.stopKey())
	if err != nil {
		return nil, err
	}
	stops, err := l.readStops(b)
	if err != nil { // the error of Update names the file
		err = cmp.Or(l.changeStops(ctx, func(map[string]time.Time) {}), err)
	}
	return stops, err
}

func (l *Loop) stopKey() string { return l.key("stop", l.root) }

func (l *Loop) readStops(b []byte) (map[string]time.Time, error) {
	stops := map[string]time.Time{}
	if len(b) > 0 && json.Unmarshal(b, &stops) != nil {
		return nil, &fs.PathError{Op: "read", Path: l.stopKey(), Err: errDamaged}
	}
	return stops, nil
}

func (l *Loop) changeStops(ctx context.Context, change func(map[string]time.Time)) error {
	return l.store.Update(ctx, l.stopKey(), func(old []byte) ([]byte, error) {
		stops, err := l.readStops(old)
		if err != nil {
			return nil, err
		}
		change(stops)
		if len(stops) == 0 {
			return nil, nil
		}
		return json.Marshal(stops)
	})
}

// Off returns why events are not decided, or "": a person switched ralph off, or stopped the policy.
func (l *Loop) Off(ctx context.Context) (string, error) {
	if v, ok := l.env("RALPH_OFF"); ok && !slices.Contains([]string{"", "0", "false", "no"}, strings.ToLower(strings.TrimSpace(v))) {
		return "RALPH_OFF is set", nil
	}
	if l.root != "" {
		file := filepath.Join(l.root, ".ralph", "off")
		if _, err := os.Lstat(file); err == nil {
			return file + " exists", nil
		}
	}
	stops, err := l.Stops(ctx)
	if err != nil {
		return "", err
	}
	_, one := stops[l.Policy().Name]
	if _, all := stops[""]; one || all {
		return "a person stopped it", nil
	}
	return "", nil
}

// off is Off, and that a run decides by the policy in the project.
func (w *work) off(ctx context.Context) (string, error) {
	why, err := w.Off(ctx)
	if why != "" || err != nil || w.ev.Run || w.config.root == "" {
		return why, err
	}
	run, err := w.Held(ctx, w.policy.Name)
	if run == "" {
		return "", err
	}
	return "the run " + run + " decides by this policy here", nil
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
