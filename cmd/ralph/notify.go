package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// notifyTime is how long the command of --notify may take.
const notifyTime = time.Minute

// notify runs the command of a person once a run has ended. It changes no exit status: how the run ended counts.
func (a *app) notify(ctx context.Context, command, dir string, end run.Event) {
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	exit, err := process.Command{
		Args:   append(shellwords.Shell(), command),
		Dir:    dir,
		Env:    append(os.Environ(), "RALPH_OUTCOME="+string(project.Outcome(end.Ended)), "RALPH_REASON="+escape.Line(end.Why)),
		Stdout: a.stderr, // stdout has the events of the run
		Stderr: a.stderr,
	}.Run(ctx)
	if err == nil && (exit.Code != 0 || exit.Signal != "") {
		err = fmt.Errorf("%s", exit)
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		fmt.Fprintf(a.stderr, "ralph: --notify %s: %v\n", escape.Line(shellwords.Line([]string{command})), err)
	}
}
