package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/host"
)

// The forms of an answer.
const (
	answerJSON     = "json"
	answerExitCode = "exit-code"
)

// answerer writes the answer to the host, once. Whatever comes later is dropped:
// a second answer would turn the first into garbage.
type answerer struct {
	stdout, stderr io.Writer
	form           string

	mu     sync.Mutex
	host   *host.Host
	done   bool
	status int
}

func newAnswerer(stdout, stderr io.Writer, form string) *answerer {
	return &answerer{stdout: stdout, stderr: stderr, form: form, host: &host.Host{}}
}

// speak sets the host whose dialect the answer is in; before that it is portable.
func (o *answerer) speak(h *host.Host) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host = h
}

// write writes the answer, unless one was written, and gives the exit status. It
// returns when the answer is out, also if another call writes it.
func (o *answerer) write(r host.Reply) (status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writeLocked(r)
	return o.status
}

func (o *answerer) writeLocked(r host.Reply) {
	if o.done {
		return
	}
	surviveClosedPipes()
	answer := o.host.Encode(r)
	if o.form == answerExitCode {
		answer = host.EncodeExitCode(r)
	}
	o.done, o.status = true, answer.Status
	// stderr first: hosts read stdout as the end of the answer.
	if len(answer.Stderr) > 0 {
		if _, err := o.stderr.Write(answer.Stderr); err != nil && answer.Status != exitOK {
			o.status = exitOK // without the reason the agent may stop
		}
	}
	if len(answer.Stdout) > 0 {
		if _, err := o.stdout.Write(answer.Stdout); err != nil {
			fmt.Fprintf(o.stderr, "[ralph] the answer could not be written, so the agent may stop: %v\n", err)
		}
	}
}

// watch lets the agent stop when all else hangs, even a read of stdin. It ends the
// process, because nothing else ends what hangs. stop cancels it.
func (o *answerer) watch(after time.Duration, trouble error) (stop func() bool) {
	return time.AfterFunc(after, func() {
		if !o.mu.TryLock() {
			// The answer is being written, to a host that may have gone.
			time.Sleep(writeGrace)
			os.Exit(exitOK)
		}
		defer o.mu.Unlock()
		if o.done {
			return // the process is about to end by itself
		}
		o.writeLocked(host.Trouble("ralph", "", trouble))
		os.Exit(o.status)
	}).Stop
}

// writeGrace is how long the writing of an answer may take beyond the deadline.
const writeGrace = time.Second
