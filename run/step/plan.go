package step

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// Plan is what a run should do. Only its limits can change, when the run is resumed.
type Plan struct {
	ID        string            `json:"id"`
	Root      string            `json:"root,omitempty"`  // where the agent works
	Home      string            `json:"home,omitempty"`  // the project that lists the run
	Files     string            `json:"files,omitempty"` // where the run's directory is, if not in Home
	Policy    string            `json:"policy"`
	Digest    string            `json:"digest,omitempty"` // of the policy, if only that one may decide
	Client    string            `json:"client"`
	Args      []string          `json:"args"`
	Prompt    Text              `json:"prompt,omitzero"` // of the first iteration, "" for the policy's
	Said      string            `json:"said,omitempty"`  // a line of the agent that ends the run with success
	Limits    Limits            `json:"limits"`
	Iteration time.Duration     `json:"iteration_ns"`       // the limit of one; 0 means DefaultIteration
	Continue  bool              `json:"continue,omitempty"` // the client's session, if an iteration ended well
	Started   time.Time         `json:"started"`
	Labels    map[string]string `json:"labels,omitempty"`

	Merge bool `json:"merge,omitempty"` // each iteration works on a branch of its own, which Merge adds to the run's
	Await bool `json:"await,omitempty"` // a question waits for its answer instead of ending the run
}

// MaxPlan is the most bytes that the JSON form of a plan has.
const MaxPlan = 16 << 10

// Check returns an error if the plan is too large for a state.
func (p Plan) Check() error {
	b, err := json.Marshal(p)
	if err == nil && len(b) > MaxPlan {
		err = fmt.Errorf("the arguments and labels of a run must have at most %d KiB; got %d: put long texts into a file", MaxPlan>>10, len(b)>>10)
	}
	return err
}

// Limits bounds a run. Zero fields mean the defaults: 100 iterations and 24 hours; tokens, cost and window are unlimited.
// These three are known after an iteration, so a run may exceed them by one.
type Limits struct {
	Iterations int           `json:"iterations,omitempty"`
	Elapsed    time.Duration `json:"elapsed_ns,omitempty"`
	Tokens     int           `json:"tokens,omitempty"`
	Cost       float64       `json:"cost_usd,omitempty"` // US dollars
	Window     float64       `json:"window,omitempty"`   // of the client's usage window, in percent; others use it too
}

// Defaults of [Limits] and of an iteration.
const (
	DefaultIterations = 100
	DefaultElapsed    = 24 * time.Hour
	DefaultIteration  = time.Hour
)

// Or returns the limits, with those of others where they are zero.
func (l Limits) Or(others Limits) Limits {
	return Limits{
		Iterations: cmp.Or(l.Iterations, others.Iterations), Elapsed: cmp.Or(l.Elapsed, others.Elapsed),
		Tokens: cmp.Or(l.Tokens, others.Tokens), Cost: cmp.Or(l.Cost, others.Cost), Window: cmp.Or(l.Window, others.Window),
	}
}
