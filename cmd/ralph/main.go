// Command ralph decides, as the Stop hook of a coding agent, whether the agent may
// stop. What it decides by are policy files, see package rules.
//
//	ralph eval --policy speckit      the hook: JSON on stdin, the answer on stdout
//	ralph check speckit.yaml         everything that is wrong with a policy
//	ralph explain                    why the last decision was what it was
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	// A host reads exit status 2 as "block", and 2 is what a Go program dies with.
	// What can be recovered is; what cannot, such as a stack overflow, must die by
	// a signal instead.
	debug.SetTraceback("crash")
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit statuses. None of them is 2, which belongs to `--answer exit-code`.
const (
	exitOK       = 0
	exitFindings = 1 // check found something, explain found no decision
	exitFailed   = 3 // the command could not do its work
)

// run is the whole program as a function: what it reads and writes are its
// parameters, its exit status the result.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "[ralph] internal error: %v\n%s", r, debug.Stack())
			status = exitFailed
			if a.hook {
				status = exitOK // the agent may stop
			}
		}
	}()
	cmd := a.command()
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return a.status
	case a.hook || len(args) > 0 && args[0] == "eval":
		// Also a mistyped flag must not hold an agent, nor go unnoticed.
		a.answerTrouble(err)
		return exitOK
	}
	fmt.Fprintf(stderr, "ralph: %s\n", strings.TrimSpace(err.Error()))
	return exitFailed
}
