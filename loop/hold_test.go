package loop_test

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// While a run holds the name of a policy in a project, only its own events are decided by that policy there.
func TestHold(t *testing.T) {
	dir, store := t.TempDir(), loop.Dir(filepath.Join(t.TempDir(), "store"))
	const endless = `rules: [{name: next, continue: Go on.}]`
	here := loop.WithRoot(dir)
	l := load(t, endless, here, loop.WithStore(store))
	held := func(want string) {
		t.Helper()
		if run, err := l.Held(t.Context(), "policy"); run != want || err != nil {
			t.Errorf("it is held by %q, %v; want %q", run, err, want)
		}
	}
	mine := errors.New("mine")
	held("")
	err := l.Hold(t.Context(), "policy", "r1", func() error {
		held("r1")
		for _, c := range []struct {
			l    *loop.Loop
			ev   loop.Event
			want rules.Outcome
		}{
			{l, loop.Event{Session: "s"}, loop.Off},
			{l, loop.Event{Session: "r1", Run: true}, rules.Continued},
			{named(t, "other", endless, here, loop.WithStore(store)), loop.Event{Session: "s"}, rules.Continued},
			{load(t, endless, loop.WithRoot(t.TempDir()), loop.WithStore(store)), loop.Event{Session: "s"}, rules.Continued},
		} {
			if got := decide(t, c.l, c.ev).Outcome; got != c.want {
				t.Errorf("%+v: %s, want %s", c.ev, got, c.want)
			}
		}
		if err := l.Hold(t.Context(), "policy", "r2", func() error { return nil }); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second run: %v", err)
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("the error is %v", err)
	}
	held("")
	put(t, store, "project/"+url.PathEscape(dir), `{"version": 1, "runs": {"policy": "r3"}}`) // its process was killed
	if got := decide(t, l, loop.Event{}).Outcome; got != rules.Continued {
		t.Errorf("after a run that was killed: %s", got)
	}
}
