package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run/step"
)

// Request is a run to start.
type Request struct {
	Run     project.RunRequest // what the run does. Each iteration has a fresh context in a work tree of its own
	ID      string             // of the run and of its workflow: letters, digits, - and _; default: from the time
	Queue   string             // of the workers, see [Options]
	Silence time.Duration      // after which an attempt without a sign of life is lost; default: two minutes
	Away    time.Duration      // after which a worker that takes nothing no longer has the run; default: 15 minutes
}

// Start starts a run of a project as a workflow, and returns its ID. It begins at the commit that is checked out here, and a worker
// of the queue carries it out. It is an error if a run has the ID, even one that has ended, or if the policy reads what git ignores.
func Start(ctx context.Context, c client.Client, p *project.Project, q Request) (id string, err error) {
	fresh := false
	switch {
	case q.ID != "" && !validID.MatchString(q.ID):
		return "", fmt.Errorf("the ID of a run must have letters, digits, - and _, at most 100; got %q", q.ID)
	case q.Run.Worktree, q.Run.Merge, q.Run.Resume != "", q.Run.Continue != nil:
		return "", errors.New("a run on Temporal has its own work trees, merges each iteration, and is not resumed: leave out Worktree, Merge, Resume and Continue")
	case q.Silence < 0, q.Away < 0:
		return "", errors.New("the times Silence and Away must not be negative")
	}
	q.Run.Continue = &fresh
	r, err := p.Run(ctx, q.Run)
	if err != nil {
		return "", err
	}
	if err := portable(ctx, p.Dir(), r.Program()); err != nil {
		return "", err
	}
	base, err := places{}.git(ctx, p.Dir(), "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("a run begins at a commit: %w", err)
	}
	s, documents := r.State()
	s.Plan.ID = cmp.Or(q.ID, s.Plan.ID)
	s.Plan.Root, s.Plan.Home, s.Plan.Files = "", "", "" // of this machine
	s.Plan.Merge, s.Plan.Await = true, true
	course := Course{State: s, Documents: documents, Base: base, Silence: cmp.Or(q.Silence, 2*time.Minute), Away: cmp.Or(q.Away, 15*time.Minute), Shown: searchable(ctx, c)}
	_, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: s.Plan.ID, TaskQueue: queueOf(q.Queue, p), WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true, StaticSummary: "ralph: " + project.Short(s.Plan.Policy),
	}, WorkflowType, course)
	var exists *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &exists) {
		err = fmt.Errorf("there is a run %s already; give the new one another ID", s.Plan.ID)
	}
	return s.Plan.ID, err
}

var validID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// searchable reports whether the namespace has the search attributes of runs, with their types: a server refuses to search for
// others, and to set them. Only the answer to a search is about one namespace, whatever the server keeps it in.
func searchable(ctx context.Context, c client.Client) bool {
	_, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: fmt.Sprintf("%s = '' AND %s = '' AND %s = 0",
		attributeState.GetName(), attributePolicy.GetName(), attributeIteration.GetName())})
	return err == nil
}

// Send passes on what a person wants of a run: an input with the kind [step.Pause], [step.Go], [step.Answer] or [step.Stop].
func Send(ctx context.Context, c client.Client, id string, in step.Input) error {
	switch in.Kind {
	case step.Pause:
		in.Why = cmp.Or(in.Why, fmt.Sprintf("a person paused the run; run `ralph-worker resume %s` to continue", id))
	case step.Go, step.Stop:
	case step.Answer:
		if n := len(in.Answer.Text); n == 0 || !step.Fits(in.Answer.Text) {
			return fmt.Errorf("an answer must have 1 to %d bytes, as JSON; got %d: write a long one into a file of the repository", step.MaxText, n)
		}
	default:
		return fmt.Errorf("a person sends pause, go, answer or stop; got %q", in.Kind)
	}
	return ended(id, c.SignalWorkflow(ctx, id, "", signalInput, in))
}

// Cancel stops a run at once, and interrupts its agent. [Send] with [step.Stop] lets the iteration end.
func Cancel(ctx context.Context, c client.Client, id string) error {
	return ended(id, c.CancelWorkflow(ctx, id, ""))
}

// ended explains the error for a run that does not exist.
func ended(id string, err error) error {
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return fmt.Errorf("there is no run %s, or it has ended: %w", id, err)
	}
	return err
}

// Get returns the status of a run. A worker of its queue has to answer.
func Get(ctx context.Context, c client.Client, id string) (s Status, err error) {
	v, err := c.QueryWorkflow(ctx, id, "", queryStatus)
	if err == nil {
		err = v.Get(&s)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no worker of the run answers: start one in a clone of its project: %w", err)
	}
	return s, err
}
