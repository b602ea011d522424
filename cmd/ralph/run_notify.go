package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/run"
)

// notify runs the user's command at the end of a run.
func (a *app) notify(ctx context.Context, line string, last run.Event) error {
	if line == "" {
		return nil
	}
	var args []string
	for _, w := range shellwords.Split(line) {
		args = append(args, w.Text)
	}
	if len(args) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(),
		"RALPH_RUN_ID="+last.Run, "RALPH_RUN_ENDED="+string(last.Ended), "RALPH_RUN_WHY="+visible(cut(last.Why, maxNotified)), fmt.Sprintf("RALPH_RUN_ITERATIONS=%d", last.Totals.Iterations))
	cmd.Stdout, cmd.Stderr = unscreened(a.stderr), unscreened(a.stderr)
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(a.stderr, "ralph: --notify: %v\n", err)
	}
	return nil
}

// maxNotified bounds the reason that a program gets in its environment: systems refuse long ones.
const maxNotified = 4 << 10
