package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Why a policy cannot be used is recorded at each stop and shown once a prompt, and not while a person's stop is in force.
func TestRefuse(t *testing.T) {
	recorded := 0
	l := load(t, always, loop.WithRecorder(func(context.Context, loop.Record) error { recorded++; return nil }))
	refuse := func(prompt, why string, outcome rules.Outcome, notice string) {
		t.Helper()
		d := l.Refuse(t.Context(), loop.Event{Session: "s", PromptID: prompt}, errors.New(why))
		if d.Outcome != outcome || d.Notice != notice || d.Continue() {
			t.Errorf("%s, %s: %s, shown %q", prompt, why, d.Outcome, d.Notice)
		}
	}
	refuse("1", "no file", rules.Failed, "ralph: the policy policy lets the agent stop: no file")
	refuse("1", "no file", rules.Failed, "")
	refuse("1", "no n", rules.Failed, "ralph: the policy policy lets the agent stop: no n")
	refuse("2", "no file", rules.Failed, "ralph: the policy policy lets the agent stop: no file")
	if recorded != 4 {
		t.Errorf("%d records", recorded)
	}
	if err := l.Stop(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	refuse("3", "no file", loop.Off, "")
}
