package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Reports reports whether the agent of a command says what an iteration costs. Without, a budget cannot be kept.
func Reports(args []string) bool {
	a, _ := agentOf(args)
	return a.cost
}

// Check returns an error if the agent of a command cannot be started from a directory.
func Check(args []string, dir string) error {
	if len(args) == 0 {
		return errors.New("no agent is named: write its command after --, for example: -- claude -p")
	}
	if _, err := process.Find(args[0], dir); err != nil {
		return fmt.Errorf("the agent cannot be started: %w; install it, or write its path", err)
	}
	return nil
}

var errTime = errors.New("the time of the run is over")

// maxOutput is how much of an agent's output is kept in memory, for the text of an agent that prints no records.
const maxOutput = 256 << 10

// Iterate carries out the command of that kind: it runs the agent to its end. It never fails: a failure is an input.
func (r *Runner) Iterate(ctx context.Context, s State, cmd Command) Input {
	args, stdin := complete(s.Plan.Args, cmd.Prompt)
	path, err := process.Find(args[0], s.Plan.Dir)
	if err != nil {
		return Input{Kind: NotStarted, Why: "the agent cannot be started: " + err.Error()}
	}
	a, _ := agentOf(s.Plan.Args)
	printed := &records{agent: a}
	timed, cancel := context.WithTimeoutCause(ctx, cmd.Timeout, errTime)
	defer cancel()
	res, err := process.Run(timed, process.Command{
		Path: path, Args: args[1:], Dir: s.Plan.Dir, Stdin: stdin, Limit: maxOutput, Guard: true, Stdout: printed, Also: r.Output,
	})
	if err != nil && timed.Err() == nil {
		return Input{Kind: NotStarted, Why: "the agent cannot be started: " + err.Error()}
	}
	it := printed.iteration(res)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		it.Outcome, it.Problem = Interrupted, ""
	default:
		it.Outcome, it.Problem = Timeout, errTime.Error()
	}
	return Input{Kind: Iterated, Iteration: it}
}

// Decide carries out the command of that kind: it asks the policy about the last iteration, or before the first one. It never fails: a
// failure is a decision. A decision that is asked for again, after a rest or a kill, is made and counted once.
func (r *Runner) Decide(ctx context.Context, s State) Input {
	d, err := r.Loop.Decide(ctx, r.event(s))
	if ctx.Err() != nil {
		return Input{Kind: Cancelled}
	}
	if err != nil {
		d = loop.Decision{Outcome: rules.Failed, Reason: err.Error()}
	}
	return Input{Kind: Decided, Decision: Decision{Outcome: d.Outcome, Rule: d.Rule, Reason: d.Reason, Notice: d.Notice, Log: d.Log}}
}

// event is the end of the last iteration. To the policy, a run is one session and one prompt, until it is resumed after an end.
func (r *Runner) event(s State) loop.Event {
	last := Iteration{}
	if s.Last != nil {
		last = *s.Last
	}
	ev := loop.Event{
		Session: "run:" + s.Plan.ID, ID: fmt.Sprintf("%s/%d", s.Plan.ID, s.Decision), PromptID: fmt.Sprintf("%s/%d", s.Plan.ID, s.Resumed),
		Dir: s.Plan.Dir, Run: true,
		Names: map[string]any{"run": map[string]any{"iteration": s.Iteration, "outcome": last.Outcome, "tokens": s.Spent.Tokens, "cost": s.Spent.Cost}},
	}
	if len(last.Texts) == 0 {
		return ev
	}
	ev.Message = last.Texts[len(last.Texts)-1]
	said := &talk{text: strings.Join(last.Texts, "\n\n")}
	ev.Conversation = said
	a, _ := agentOf(s.Plan.Args)
	if _, err := host.Lookup(a.host); err == nil && last.Session != "" {
		in, err := json.Marshal(map[string]string{"hook_event_name": "Stop", "session_id": last.Session, "cwd": s.Plan.Dir, "last_assistant_message": ev.Message})
		if _, theirs, err2 := host.Decode(a.host, in, r.Env); err == nil && err2 == nil {
			said.file, ev.Tasks = theirs.Conversation, theirs.Tasks
		}
	}
	return ev
}

// talk is the conversation of an iteration: the agent's session file, and what it printed.
type talk struct {
	file interface { // nil: ralph reads none of this agent
		Turns(ctx context.Context, n int) ([]loop.Turn, error)
	}
	text string
}

// Turns returns the turns of the session file, if it can be read. The text of the last one is what the agent printed, which is whole.
func (t *talk) Turns(ctx context.Context, n int) ([]loop.Turn, error) {
	var turns []loop.Turn
	if t.file != nil {
		turns, _ = t.file.Turns(ctx, n) // without it there is what was printed
	}
	if len(turns) == 0 || turns[len(turns)-1].Role != "assistant" {
		turns = append(turns, loop.Turn{Role: "assistant"})
	}
	turns[len(turns)-1].Text = t.text
	return turns[max(0, len(turns)-n):], nil
}
