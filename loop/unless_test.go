package loop_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// After so many verdicts a rule is skipped: per prompt, session or project, for
// good or within a window that slides.
func TestUnlessRepeated(t *testing.T) {
	type event struct {
		session, turn string
		wait          time.Duration
	}
	for _, c := range []struct {
		unless string
		events []event
		want   string // o where the rule held
	}{
		{"times: 1, per: prompt", []event{{"s", "a", 0}, {"s", "a", 0}, {"s", "b", 0}, {"s", "b", 0}}, "o.o."},
		{"times: 2, per: prompt", []event{{"s", "a", 0}, {"s", "a", 0}, {"s", "a", 0}, {"s", "b", 0}}, "oo.o"},
		{"times: 1, per: session", []event{{"s", "a", 0}, {"s", "b", 0}, {"r", "a", 0}, {"s", "c", 0}}, "o.o."},
		{"times: 1, per: project", []event{{"s", "a", 0}, {"s", "b", 0}, {"r", "a", 0}}, "o.."},
		{
			"times: 2, within: 1h, per: session",
			[]event{{"s", "a", 0}, {"s", "a", 40 * time.Minute}, {"s", "a", 10 * time.Minute}, {"s", "b", 10 * time.Minute}, {"s", "b", time.Minute}, {"s", "b", 40 * time.Minute}},
			"oo.o.o",
		},
		{
			"times: 1, within: 30m, per: project",
			[]event{{"s", "a", 0}, {"r", "a", 29 * time.Minute}, {"r", "a", time.Minute}},
			"o.o",
		},
	} {
		for _, verb := range []string{"continue: again", "stop: enough", "note: by the way", "notice: psst"} {
			t.Run(c.unless+"/"+verb, func(t *testing.T) {
				p := newProject(t, nil)
				l := p.loop(fmt.Sprintf(`
ralph: 1
limits: {continuations: 100}
rules:
  - name: once
    unless_repeated: {%s}
    %s
  - name: rest
    stop: the rest
`, c.unless, verb))
				got := ""
				for _, e := range c.events {
					p.now = p.now.Add(e.wait)
					ev := p.turn(e.turn)
					ev.SessionID = e.session
					d := p.run(l, ev)
					if len(d.Verdict.Parts) > 0 && d.Verdict.Parts[0].Rule == "once" {
						got += "o"
					} else {
						got += "."
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("where it held (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A rule that is skipped does not evaluate its when: nothing is read for it.
func TestUnlessRepeatedComesFirst(t *testing.T) {
	p := newProject(t, map[string]string{"a.txt": "x"})
	l := p.loop(`
ralph: 1
facts: {a: {text: a.txt}}
rules:
  - name: once
    unless_repeated: {times: 1, per: session}
    when: a == "x"
    continue: once
`)
	if d := p.run(l, p.turn("a")); len(d.Verdict.Trace.Facts) != 1 {
		t.Errorf("facts %v", d.Verdict.Trace.Facts)
	}
	if d := p.run(l, p.turn("a")); len(d.Verdict.Trace.Facts) != 0 {
		t.Errorf("facts %v", d.Verdict.Trace.Facts)
	}
}

// A note to a prompt counts as well, and nothing else of a prompt does.
func TestUnlessRepeatedAtPrompts(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop(`
ralph: 1
events: [Stop, UserPromptSubmit]
rules:
  - name: hello
    when: hook_event_name == "UserPromptSubmit"
    unless_repeated: {times: 1, per: session}
    note: a loop is at work
  - name: go
    continue: ${loop.continuations}
`)
	prompt := p.turn("a")
	prompt.Name = host.UserPromptSubmit
	var got []string
	for _, ev := range []host.Event{prompt, p.turn("a"), prompt, p.turn("a")} {
		d := p.run(l, ev)
		got = append(got, fmt.Sprintf("%s %s", said(d), d.Notes))
	}
	want := []string{"stop [a loop is at work]", "0 []", "stop []", "1 []"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
