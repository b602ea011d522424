package loop_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/internal/approval"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const ownWhen = "ralph: 1\nprefix: own\nwhen: session_id startsWith \"mine\"\nfacts: {it: {ask: x}}\nrules: [{name: go, when: it != \"\", continue: on}]"

// lazy makes a loop of a policy of which only its own when was read.
func (p *project) lazy(policy string, asked *int) *loop.Loop {
	p.t.Helper()
	program, diags := rules.LoadBytes(p.t.Context(), "p.yaml", []byte(policy), loop.Config(loop.WithSource(counting{asked}), loop.WithLazy()))
	if program == nil {
		p.t.Fatal(diags.Format())
	}
	l, err := loop.New(program,
		loop.WithSource(counting{asked}), loop.Local(), loop.WithState(p.store), loop.WithClock(p.clock),
		loop.WithEnv(p.getenv), loop.WithRecorder(recorder(p.record)))
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// loaded reports whether the rest of a policy was read.
func loaded(l *loop.Loop) bool { return len(l.Program().Rules()) > 0 }

// An event that a policy does not apply to gathers, writes and logs nothing, whether the
// whole policy was read or only its own when.
func TestIdle(t *testing.T) {
	p := newProject(t, nil)
	asked := 0
	for name, l := range map[string]*loop.Loop{
		"whole": p.named("p.yaml", ownWhen, []loop.Source{counting{&asked}}),
		"lazy":  p.lazy(ownWhen, &asked),
	} {
		d := p.run(l, p.stop())
		if d.Continue() || asked > 0 || loaded(l) != (name == "whole") || len(d.Notices)+len(d.Log) > 0 || len(p.lines) > 0 || len(entries(t, p.store)) > 0 {
			t.Errorf("%s: it says %q, asked %d, loaded %v, notices %q, log %q", name, said(d), asked, loaded(l), d.Notices, p.lines)
		}
		if r := d.Record(false); !strings.Contains(d.Verdict.Reason, "not for this event") || r.Trace.When == nil || r.Trace.When.Operands[0].Value != false {
			t.Errorf("%s: skipped %q, the trace shows %+v", name, d.Verdict.Reason, r.Trace.When)
		}
	}
}

// The rest is read at the first event that passes the when, and what is decided then is
// what the whole policy says.
func TestRest(t *testing.T) {
	p := newProject(t, nil)
	asked := 0
	l := p.lazy(ownWhen, &asked)
	ev := p.stop()
	ev.SessionID = "mine-1"
	for range 2 {
		if d := p.run(l, ev); said(d) != "on" || !d.Kept || d.Verdict.Trace.When == nil {
			t.Errorf("it says %q: %v", said(d), d.Err)
		}
	}
	if d := p.run(l, p.stop()); !d.Verdict.Cause.Untried() {
		t.Errorf("another session: it says %q", said(d))
	}
	if !loaded(l) || asked != 2 || len(p.lines) != 2 {
		t.Errorf("loaded %v, the world was asked %d times, the log has %d lines", loaded(l), asked, len(p.lines))
	}
	if r := p.records()[1]; r.Digest != approval.Key(l.Program().Files()) || r.Streak.Continuations != 1 || len(r.Limits) == 0 {
		t.Errorf("the record has the digest %.8s, the streak %+v, the limits %+v", r.Digest, r.Streak, r.Limits)
	}

	// Many goroutines may be the first.
	l = p.lazy("ralph: 1\nwhen: session_id != \"\"\nrules: [{name: go, continue: on}]", &asked)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if d := l.Preview(t.Context(), ev); said(d) != "on" {
				t.Errorf("it says %q", said(d))
			}
		})
	}
	wg.Wait()
}

// A rest that cannot be used lets the agent stop and reports why, at every event that the
// policy applies to, and at no other.
func TestRestThatFails(t *testing.T) {
	p := newProject(t, nil)
	l := p.lazy(strings.Replace(ownWhen, "it !=", "its !=", 1), new(int))
	ev := p.stop()
	ev.SessionID = "mine-1"
	for range 2 {
		if d := p.run(l, ev); d.Continue() || d.Verdict.Cause != rules.FaultRule || !strings.Contains(strings.Join(d.Notices, ""), `unknown name "its"`) {
			t.Errorf("it says %q, reported %q", said(d), d.Notices)
		}
	}
	if d := p.run(l, p.stop()); d.Err != nil || len(d.Notices) > 0 {
		t.Errorf("another session: %v, reported %q", d.Err, d.Notices)
	}
}

// An idle stop does not end a streak: only stops by rules do.
func TestIdleLeavesTheStreakAlone(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nwhen: not exists(\"pause\")\nrules: [{name: go, continue: 'so far ${loop.continuations}'}]")
	ev := p.turn("t1")
	if got := said(p.run(l, ev)); got != "so far 0" {
		t.Errorf("it says %q", got)
	}
	p.write("pause", "")
	if d := p.run(l, ev); d.Continue() || !d.Verdict.Cause.Untried() {
		t.Errorf("paused, it says %q", said(d))
	}
	if err := os.Remove(p.path("pause")); err != nil {
		t.Fatal(err)
	}
	if got := said(p.run(l, ev)); got != "so far 1" {
		t.Errorf("then it says %q", got)
	}
}
