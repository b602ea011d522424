package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Func returns the adapter of an agent that is a Go function. Each iteration is a call of f with the prompt, and with
// [WithContinue] the session of the last result; [WithArgs] is optional. The context is done when the iteration takes
// too long or the run is interrupted. f must then return, since a call cannot be ended: if it does not within three
// seconds, the run ends as [Failed]. An error or a panic is the outcome [Crashed] unless the result has another one.
// name is what users call the agent.
func Func(name string, f func(context.Context, Invocation) (Result, error)) Adapter {
	return function{name: name, f: f}
}

type function struct {
	generic
	name string
	f    func(context.Context, Invocation) (Result, error)
}

func (f function) Name() string   { return f.name }
func (function) Reports() Reports { return Reports{Tokens: true, Cost: true, Window: true} }

// Command returns a command line to show: there is no process.
func (f function) Command(i Invocation) (Command, error) {
	args := slices.Clone(i.Args)
	if len(args) == 0 {
		args = []string{f.name}
	}
	return Command{Args: args, Stdin: i.Prompt}, nil
}

var errStuck = errors.New("the agent does not return though its context is done")

// call runs an iteration. The error is errStuck.
func (f function) call(ctx context.Context, i Invocation) (Result, error) {
	returned := make(chan Result, 1)
	go func() {
		var res Result
		err := errors.New("the agent ended its goroutine")
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the agent panicked: %v", p)
			}
			if err != nil && (res.Outcome == "" || res.Outcome == OK) {
				res.Outcome = Crashed
			}
			if err != nil && res.Problem == "" {
				res.Problem = err.Error()
			}
			if res.Outcome != OK && res.Problem == "" {
				res.Problem = string(res.Outcome)
			}
			res.Text = strings.ToValidUTF8(res.Text, "\ufffd")
			returned <- res
		}()
		res, err = f.f(ctx, i)
	}()
	select {
	case res := <-returned:
		return res, nil
	case <-ctx.Done():
	}
	select {
	case res := <-returned:
		return res, nil
	case <-time.After(grace):
		return Result{}, errStuck
	}
}
