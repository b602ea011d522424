package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// answerer writes the answer to the host once: a second one would make the output invalid.
type answerer struct {
	app  *app
	mode host.Mode

	mu     sync.Mutex
	host   *host.Host // nil until it is known
	event  string
	done   bool
	status int
}

// trouble lets the agent stop and says why.
func (o *answerer) trouble(err error) int {
	return o.write([]loop.Decision{{Outcome: rules.Failed, Err: err, Notice: "ralph: the agent may stop: " + err.Error()}})
}

// write writes the answer, unless one was written, and returns the exit status.
func (o *answerer) write(ds []loop.Decision) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.status
	}
	reply := host.Encode(o.host, o.event, ds, o.mode)
	o.done, o.status = true, reply.Status
	// stderr first: hosts take stdout for the end of the answer.
	if _, err := o.app.stderr.Write(reply.Stderr); err != nil {
		o.status = exitOK // without its reason a continuation by exit code is none
	}
	if _, err := o.app.stdout.Write(reply.Stdout); err != nil {
		fmt.Fprintf(o.app.stderr, "ralph: the answer could not be written, so the agent may stop: %v\n", err)
	}
	return o.status
}

// end lets the agent stop and exits, for what does not end by itself: a hook that hangs, or fills the memory.
func (o *answerer) end(err error) {
	if !o.mu.TryLock() { // the answer is being written, to a host that may have gone
		time.Sleep(time.Second)
		os.Exit(exitOK)
	}
	done := o.done
	o.mu.Unlock()
	if !done {
		os.Exit(o.trouble(err))
	}
}
