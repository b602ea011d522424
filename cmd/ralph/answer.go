package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
)

// answerer writes the answer to the host, once. Whatever comes later is dropped:
// a second answer would turn the first into garbage.
type answerer struct {
	once   sync.Once
	stdout io.Writer
	stderr io.Writer
	status int
}

func (a *answerer) write(ans host.Answer) {
	a.once.Do(func() {
		a.status = ans.Status
		// stderr first: hosts read stdout as the end of the answer.
		if len(ans.Stderr) > 0 {
			a.stderr.Write(ans.Stderr)
		}
		if len(ans.Stdout) > 0 {
			if _, err := a.stdout.Write(ans.Stdout); err != nil {
				io.WriteString(a.stderr, "[ralph] the answer could not be written, so the agent may stop: "+err.Error()+"\n")
			}
		}
	})
}

// answerTrouble lets the agent stop and says why, without any policy.
func (a *app) answerTrouble(err error) {
	out := &answerer{stdout: a.stdout, stderr: a.stderr}
	out.write(host.Detect(nil).Encode(loop.Trouble("", err)))
}

// watchdog lets the agent go when all else hangs, be it a read of stdin. It ends
// the process, since what hangs cannot be told to end. stop calls it off.
func watchdog(after time.Duration, out *answerer, trouble error) (stop func()) {
	t := time.AfterFunc(after, func() {
		out.write(host.Detect(nil).Encode(loop.Trouble("", trouble)))
		os.Exit(out.status)
	})
	return func() { t.Stop() }
}
