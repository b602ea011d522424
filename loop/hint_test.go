package loop_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
)

// Of many concurrent hooks of different sessions, one shows the hint.
func TestHintOnce(t *testing.T) {
	p := newProject(t, nil)
	p.store = t.TempDir()
	if err := store.Open(p.store).ChangeHints(t.Context(), p.dir, func([]store.Hint) []store.Hint { return []store.Hint{{Text: "mind the gap", At: p.now}} }); err != nil {
		t.Fatal(err)
	}
	var shown atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		l := p.loop(runPolicy("run: [echo]"))
		ev := p.stop()
		ev.SessionID += strings.Repeat("x", i)
		wg.Go(func() {
			d, err := l.Run(t.Context(), ev)
			if err != nil {
				t.Error(err)
			}
			if strings.HasSuffix(d.Verdict.Reason, "\n\n## Hint from the user\n\nmind the gap") {
				shown.Add(1)
			}
		})
	}
	wg.Wait()
	if n := shown.Load(); n != 1 {
		t.Errorf("the hint was shown %d times", n)
	}
}

// Only the main agent's continuation takes a hint.
func TestHintIsForTheMainAgent(t *testing.T) {
	p := newProject(t, nil)
	p.store = t.TempDir()
	own := store.Open(p.store)
	if err := own.ChangeHints(t.Context(), p.dir, func([]store.Hint) []store.Hint { return []store.Hint{{Text: "mind the gap", At: p.now}} }); err != nil {
		t.Fatal(err)
	}
	l := p.loop(strings.Replace(runPolicy("run: [echo]"), "limits:", "events: [Stop, SubagentStop]\nlimits:", 1))
	ev := p.stop()
	ev.Name, ev.AgentID = host.SubagentStop, "a1"
	if d := p.run(l, ev); d.Record(true).Hint != "" || !d.Continue() {
		t.Errorf("the subagent got %q", d.Record(true).Hint)
	}
	if d := p.run(l, p.stop()); d.Record(true).Hint != "mind the gap" {
		t.Errorf("the agent got %q", d.Record(true).Hint)
	}
}
