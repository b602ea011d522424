package loop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// hanging is all that a loop calls. At one place it returns after an hour.
type hanging struct {
	loop.Store
	at     string
	quick  atomic.Bool  // nothing hangs from now on
	writes atomic.Int32 // effects and changes of facts
}

func (h *hanging) hang(where string) {
	if h.at == where && !h.quick.Load() {
		time.Sleep(time.Hour) // whatever its context says
	}
}

func (h *hanging) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	h.hang("Load")
	return h.Store.Load(context.WithoutCancel(ctx), keys...)
}

func (h *hanging) Save(ctx context.Context, w loop.Write) error {
	h.hang("Save")
	return h.Store.Save(context.WithoutCancel(ctx), w)
}

func (h *hanging) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "own", Doc: "A test's.", Schema: true, Editable: true}
}

func (h *hanging) Gather(context.Context, loop.Query) rules.Value {
	h.hang("source")
	return rules.Value{V: map[string]any{"n": 1}, Version: "1"}
}

func (h *hanging) Write(context.Context, []rules.Effect) error {
	h.hang("writer")
	h.writes.Add(1)
	return nil
}

func (h *hanging) effect(context.Context, loop.Call) error {
	h.hang("effect")
	h.writes.Add(1)
	return nil
}

func (h *hanging) function() bool {
	h.hang("function")
	return true
}

// A deadline bounds Run, Preview, Apply and Hook, whatever ignores it, and what is late changes nothing afterwards.
func TestBounds(t *testing.T) {
	const policy = `
ralph: 1
facts: {own: {own: x, schema: {properties: {n: {type: integer}}}}}
rules:
  - name: go
    when: own.n == 1 and slow()
    continue: go on
    then: [{set: own.n = 2}, {page: x}, {page: y}]
`
	roads := map[string]func(context.Context, *loop.Loop) (continues bool, failed error){
		"Run": func(ctx context.Context, l *loop.Loop) (bool, error) {
			d, err := l.Run(ctx, host.Event{SessionID: "s"})
			return d.Continue(), err
		},
		"Preview and Apply": func(ctx context.Context, l *loop.Loop) (bool, error) {
			d, err := l.Apply(ctx, l.Preview(ctx, host.Event{SessionID: "s"}))
			return d.Continue(), err
		},
		"Hook": func(ctx context.Context, l *loop.Loop) (bool, error) {
			a := decoded(t, l.Hook(ctx, nil, []byte(`{"hook_event_name": "Stop", "session_id": "s"}`)))
			if a.Decision == "block" || !strings.Contains(a.SystemMessage, "no decision within 1m0s") {
				return a.Decision == "block", nil
			}
			return false, context.DeadlineExceeded
		},
	}
	for _, c := range []struct {
		at        string
		continues bool          // it is decided, counted and kept
		took      time.Duration // until the answer
		effects   int32         // when all has returned
	}{
		{"nothing", true, 0, 3},
		{"source", false, time.Minute, 0},
		{"function", false, time.Minute, 0},
		{"Load", false, time.Minute, 0},
		{"Save", false, time.Minute, 0},
		{"writer", false, time.Minute, 1}, // it had begun
		{"effect", true, time.Minute, 2},  // one of two had begun
		{"recorder", true, time.Second, 3},
	} {
		for name, road := range roads {
			t.Run(c.at+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := &hanging{Store: loop.InMemory(), at: c.at}
					records := new(looptest.Records)
					l := load(t, policy, loop.WithDeadline(time.Minute), loop.WithStore(h), loop.WithSource(h), effect("page", h.effect),
						loop.WithFunctions(rules.Function{Name: "slow", Doc: "Is slow.", Func: h.function}),
						loop.WithRecorder(recorder(func(r *loop.Record) error {
							h.hang("recorder")
							return records.Record(context.Background(), r)
						})))
					start := time.Now()
					continues, err := road(t.Context(), l)
					took := time.Since(start)
					time.Sleep(5 * time.Hour) // all that was late has returned
					if continues != c.continues || took != c.took || errors.Is(err, context.DeadlineExceeded) == c.continues {
						t.Errorf("it continues: %v after %s, error %v", continues, took, err)
					}
					if n, kept := h.writes.Load(), len(records.All()); n != c.effects || kept != 1 {
						t.Errorf("%d effects and %d records, want %d and 1", n, kept, c.effects)
					}
					h.quick.Store(true)
					counted := map[bool]int{true: 1}[c.continues]
					d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
					if diff := cmp.Diff(counted, d.Record(true).Streak.Continuations); diff != "" || err != nil {
						t.Errorf("what was counted (-want +got)\n%s, error %v", diff, err)
					}
				})
			})
		}
	}
}

// However many loops and recorders there are, the answer waits a second at most for records that the deadline left no time for, and
// one that hangs keeps none from another recorder.
func TestRecordsShareTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := new(looptest.Records)
		var loops []*loop.Loop
		for i := range 3 {
			loops = append(loops, load(t, goOn, loop.WithName(fmt.Sprint("p", i)), loop.WithDeadline(time.Minute), loop.WithStore(frozen{Store: loop.InMemory()}),
				loop.WithRecorder(stuck{}, stuck{}, recorder(func(r *loop.Record) error { return records.Record(context.Background(), r) }))))
		}
		start := time.Now()
		a := decoded(t, loops[0].Hook(t.Context(), nil, []byte(`{"hook_event_name": "Stop", "session_id": "s"}`), loops[1:]...))
		if took := time.Since(start); took > time.Minute+time.Second || a.Decision != "" {
			t.Errorf("the hook answers %+v after %s", a, took)
		}
		if n := len(records.All()); n != len(loops) {
			t.Errorf("%d records, want %d", n, len(loops))
		}
	})
}

// A caller that cancels waits for what heeds its context, and a second at most for what ignores it.
func TestCancel(t *testing.T) {
	for name, c := range map[string]struct {
		gather func(context.Context)
		took   time.Duration
	}{
		"heeds it":   {func(ctx context.Context) { <-ctx.Done() }, 10 * time.Second},
		"ignores it": {func(context.Context) { time.Sleep(time.Hour) }, 11 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := load(t, asking("ask"), loop.WithSource(source{"ask", func(ctx context.Context, _ loop.Query) rules.Value {
				c.gather(ctx)
				return rules.Value{V: 1}
			}}))
			ctx, cancel := context.WithCancel(t.Context())
			start := time.Now()
			time.AfterFunc(10*time.Second, cancel)
			d, err := l.Run(ctx, host.Event{SessionID: "s"})
			if took := time.Since(start); took != c.took || !errors.Is(err, context.Canceled) || d.Outcome() != loop.Failed || d.Cause() != "context" {
				t.Errorf("%s: %s, %s after %s, error %v", name, d.Outcome(), d.Cause(), took, err)
			}
			time.Sleep(2 * time.Hour)
		})
	}
}

// What ends its goroutine fails the decision, and the session is free afterwards.
func TestGoexit(t *testing.T) {
	first := true
	l := load(t, asking("ask"), loop.WithSource(source{"ask", func(context.Context, loop.Query) rules.Value {
		if first {
			first = false
			runtime.Goexit()
		}
		return rules.Value{V: 1}
	}}))
	if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err == nil || d.Continue() {
		t.Errorf("it says %q, error %v", said(d), err)
	}
	if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || !d.Continue() {
		t.Errorf("afterwards it says %q, error %v", said(d), err)
	}
}
