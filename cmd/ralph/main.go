// Command ralph decides, as the Stop hook of a coding agent, whether the agent may stop. It decides according to policy
// files; see package rules.
//
//	ralph eval --policy speckit the hook: JSON on stdin, the answer on stdout
//	ralph check speckit.yaml all findings about a policy
//	ralph explain why the last decision was made
package main

import (
	"context"
	"os"
	"runtime/debug"

	_ "github.com/ralph-sdk/ralph/internal/fatal" // makes a crash end with a signal
	_ "github.com/ralph-sdk/ralph/internal/room"  // grows the stack early
	"github.com/ralph-sdk/ralph/run"
)

func main() {
	watch := run.Watched()
	protect()
	debug.SetGCPercent(gcPercent)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, watch: watch}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}
