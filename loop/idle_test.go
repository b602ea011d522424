package loop_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const ownWhen = "ralph: 1\nprefix: own\nwhen: session_id startsWith \"mine\"\nfacts: {it: {ask: x}}\nrules: [{name: go, when: it != \"\", continue: on}]"

// idle makes a loop of the head of a policy. Its rest is counted, and may fail.
func (p *project) idle(policy string, fails error, rests *atomic.Int32, asked *int) *loop.Loop {
	p.t.Helper()
	cfg := loop.Config(counting{asked})
	head, rest := rules.LoadHead(fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", cfg)
	if head == nil {
		p.t.Fatal("the policy has no head")
	}
	l, err := loop.New(head,
		loop.WithRest(func() (*rules.Program, error) {
			rests.Add(1)
			program, diags := rest()
			if fails == nil && program == nil {
				p.t.Error(diags.Format())
			}
			return program, fails
		}),
		loop.WithSource(counting{asked}), loop.Local(), loop.WithStore(p.store), loop.WithClock(func() time.Time { return p.now }),
		loop.WithEnv(func(name string) string { return p.env[name] }),
		loop.WithLog(func(line []byte) error { p.lines = append(p.lines, string(line)); return nil }),
	)
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// An event that a policy is not for gathers, writes and logs nothing, whether the
// policy was read whole or only its head, whose rest is then left alone.
func TestIdle(t *testing.T) {
	p := newProject(t, nil)
	asked := 0
	var rests atomic.Int32
	for name, l := range map[string]*loop.Loop{
		"whole": p.named("p.yaml", ownWhen, []loop.Source{counting{&asked}}),
		"head":  p.idle(ownWhen, nil, &rests, &asked),
	} {
		d := p.run(l, p.stop())
		if d.Continue() || asked > 0 || rests.Load() > 0 || len(d.Notices)+len(d.Log) > 0 || len(p.lines) > 0 || len(entries(t, p.store)) > 0 {
			t.Errorf("%s: it says %q, asked %d, rest %d, notices %q, log %q", name, said(d), asked, rests.Load(), d.Notices, p.lines)
		}
		if r := d.Record(false); !strings.Contains(d.Skipped, "not for this event") || r.Trace.When == nil || r.Trace.When.Operands[0].Value != false {
			t.Errorf("%s: skipped %q, the trace shows %+v", name, d.Skipped, r.Trace.When)
		}
	}
}

// The rest is read once, at the first event that the head lets pass, and what is
// decided then is what the whole policy says.
func TestRest(t *testing.T) {
	p := newProject(t, nil)
	asked := 0
	var rests atomic.Int32
	l := p.idle(ownWhen, nil, &rests, &asked)
	ev := p.stop()
	ev.SessionID = "mine-1"
	for range 2 {
		if d := p.run(l, ev); said(d) != "on" || !d.Applied || d.Verdict.Trace.When == nil {
			t.Errorf("it says %q: %v", said(d), d.Err)
		}
	}
	if d := p.run(l, p.stop()); d.Skipped == "" {
		t.Errorf("another session: it says %q", said(d))
	}
	if rests.Load() != 1 || asked != 2 || len(p.lines) != 2 {
		t.Errorf("the rest was read %d times, the world asked %d times, the log has %d lines", rests.Load(), asked, len(p.lines))
	}

	// Many goroutines at once read it once, too.
	rests.Store(0)
	l = p.idle("ralph: 1\nwhen: session_id != \"\"\nrules: [{name: go, continue: on}]", nil, &rests, &asked)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d := l.Decide(t.Context(), ev)
			if said(d) != "on" {
				t.Errorf("it says %q", said(d))
			}
		})
	}
	wg.Wait()
	if rests.Load() != 1 {
		t.Errorf("the rest was read %d times", rests.Load())
	}
}

// A rest that cannot be used lets the agent stop and says why, at every event that
// the policy is for, and at no other.
func TestRestThatFails(t *testing.T) {
	p := newProject(t, nil)
	var rests atomic.Int32
	l := p.idle(strings.Replace(ownWhen, "it !=", "its !=", 1), errors.New("unknown name its"), &rests, new(int))
	ev := p.stop()
	ev.SessionID = "mine-1"
	for range 2 {
		if d := p.run(l, ev); d.Continue() || d.Err == nil || !strings.Contains(strings.Join(d.Notices, ""), "unknown name its") {
			t.Errorf("it says %q: %v, told %q", said(d), d.Err, d.Notices)
		}
	}
	if d := p.run(l, p.stop()); d.Err != nil || len(d.Notices) > 0 {
		t.Errorf("another session: %v, told %q", d.Err, d.Notices)
	}
	if _, err := loop.New(l.Program(), loop.WithRest(nil)); err == nil {
		t.Error("a rest that is no function is taken")
	}
}

// A row that an idle stop lies within goes on: only stops by rules end it.
func TestIdleLeavesTheRowAlone(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nwhen: not exists(\"pause\")\nrules: [{name: go, continue: 'so far ${loop.continuations}'}]")
	ev := p.turn("t1")
	if got := said(p.run(l, ev)); got != "so far 0" {
		t.Errorf("it says %q", got)
	}
	p.write("pause", "")
	if d := p.run(l, ev); d.Continue() || d.Skipped == "" {
		t.Errorf("paused, it says %q", said(d))
	}
	if err := os.Remove(p.path("pause")); err != nil {
		t.Fatal(err)
	}
	if got := said(p.run(l, ev)); got != "so far 1" {
		t.Errorf("then it says %q", got)
	}
}
