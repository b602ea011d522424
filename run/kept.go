package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run/step"
)

// maxText bounds the agent's last message that is kept for the policy; promises are at its end.
const maxText = 128 << 10

// checkpoint is the saved form of a run.
type checkpoint struct {
	V      int               `json:"v"` // the version, 1
	State  step.State        `json:"state"`
	Agent  process.ID        `json:"agent,omitzero"`   // the running agent
	Events []Event           `json:"events,omitempty"` // of the latest step
	Texts  map[string]string `json:"texts,omitempty"`  // documents of the state, by name
}

// put returns a text of the state.
func (r *Runner) put(text string) step.Text {
	if step.Fits(text) {
		return step.Text{Text: text}
	}
	sum := sha256.Sum256([]byte(text))
	name := hex.EncodeToString(sum[:])
	r.saved.Texts[name] = text
	return step.Text{Document: name, Bytes: len(text)}
}

// text returns what a text of the state says.
func (c *checkpoint) text(t step.Text) string {
	if t.Document != "" {
		return c.Texts[t.Document]
	}
	return t.Text
}

// keep saves the checkpoint, with the documents that its state names.
func (r *Runner) keep() error {
	s, texts := r.saved.State, map[string]string{}
	for _, t := range []step.Text{s.Plan.Prompt, s.Prompt, s.Answer, s.Memory, s.Latest.Text} {
		if t.Document != "" {
			texts[t.Document] = r.saved.Texts[t.Document]
		}
	}
	r.saved.V, r.saved.Texts = 1, texts
	if r.kept.runs == nil {
		return nil
	}
	line, err := json.Marshal(r.saved)
	if err == nil {
		ctx, cancel := inTime(context.Background()) // also what ends a run whose context is done
		defer cancel()
		err = r.kept.runs.orders(ctx).SaveRun(ctx, r.plan.ID, line, r.kept.line)
	}
	switch {
	case errors.Is(err, store.ErrChanged):
		return errors.New("another process continues the run, so it ends in this one")
	case err != nil:
		return fmt.Errorf("the run cannot be kept, so it ends: %w", err)
	}
	r.kept.line = line
	return nil
}

// recall reads the run to resume, and returns the input that resumes it. It reads again under the run's lock, since
// another process may have run it until then.
func (r *Runner) recall() (step.Input, error) {
	in := step.Input{Kind: step.Resume, Limits: r.resumed.limits}
	if r.kept.runs == nil {
		return in, errors.New("a run is resumed from where it was kept: add WithStore")
	}
	ctx, cancel := inTime(context.Background())
	defer cancel()
	c, line, err := r.kept.runs.read(ctx, r.resumed.id)
	if err != nil {
		return in, err
	}
	plan, end := c.State.Plan, c.end()
	switch {
	case plan.Policy != r.name:
		return in, fmt.Errorf("run %s is of the policy %s, not of %s", r.resumed.id, plan.Policy, r.name)
	case plan.Client != r.adapter.Name():
		return in, fmt.Errorf("run %s is of %s, not of %s", r.resumed.id, plan.Client, r.adapter.Name())
	case end == Success:
		return in, fmt.Errorf("run %s has ended by success; start a new one", r.resumed.id)
	case r.resumed.answer != "" && end != Asked:
		return in, fmt.Errorf("run %s asks nothing; resume it without an answer", r.resumed.id)
	}
	if _, err := os.Stat(plan.Root); err != nil {
		return in, fmt.Errorf("the project cannot be used: %w", err)
	}
	if err := r.reported(in.Limits); err != nil {
		return in, err
	}
	if c.Texts == nil {
		c.Texts = map[string]string{}
	}
	c.State.Stopping, c.State.Later, c.State.Paused = "", false, "" // what a killed process was asked for
	r.plan, r.saved, r.kept.line = plan, c, line
	r.plan.Limits = in.Limits.Or(plan.Limits)
	in.Answer = r.put(r.resumed.answer)
	return in, nil
}

// end returns how the run ended, "" if it did not.
func (c *checkpoint) end() End {
	if f := c.State.Final; f != nil {
		return f.End
	}
	return ""
}

// runs are those that a store keeps in a scope.
type runs struct {
	store  loop.Store
	docs   loop.Documents
	leases loop.Leases // nil: none of them is live
	scope  string
}

// runsIn returns the runs of a store. Without leases none can be started.
func runsIn(s loop.Store, scope string) (*runs, error) {
	docs, ok := s.(loop.Documents)
	if !ok {
		return nil, store.ErrNoDocuments
	}
	leases, _ := s.(loop.Leases)
	return &runs{s, docs, leases, scope}, nil
}

// storeTime is how long a store may take.
const storeTime = 25 * time.Second

// inTime bounds ctx by the time of the store.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, storeTime)
}

// orders returns the documents of runs, and what persons order.
func (k *runs) orders(ctx context.Context) store.Orders {
	return store.OrdersAt(ctx, k.docs, loop.ErrConflict, k.scope)
}

// lease returns the lease that a live run of a policy holds in its project.
func (k *runs) lease(root, policy string) string {
	return store.OrdersIn(nil, k.scope).RunLease(root, policy)
}

// holder returns the ID of the policy's live run in a project, or "".
func (k *runs) holder(ctx context.Context, root, policy string) (id string, err error) {
	if k.leases == nil {
		return "", nil
	}
	return k.leases.Holder(ctx, k.lease(root, policy))
}

// read returns a kept run, and its text.
func (k *runs) read(ctx context.Context, id string) (c checkpoint, line []byte, err error) {
	line, err = k.orders(ctx).LoadRun(id)
	if err == nil {
		err = json.Unmarshal(line, &c)
	}
	if err == nil && (c.V != 1 || c.State.Plan.ID != id) {
		err = errors.New("it is not in the form of this version")
	}
	switch {
	case errors.Is(err, store.ErrNoRun):
		return c, nil, fmt.Errorf("%w: %s", store.ErrNoRun, id)
	case err != nil:
		return c, nil, fmt.Errorf("run %s cannot be read: %w", id, err)
	}
	return c, line, nil
}

// hold takes the lease of the policy in its project: two runs of one policy would work on the same task.
func (r *Runner) hold(ctx context.Context) (release func(), err error) {
	ctx, cancel := inTime(ctx)
	defer cancel()
	release, live, err := r.kept.runs.leases.Hold(ctx, r.kept.runs.lease(r.plan.Root, r.plan.Policy), r.plan.ID)
	if live != "" {
		err = fmt.Errorf("run %s of %s works in %s; wait for it, stop it, or run this one in a separate worktree", live, r.plan.Policy, r.plan.Root)
	}
	return release, err
}

// ordered returns what persons ordered in the store. It is an error if that is not known, or if the run no longer holds its
// lease: another one may work on the same task.
func (r *Runner) ordered(ctx context.Context) (Control, error) {
	k := r.kept.runs
	if k == nil {
		return GoOn, nil
	}
	ctx, cancel := inTime(ctx)
	defer cancel()
	o := store.OrdersIn(nil, k.scope)
	keys := []loop.Key{{Name: k.lease(r.plan.Root, r.plan.Policy)}}
	for _, n := range append([]store.Name{o.EndName(r.plan.ID)}, o.PauseNames(r.plan.Home, r.plan.Policy, Session(r.plan.ID))...) {
		keys = append(keys, loop.Key{Kind: n.Kind, Name: n.Name})
	}
	entries, err := k.load(ctx, keys)
	switch {
	case err != nil:
		return GoOn, fmt.Errorf("it is not known whether the run is stopped or paused: %w", err)
	case entries[0].Version != r.plan.ID:
		return GoOn, errors.New("the run no longer holds its lease in the store, so another one may work on the same task; resume it to continue")
	case entries[1].Version != "":
		return Leave, nil
	case slices.ContainsFunc(entries[2:], func(e loop.Entry) bool { return e.Version != "" }):
		return Pause, nil
	}
	return GoOn, nil
}

// load loads what the store has under keys.
func (k *runs) load(ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
	entries, err := k.store.Load(ctx, keys...)
	if err == nil && len(entries) != len(keys) {
		err = fmt.Errorf("Store.Load returned %d entries for %d keys", len(entries), len(keys))
	}
	return entries, err
}
