package attack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// times is how often a storm does what it does: few times, so that the test suite stays quick, and as often as a release
// is tried with RALPH_STORM=full in the environment.
func times(few, full int) int {
	if os.Getenv("RALPH_STORM") == "full" {
		return full
	}
	return few
}

// storm makes a world in which many things happen at once.
func storm(t *testing.T, src string) *assault {
	t.Helper()
	needUnix(t)
	t.Parallel()
	s, err := parse(src)
	if err != nil {
		t.Fatal(err)
	}
	s.within = 2 * time.Minute // a storm is no time for a quick answer
	a := newAssault(t, s, "")
	if a.before, err = a.look(); err != nil {
		t.Fatal(err)
	}
	return a
}

// Of many hooks of one session that run at once, exactly as many continue as the limit allows.
func TestStormOnOneCounter(t *testing.T) {
	processes, limit := times(12, 200), times(5, 50)
	a := storm(t, fmt.Sprintf(`want any
-- .ralph/policy.yaml --
ralph: 1
limits: {continuations: %d}
rules: [{name: r, continue: on}]
-- stdin --
{"session_id":"s-1","hook_event_name":"Stop","cwd":"@PROJECT","stop_hook_active":false,"prompt_id":"p"}`, limit))
	outcomes := make([]outcome, processes)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { outcomes[i] = a.execute("ralph eval") })
	}
	wg.Wait()
	for _, breach := range a.breaches(outcomes) {
		t.Error(breach)
	}
	on := 0
	for _, o := range outcomes {
		if goesOn, _ := answer(o.stdout); goesOn {
			on++
		}
	}
	if on != limit {
		t.Errorf("%d of %d went on, want %d", on, processes, limit)
	}
}

// swap atomically replaces the file at path with one file after the other while hooks run.
func swap(t *testing.T, a *assault, hooks int, path string, makers ...func(name string) error) {
	t.Helper()
	put := func(maker func(string) error) error {
		next := filepath.Join(filepath.Dir(a.places["PROJECT"]), "next")
		if err := maker(next); err != nil {
			return err
		}
		return os.Rename(next, path)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	swaps := 0
	wg.Go(func() {
		for ; ; swaps++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := put(makers[swaps%len(makers)]); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var outcomes []outcome
	for range hooks {
		outcomes = append(outcomes, a.execute("ralph eval"))
	}
	close(stop)
	wg.Wait()
	if err := put(makers[0]); err != nil {
		t.Fatal(err)
	}
	for _, breach := range a.breaches(append(outcomes, a.execute("ralph eval"))) {
		t.Error(breach)
	}
	if swaps < hooks {
		t.Errorf("%d swaps for %d hooks", swaps, hooks)
	}
}

func content(text string) func(string) error {
	return func(name string) error { return os.WriteFile(name, []byte(text), 0o644) }
}

func link(target string) func(string) error {
	return func(name string) error { return os.Symlink(target, name) }
}

// A file that becomes a link out of the project between any two steps is neither read nor written through it.
func TestStormOfLinks(t *testing.T) {
	a := storm(t, `want any
allow PROJECT/state.json
-- .ralph/policy.yaml --
ralph: 1
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}
  text: {text: state.json}
rules:
  - {name: count, then: [{set: state.n = state.n + 1}]}
  - {name: r, when: ok(text), continue: "${text}"}
-- state.json --
{"n": 1}`)
	out := filepath.Join(a.places["OUT"], "state.json")
	if err := os.WriteFile(out, []byte(`{"n": 5, "secret": "`+a.secret+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var err error
	if a.before, err = a.look(); err != nil {
		t.Fatal(err)
	}
	swap(t, a, times(40, 2000), filepath.Join(a.places["PROJECT"], "state.json"), content(`{"n": 1}`), link(out))
}

// A policy that is exchanged for another while it is read runs nothing that was not approved.
func TestStormOfApprovals(t *testing.T) {
	const policy = "ralph: 1\nfacts: {it: {exec: [%s]}}\nrules: [{name: r, when: ok(it), stop: s, notice: it ran}]\n"
	approved := fmt.Sprintf(policy, "true")
	a := storm(t, "says it ran\nprepare ralph trust --yes .ralph/policy.yaml\nallow PROJECT/.ralph/policy.yaml\n-- .ralph/policy.yaml --\n"+approved)
	swap(t, a, times(40, 500), filepath.Join(a.places["PROJECT"], ".ralph/policy.yaml"),
		content(approved), content(fmt.Sprintf(policy, "touch, "+a.mark)))
}
