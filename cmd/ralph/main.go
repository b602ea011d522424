// Command ralph decides, as the Stop hook of a coding agent, whether the agent may
// stop. What it decides by are policy files, see package rules.
//
//	ralph eval --policy speckit      the hook: JSON on stdin, the answer on stdout
//	ralph check speckit.yaml         everything that is wrong with a policy
//	ralph explain                    why the last decision was what it was
package main

import (
	"context"
	"os"
	"runtime/debug"

	_ "github.com/ralph-sdk/ralph/internal/fatal" // a crash ends by a signal
	_ "github.com/ralph-sdk/ralph/internal/room"  // for the stack
)

func main() {
	protect()
	debug.SetGCPercent(gcPercent)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}
