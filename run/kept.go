package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/store"
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
	if r.kept.disk == nil {
		return nil
	}
	line, err := json.Marshal(r.saved)
	if err == nil {
		err = r.kept.disk.SaveRun(context.Background(), r.plan.ID, line)
	}
	if err != nil {
		return fmt.Errorf("the run cannot be kept, so it ends: %w", err)
	}
	return nil
}

// recall reads the run to resume, and returns the input that resumes it. It reads again under the run's lock, since
// another process may have run it until then.
func (r *Runner) recall() (step.Input, error) {
	in := step.Input{Kind: step.Resume, Limits: r.resumed.limits}
	if r.kept.disk == nil {
		return in, errors.New("a run is resumed from where it was kept: add WithState")
	}
	c, err := readRun(r.kept.disk, r.resumed.id)
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
	r.plan, r.saved = plan, c
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

func readRun(disk *store.Store, id string) (c checkpoint, err error) {
	line, err := disk.LoadRun(id)
	if err == nil {
		err = json.Unmarshal(line, &c)
	}
	if err == nil && (c.V != 1 || c.State.Plan.ID != id) {
		err = errors.New("it is not in the form of this version")
	}
	switch {
	case errors.Is(err, store.ErrNoRun):
		return c, fmt.Errorf("%w: %s", store.ErrNoRun, id)
	case err != nil:
		return c, fmt.Errorf("run %s cannot be read: %w", id, err)
	}
	return c, nil
}

// hold takes the lock of the policy in its project: two runs of one policy would work on the same task.
func (r *Runner) hold(ctx context.Context) (release func(), err error) {
	release, live, err := r.kept.disk.Hold(ctx, r.kept.disk.RunLease(r.plan.Root, r.plan.Policy), r.plan.ID)
	if live != "" {
		err = fmt.Errorf("run %s of %s works in %s; wait for it, stop it, or run this one in a separate worktree", live, r.plan.Policy, r.plan.Root)
	}
	return release, err
}
