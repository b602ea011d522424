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

// answerer writes the answer to the host, once. Later answers are dropped: a second one would make the output invalid.
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

// speak sets the host in whose format the answer is written; the default is portable.
func (o *answerer) speak(h *host.Host) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.host = h
}

// write writes the answer, unless one was written, and returns the exit status. It returns when the answer is written,
// also if another call writes it.
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
	// stderr first: hosts treat stdout as the end of the answer.
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

// watch lets the agent stop if everything else hangs, even a read of stdin. It exits the process, because nothing else
// stops what hangs. stop cancels it.
func (o *answerer) watch(after time.Duration, trouble error) (stop func() bool) {
	return time.AfterFunc(after, func() {
		if !o.mu.TryLock() {
			// The answer is being written, to a host that may have exited.
			time.Sleep(writeGrace)
			os.Exit(exitOK)
		}
		defer o.mu.Unlock()
		if o.done {
			return // the process is about to exit by itself
		}
		o.writeLocked(host.Trouble("ralph", "", trouble))
		os.Exit(o.status)
	}).Stop
}

// writeGrace is how long writing an answer may take after the deadline.
const writeGrace = time.Second
