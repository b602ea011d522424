package process

import (
	"context"
	"io"
	"time"
)

// Command is a program to run. It gets a session of its own, no standard input but Stdin, and RALPH_OFF=1.
type Command struct {
	Path  string   // as Find returned it
	Args  []string // without the program
	Dir   string
	Env   []string // on top of the environment of this process
	Stdin []byte
	Limit int       // bytes of each stream that are kept, their beginning and end; 0: 1 MiB
	Also  io.Writer // gets standard output and error as they come, if not nil
}

// Result is how a program ended.
type Result struct {
	Code                   int
	Stdout, Stderr, Output []byte // Output: both, as they came
	Took                   time.Duration
}

// Run runs a program to its end, or until ctx is done; what it leaves behind ends with it. A program that ended with a status other than
// 0 is no error.
func Run(ctx context.Context, c Command) (Result, error) { panic("later") }

// Find returns the full path of a program: by PATH, or from dir if it has a slash. The error is exec.ErrNotFound if there is none.
func Find(program, dir string) (string, error) { panic("later") }
