package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

// Paused is the result of a pause or a resume.
type Paused struct {
	Pause           // what it applied to; the zero value is the whole project
	Changed bool    // false if nothing changed
	Still   []Pause // pauses that still apply
	Off     string  // why all loops of the process are off anyway
	Problem string  // why the previous pauses are unknown
}

// Pause lets agents stop until [Project.Resume], and keeps all state: for a policy, a session, a policy in a session,
// or the whole project.
func (p *Project) Pause(ctx context.Context, policy, session string) (out Paused, err error) {
	if policy == "" && session == "" {
		note := fmt.Sprintf("All loops of this project are off since %s. Run `ralph resume` to turn them on\n", p.now().UTC().Format(time.RFC3339))
		err = p.root.Write(ctx, workspace.OffFile, []byte(note), "")
		if errors.Is(err, state.ErrChanged) || err != nil && p.root.Exists(workspace.OffFile) {
			return out, nil
		}
		out.Changed = err == nil
		return out, err
	}
	return p.changePause(policy, session, true)
}

// Resume undoes a pause. Other pauses stay.
func (p *Project) Resume(ctx context.Context, policy, session string) (out Paused, err error) {
	if policy != "" || session != "" {
		out, err = p.changePause(policy, session, false)
	} else {
		err = os.Remove(filepath.Join(p.dir, filepath.FromSlash(workspace.OffFile)))
		if out.Changed = err == nil; errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		out.Off, _ = workspace.Off("", p.env)
	}
	if err != nil {
		return out, err
	}
	pauses, err := p.orders.Pauses(p.dir)
	if err != nil && out.Pause == (Pause{}) { // what it covered is unknown
		out.Problem = err.Error()
		return out, p.orders.ResumeUnreadable(p.dir)
	}
	for _, o := range pauses {
		if (out.Policy == "" || o.Policy == "" || o.Policy == out.Policy) && (out.Session == "" || o.Session == "" || o.Session == out.Session) {
			out.Still = append(out.Still, Pause(o))
		}
	}
	return out, err
}

// changePause adds a pause or removes it.
func (p *Project) changePause(policy, session string, add bool) (out Paused, err error) {
	out.Session = session
	if policy != "" {
		found, err := p.Find(policy)
		if err != nil {
			return out, err
		}
		out.Policy = found.Name
	}
	if add {
		out.Changed, err = p.orders.Pause(p.dir, store.Pause{Policy: out.Policy, Session: session, At: p.now().UTC()})
	} else {
		out.Changed, err = p.orders.Resume(p.dir, store.Pause{Policy: out.Policy, Session: session})
	}
	return out, err
}

// maxHint bounds one hint, in bytes: the agent reads it with a rule's text.
const maxHint = 16 << 10

// Hint stores a text that the agent sees once, with its next continuation in the project: only by this policy and in
// this session, if they are set.
func (p *Project) Hint(ctx context.Context, text, policy, session string) (Hint, error) {
	h, err := p.hint(policy, session)
	h.Text, h.At = text, p.now().UTC()
	if err == nil && len(text) > maxHint {
		err = fmt.Errorf("the hint is too long: %d bytes (limit %d)", len(text), maxHint)
	}
	if err == nil {
		err = p.orders.ChangeHints(ctx, p.dir, func(all []store.Hint) []store.Hint { return append(all, store.Hint(h)) })
	}
	return h, err
}

// ClearHints removes pending hints, or only those for a policy or a session, and returns their number.
func (p *Project) ClearHints(ctx context.Context, policy, session string) (n int, err error) {
	only, err := p.hint(policy, session)
	if err != nil {
		return 0, err
	}
	err = p.orders.ChangeHints(ctx, p.dir, func(all []store.Hint) []store.Hint {
		left := slices.DeleteFunc(slices.Clone(all), func(h store.Hint) bool {
			return (policy == "" || h.Policy == only.Policy) && (session == "" || h.Session == session)
		})
		n = len(all) - len(left)
		return left
	})
	return n, err
}

// hint returns a hint for a policy, without its text.
func (p *Project) hint(policy, session string) (Hint, error) {
	if policy == "" {
		return Hint{Session: session}, nil
	}
	found, err := p.Find(policy)
	return Hint{Policy: found.Name, Session: session}, err
}
