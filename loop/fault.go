package loop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
)

// Fault is the error of a method of Loop, and Decision.Err where nothing could be decided. It wraps the cause. What a policy's facts,
// expressions and effects met is no Fault but for a panic: Decision.Err wraps the error of the program, as it is. A delivery that met one is
// decided when it comes again.
type Fault struct {
	// Kind is "program" for a misuse, such as a value that the program forgot, no session, or a panic; "time" if the deadline or the context
	// ended it; "store" if a document cannot be read or kept; "damaged" for one that ralph did not write, or a newer one; "files" if a
	// file could not be changed.
	Kind  string
	Again bool // another try with the same arguments can help
	Err   error
}

func (f *Fault) Error() string { return f.Err.Error() }

func (f *Fault) Unwrap() error { return f.Err }

func misuse(format string, args ...any) error {
	return &Fault{Kind: "program", Err: fmt.Errorf(format, args...)}
}

// caught makes an error of what panics in code of the program, for defer.
func caught(err *error) {
	if r := recover(); r != nil {
		cause, ok := r.(error)
		if !ok {
			cause = fmt.Errorf("%v", r)
		}
		*err = misuse("it panicked: %w", cause)
	}
}

// fault says what an error of the store means for a document.
func (l *Loop) fault(key string, err error) error {
	if err == nil {
		return nil
	}
	if f := new(Fault); errors.As(err, &f) { // of what was done with the document
		return f
	}
	const what = "the counts of this session"
	if file := new(fs.PathError); errors.As(err, &file) {
		key, err = file.Path, file.Err
	}
	switch {
	case errors.Is(err, errLate):
		return &Fault{"time", true, fmt.Errorf("it was not decided within %v (%w)", l.Deadline(), err)}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Fault{"time", true, fmt.Errorf("it was not decided in time (%w)", err)}
	case errors.Is(err, errNewer):
		return &Fault{"damaged", false, fmt.Errorf("%s cannot be read: %w; update ralph, or remove %s", what, err, key)}
	case errors.Is(err, errDamaged):
		return &Fault{"damaged", false, fmt.Errorf("%s cannot be read: %w; remove %s", what, err, key)}
	}
	return &Fault{"store", true, fmt.Errorf("%s cannot be kept in %s: %w", what, key, err)}
}

// failed is the decision of an event that could not be decided at all.
func (l *Loop) failed(err error) Decision {
	reason := text.Clean(err.Error())
	name := l.policy.Name
	return Decision{Outcome: rules.Failed, Policy: name, Reason: reason, Notice: name + ": the agent may stop: " + reason, Err: err}
}
