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
)

func main() {
	makeRoom(len(os.Args))
	protect()
	debug.SetGCPercent(gcPercent)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}

// gcPercent lets the heap grow further than usual between collections: a process
// that lives for milliseconds would spend more on them than they give back.
const gcPercent = 400

// stackRoom is a little more than what a decision takes of the stack, in bytes.
const stackRoom = 40 << 10

// makeRoom lets the stack grow once, while there is next to nothing on it. When it
// grows in the middle of a decision, Go looks up each function on it in the tables
// of the program file, and those take most of a mebibyte.
//
//go:noinline
func makeRoom(i int) byte {
	var room [stackRoom]byte
	return room[i%stackRoom] // i is not known in advance, so that there is an array
}

// protect sees to it that the process never ends with status 2 by accident. A host
// reads that as "block", and a Go program dies with it. What can be recovered is;
// what cannot, such as a stack overflow, has to die by a signal instead, and long
// before it has taken the machine's memory.
func protect() {
	debug.SetTraceback("crash")
	debug.SetMaxStack(maxStack)
}

// maxStack is far more than the limits of every parser let a goroutine use.
const maxStack = 128 << 20
