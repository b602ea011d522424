package loop_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

type ticket struct {
	Title string `json:"title"`
	State string `json:"state"`
	Tries int    `json:"tries"`
}

// tracker is a source of tickets that rules can change: a [loop.Source] that is also
// a [loop.Writer].
type tracker struct {
	mu      sync.Mutex
	tickets map[string]ticket
	changes int
}

func (*tracker) Kind() rules.SourceKind {
	return rules.SourceKind{
		Name: "ticket", Doc: "A ticket of the tracker, by its id.", Editable: true,
		Value: rules.SourceValue{Type: &schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{
			"title": {Kind: schema.String},
			"state": {Kind: schema.String, Enum: []any{"open", "stuck", "done"}},
			"tries": {Kind: schema.Int},
		}}},
	}
}

func (t *tracker) Gather(_ context.Context, q loop.Query) rules.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := q.Args[0]
	found, ok := t.tickets[id]
	if !ok {
		return rules.Value{Status: rules.Missing, Problem: "there is no ticket " + id}
	}
	v := rules.ValueOf(q.Fact, found)
	v.Path, v.Version = id, strconv.Itoa(t.changes) // they come back in the effects
	return v
}

// Write makes all changes or none.
func (t *tracker) Write(ctx context.Context, effects []rules.Effect) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, e := range effects {
		if e.Version != strconv.Itoa(t.changes) {
			return loop.ErrConflict // the loop decides again
		}
		if e.Kind != rules.SetEffect {
			return fmt.Errorf("a ticket takes no %s", e.Kind)
		}
	}
	for _, e := range effects {
		changed := t.tickets[e.File]
		switch e.Path[0] {
		case "state":
			changed.State = e.Value.(string)
		case "tries":
			changed.Tries = e.Value.(int)
		}
		t.tickets[e.File] = changed
	}
	t.changes++
	return nil
}

// A Source provides your own facts; a Writer changes them.
func ExampleWithSource() {
	tickets := &tracker{tickets: map[string]ticket{"T-7": {Title: "Fix the login", State: "open"}}}
	ctx := context.Background()
	policies := fstest.MapFS{"ticket.yaml": {Data: []byte(`ralph: 1
facts:
  job: {ticket: "${session_id}"}
rules:
  - name: stuck
    when: job.state == "open" and job.tries >= 2
    stop: ${job.title} needs a person
    then:
      - set: job.state = "stuck"
  - name: open
    when: job.state == "open"
    continue: ${job.title}
    then:
      - set: job.tries = job.tries + 1
`)}}
	l, diags := loop.Load(ctx, policies, "ticket.yaml", loop.WithSource(tickets))
	if l == nil {
		fmt.Println(diags.Err())
		return
	}
	for range 3 {
		d, err := l.Run(ctx, host.Event{SessionID: "T-7"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Verdict.Action, d.Verdict.Reason, tickets.tickets["T-7"])
	}
	// Output:
	// continue Fix the login {Fix the login open 1}
	// continue Fix the login {Fix the login open 2}
	// stop Fix the login needs a person {Fix the login stuck 2}
}
