package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/ralph-sdk/ralph/run/step"
	"github.com/ralph-sdk/ralph/temporal"
)

// server is what the command sees of a server. It notes what it is asked for.
type server struct {
	client.Client
	notes []string
	ids   map[string]bool
}

func (s *server) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *server) Close() {}

func (s *server) CountWorkflow(context.Context, *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	return nil, serviceerror.NewInvalidArgument("invalid query: column name 'RalphState' is not defined")
}

func (s *server) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	c := args[0].(temporal.Course)
	if s.ids[o.ID] || o.WorkflowIDReusePolicy != enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("no", "", "")
	}
	s.ids[o.ID] = true
	s.note("start %s on %s: %s, at most %d, searchable %t, fresh %t", o.ID, o.TaskQueue, c.State.Plan.Args, c.State.Plan.Limits.Iterations, c.Shown, !c.State.Plan.Continue)
	return nil, nil
}

func (s *server) SignalWorkflow(_ context.Context, id, _, _ string, arg any) error {
	if !s.ids[id] {
		return serviceerror.NewNotFound("no")
	}
	in := arg.(step.Input)
	s.note("%s %s %s", in.Kind, id, in.Answer.Text)
	return nil
}

func (s *server) CancelWorkflow(_ context.Context, id, _ string) error {
	s.note("cancel %s", id)
	return nil
}

func (s *server) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	id, next := "a", []byte("more")
	if r.NextPageToken != nil {
		id, next = "b", nil
	}
	return &workflowservice.ListWorkflowExecutionsResponse{NextPageToken: next, Executions: []*workflow.WorkflowExecutionInfo{{
		Execution: &common.WorkflowExecution{WorkflowId: id}, Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}}}, nil
}

func (s *server) QueryWorkflow(_ context.Context, id, _, _ string, _ ...any) (converter.EncodedValue, error) {
	return shown(id), nil
}

// shown is the status of a run with this ID.
type shown string

func (shown) HasValue() bool { return true }

func (s shown) Get(to any) error {
	to.(*temporal.Status).ID, to.(*temporal.Status).Branch = string(s), "ralph/"+string(s)
	return nil
}

// Each command asks the server for what it says, or explains what is wrong.
func TestCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	cmd := exec.Command("sh", "-ec", "mkdir -p $0/.ralph; cd $0; git init -q .; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ralph/p.yaml"), []byte("ralph: 1\nrules:\n  - {name: more, continue: Do it.}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RALPH_STATE_DIR", t.TempDir())
	s := &server{ids: map[string]bool{}}
	for _, c := range []struct {
		args   []string
		status int
		prints string // in what it prints
		asks   string // of the server
	}{
		{[]string{"start", "--id", "a", "--policy", "p", "--max", "3", "--", "agent", "-x"}, 0, "a\n", "start a on project: [agent -x], at most 3, searchable false, fresh true"},
		{[]string{"start", "--id", "a", "--policy", "p", "--", "agent"}, 1, "there is a run a already", ""},
		{[]string{"start", "--id", "a/b", "--policy", "p", "--", "agent"}, 1, "the ID of a run must have", ""},
		{[]string{"start", "--policy", "p"}, 1, "there is no agent to run", ""},
		{[]string{"pause", "a"}, 0, "", "pause a "},
		{[]string{"resume", "a"}, 0, "", "go a "},
		{[]string{"answer", "a", "yes"}, 0, "", "answer a yes"},
		{[]string{"answer", "a"}, 2, "usage:", ""},
		{[]string{"answer", "a", ""}, 1, "an answer must have", ""},
		{[]string{"stop", "a"}, 0, "", "stop a "},
		{[]string{"stop", "--now", "a"}, 0, "", "cancel a"},
		{[]string{"stop", "b"}, 1, "there is no run b, or it has ended", ""},
		{[]string{"status"}, 0, "running\nb  ", ""},
		{[]string{"status", "--json"}, 0, `{"id":"b","started":"1970-01-01T00:00:00Z","status":"running"}`, ""},
		{[]string{"status", "a"}, 0, "branch    ralph/a", ""},
		{[]string{"status", "--json", "a"}, 0, `"branch":"ralph/a"`, ""},
		{[]string{"work", "more"}, 2, "usage:", ""},
		{[]string{"work", "--remote", "nowhere"}, 1, "--remote must name a remote", ""},
		{[]string{"other"}, 2, "usage:", ""},
		{nil, 2, "usage:", ""},
		{[]string{"start", "--help"}, 0, "usage:", ""},
	} {
		s.notes = nil
		var out bytes.Buffer
		a := app{out: &out, errs: &out, dir: dir, dial: func() (client.Client, error) { return s, nil }}
		status := a.run(t.Context(), c.args)
		if asks := strings.Join(s.notes, "\n"); status != c.status || !strings.Contains(out.String(), c.prints) || asks != c.asks {
			t.Errorf("ralph-worker %q ends with %d, prints %q, asks for %q; want %d, %q, %q", c.args, status, out.String(), asks, c.status, c.prints, c.asks)
		}
	}
}

// A configuration that cannot be read is an error, not a crash.
func TestBadConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(path, []byte("[profile.default\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", path)
	if _, err := dialServer(); err == nil || !strings.Contains(err.Error(), "the configuration of the command temporal cannot be used: ") {
		t.Errorf("error %v", err)
	}
}
