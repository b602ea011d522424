// Command ralph decides, as the Stop hook of a coding agent, whether the agent may stop. It decides by policy files; see package rules.
//
//	ralph eval --policy speckit   the hook: the event as JSON on stdin, the answer on stdout
//	ralph check                   what is wrong with the policies of the project
//	ralph explain                 why the last decision was made
package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	_ "github.com/ralph-sdk/ralph/internal/fatal" // makes a crash end with a signal: status 2 would continue the agent
)

// gcPercent lets the heap of this short process grow further between collections, which would cost more than they save.
const gcPercent = 400

// maxStack ends an endless recursion before it has taken the machine's memory.
const maxStack = 256 << 20

func main() {
	debug.SetGCPercent(gcPercent)
	debug.SetMaxStack(maxStack)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}
