package loop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// pager is a program with two effects, which may be down.
type pager struct {
	t     *testing.T
	now   time.Time
	down  map[string]bool // by name
	store loop.Store
	made  []string
}

const pagerPolicy = `
ralph: 1
limits: {continuations: 200, repeats: 200}
rules:
  - name: go
    continue: on
    then: [{page: '${loop.continuations}'}, {post: '${loop.continuations}'}]
`

// effects are what the program adds.
func (p *pager) effects() (opts []loop.Option) {
	for _, name := range []string{"page", "post"} {
		opts = append(opts, effect(name, func(_ context.Context, c loop.Call) error {
			if p.down[name] {
				return errors.New("it is down")
			}
			p.made = append(p.made, fmt.Sprintf("%s %v, attempt %d", name, c.Effect.Value, c.Attempt))
			return nil
		}))
	}
	return opts
}

// loop returns the loop of a new process.
func (p *pager) loop(opts ...loop.Option) *loop.Loop {
	p.t.Helper()
	l, err := loop.New(withEffects(p.t, pagerPolicy), append(append(p.effects(), loop.WithStore(p.store), loop.WithClock(func() time.Time { return p.now })), opts...)...)
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// took returns what was made since the last call.
func (p *pager) took() string {
	made := strings.Join(p.made, "; ")
	p.made = nil
	return made
}

// What a decision could not do is done later: by Drain, or by the session's next event after its own effects. The effects of a
// decision keep their order, each attempt waits longer, and what is given up is reported and holds up nothing.
func TestDrain(t *testing.T) {
	p := &pager{t: t, now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), down: map[string]bool{"page": true}, store: loop.InMemory()}
	run := func(session string) *loop.Decision {
		t.Helper()
		d, err := p.loop().Run(t.Context(), host.Event{SessionID: session})
		if err != nil || !d.Kept {
			t.Errorf("error %v", err)
		}
		return d
	}
	drain := func(want string, wantLeft int) {
		t.Helper()
		left, err := p.loop().Drain(t.Context())
		if got := p.took(); got != want || left != wantLeft || err != nil {
			t.Errorf("Drain makes %q, left %d, error %v; want %q, %d", got, left, err, want, wantLeft)
		}
	}
	d := run("a")
	if diff := cmp.Diff([]string{"rule go: page was not carried out: it is down"}, failures(d)); diff != "" || p.took() != "" {
		t.Errorf("failures (-want +got)\n%s", diff)
	}
	drain("", 2) // nothing is due
	p.now = p.now.Add(time.Second)
	drain("", 2) // it fails again
	p.down["page"] = false
	p.now = p.now.Add(time.Second)
	drain("", 2) // the second time it waits longer
	p.now = p.now.Add(3 * time.Second)
	drain("page 0, attempt 3; post 0, attempt 2", 0)

	p.down["post"] = true
	run("a")
	p.took()
	p.down["post"] = false
	run("b")
	if got := p.took(); got != "page 0, attempt 1; post 0, attempt 1" {
		t.Errorf("another session makes %q", got)
	}
	p.now = p.now.Add(time.Minute)
	run("a")
	if got, want := p.took(), "page 2, attempt 1; post 2, attempt 1; post 1, attempt 2"; got != want {
		t.Errorf("the next event makes %q, want %q", got, want)
	}

	p.down["page"] = true
	run("a")
	for n := 2; n < 10; n++ {
		p.now = p.now.Add(time.Hour)
		drain("", 2)
	}
	p.now = p.now.Add(time.Hour)
	left, err := p.loop().Drain(t.Context())
	if got := p.took(); got != "post 3, attempt 2" || left != 0 || err == nil || !strings.HasSuffix(err.Error(), "was given up after 10 attempts: it is down") {
		t.Errorf("Drain makes %q, left %d, error %v", got, left, err)
	}

	run("a")
	p.now = p.now.Add(8 * 24 * time.Hour)
	d = run("a")
	if got := fmt.Sprint(d.Failures[len(d.Failures)-1].Dead); got != "true" {
		t.Errorf("after a week it is given up: %s; failures %q", got, failures(d))
	}
}

// The session's next event makes what is due after its own effects, within what is left of its deadline: then it answers, whatever an
// effect does, and no other begins.
func TestDueWithinDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		var begun []string
		l, err := loop.New(withEffects(t, "ralph: 1\nrules: [{name: go, continue: on, then: [{page: '${loop.continuations}'}]}]"), loop.WithDeadline(time.Minute),
			effect("page", func(_ context.Context, c loop.Call) error {
				if down {
					return errors.New("it is down")
				}
				begun = append(begun, fmt.Sprintf("%v, attempt %d", c.Effect.Value, c.Attempt))
				time.Sleep(25 * time.Second) // whatever its context says
				return nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if _, err := l.Run(t.Context(), host.Event{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		down = false
		start := time.Now()
		d, err := l.Run(t.Context(), host.Event{})
		if took := time.Since(start); took != time.Minute || !d.Continue() || err != nil {
			t.Errorf("%s after %s, error %v", d.Outcome(), took, err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if diff := cmp.Diff([]string{"4, attempt 1", "0, attempt 2", "1, attempt 2"}, begun); diff != "" {
			t.Errorf("what was begun (-want +got)\n%s", diff)
		}
		begun = nil
		if left, err := l.Drain(t.Context()); left != 0 || err != nil {
			t.Errorf("%d effects are left, error %v", left, err)
		}
		if diff := cmp.Diff([]string{"2, attempt 2", "3, attempt 2"}, begun); diff != "" {
			t.Errorf("what is begun later (-want +got)\n%s", diff)
		}
	})
}

// Attempts begin a second apart and end an hour apart, so that a service may be down for hours.
func TestDelays(t *testing.T) {
	start := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	p := &pager{t: t, now: start, down: map[string]bool{}, store: loop.InMemory()}
	var tried []time.Duration
	down := effect("page", func(context.Context, loop.Call) error {
		tried = append(tried, p.now.Sub(start))
		start = p.now
		return errors.New("it is down")
	})
	l, err := loop.New(withEffects(t, pagerPolicy), down, p.effects()[1], loop.WithStore(p.store), loop.WithClock(func() time.Time { return p.now }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), host.Event{}); err != nil {
		t.Fatal(err)
	}
	for len(tried) < 10 {
		p.now = p.now.Add(time.Second)
		_, _ = l.Drain(t.Context()) // the last time it is given up
	}
	want := []time.Duration{0, 1, 4, 16, 64, 256, 1024, 3600, 3600, 3600}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, tried); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// More than a hundred effects that wait in a session are not kept: the oldest is given up, and reported.
func TestManyEffectsWait(t *testing.T) {
	p := &pager{t: t, now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), down: map[string]bool{"page": true}, store: loop.InMemory()}
	for i := range 51 {
		d, err := p.loop().Run(t.Context(), host.Event{})
		if err != nil {
			t.Fatal(err)
		}
		dead := 0
		for _, f := range d.Failures {
			if f.Dead && f.Error == "more than 100 effects of the session wait" {
				dead++
			}
		}
		if want := 2 * (i / 50); dead != want {
			t.Errorf("after %d decisions %d effects are given up, want %d: %q", i+1, dead, want, failures(d))
		}
	}
	if left, err := p.loop().Drain(t.Context()); left != 100 || err != nil {
		t.Errorf("%d effects wait, error %v", left, err)
	}
}

// A call that a process has claimed is its own, until the claim ends. A loop that has lost the effect tries it, and fails.
func TestClaims(t *testing.T) {
	p := &pager{t: t, now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), down: map[string]bool{}, store: loop.LocalStore(t.TempDir())}
	other := 0
	claimed := effect("page", func(context.Context, loop.Call) error {
		n, err := p.loop().Drain(t.Context()) // of another process, meanwhile
		other += n
		return err
	})
	l, err := loop.New(withEffects(t, pagerPolicy), loop.WithStore(p.store), claimed, p.effects()[1], loop.WithClock(func() time.Time { return p.now }))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := l.Run(t.Context(), host.Event{}); err != nil || len(d.Failures) > 0 || p.took() != "post 0, attempt 1" || other != 2 {
		t.Errorf("error %v, failures %q, left for another %d", err, failures(d), other)
	}

	p.down["page"] = true
	if _, err := p.loop().Run(t.Context(), host.Event{}); err != nil {
		t.Fatal(err)
	}
	p.now = p.now.Add(time.Minute)
	bare := alone(t, "ralph: 1\nrules: [{name: go, continue: on}]", loop.WithStore(p.store), loop.WithClock(func() time.Time { return p.now }))
	d, err := bare.Run(t.Context(), host.Event{})
	if err != nil || len(d.Failures) != 1 || d.Failures[0].Error != "this program has no such effect" {
		t.Errorf("error %v, failures %q", err, failures(d))
	}
}

// A call has what an effect needs to know of its decision; its ID is not that of another session's.
func TestCall(t *testing.T) {
	var calls []loop.Call
	l, err := loop.New(withEffects(t, pagerPolicy), loop.WithScope("tenant"), effect("post", func(context.Context, loop.Call) error { return nil }),
		effect("page", func(_ context.Context, c loop.Call) error { calls = append(calls, c); return nil }), loop.WithClock(func() time.Time { return time.Unix(1, 0).UTC() }))
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"s", "t"} {
		if _, err := l.Run(t.Context(), host.Event{ID: "e", Host: host.Codex, SessionID: session, AgentID: "a", Turn: "u", Run: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	got := calls[0]
	want := loop.Call{
		ID: got.ID, Attempt: 1, Due: got.Due, Scope: "tenant", Policy: "p.yaml", Digest: got.Digest, Rule: "go", Host: host.Codex, Event: host.Stop, EventID: "e", Session: "s",
		Agent: "a", Turn: "u", Run: "r", At: time.Unix(1, 0).UTC(), Effect: rules.Effect{Kind: rules.OwnEffect, Name: "page", Value: "0"},
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Digest == "" || !strings.HasPrefix(got.ID, "e-") || !strings.HasSuffix(got.ID, "-0") {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if calls[1].ID == got.ID {
		t.Errorf("two sessions have the call %s", got.ID)
	}
}

// Preview neither looks for an earlier answer nor stores one; Apply looks. A hook has the ID of its context, and each loop its
// own answer.
func TestDelivery(t *testing.T) {
	l := load(t, "ralph: 1\nrules: [{name: go, continue: 'so far ${loop.continuations}'}]")
	ev := host.Event{ID: "1", SessionID: "s"}
	first := l.Preview(t.Context(), ev)
	if d, err := l.Run(t.Context(), ev); err != nil || d.Repeated || said(d) != "so far 0" || d.ID() != "1" {
		t.Errorf("it says %q, repeated %t, error %v", said(d), d.Repeated, err)
	}
	if d := l.Preview(t.Context(), ev); d.Repeated || said(d) != "so far 1" {
		t.Errorf("a preview says %q, repeated %t", said(d), d.Repeated)
	}
	for _, d := range []*loop.Decision{first, l.Preview(t.Context(), ev)} {
		if d, err := l.Apply(t.Context(), d); err != nil || !d.Repeated || said(d) != "so far 0" || d.Outcome() != loop.Continued {
			t.Errorf("Apply says %q, repeated %t, outcome %s, error %v", said(d), d.Repeated, d.Outcome(), err)
		}
	}
	other := load(t, "ralph: 1\nrules: [{name: go, continue: 'other ${loop.continuations}'}]", loop.WithName("other"))
	for range 2 {
		a := decoded(t, l.Hook(loop.WithDelivery(t.Context(), "2"), nil, []byte(`{"session_id": "s"}`), other))
		if want := "[p.yaml]\nso far 1\n\n[other]\nother 0"; a.Reason != want {
			t.Errorf("the hook says %q, want %q", a.Reason, want)
		}
	}
	replaced, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nevents: [PreCompact]\nrules: [{name: go, stop: no}]"), loop.Config())
	if err := errors.Join(diags.Err(), l.Replace(replaced)); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Run(t.Context(), ev); err != nil || !d.Repeated || said(d) != "so far 0" {
		t.Errorf("another policy says %q, repeated %t, error %v", said(d), d.Repeated, err)
	}
}

// An answer that is kept is bounded; one delivery has many long texts.
func TestLongAnswer(t *testing.T) {
	long := strings.Repeat("<b>", 10<<10)
	policy := "ralph: 1\ngate: all\nrules:\n"
	for i := range 10 {
		policy += fmt.Sprintf("  - {name: r%d, continue: '%s', notice: '%d %s'}\n", i, long, i, long)
	}
	l := load(t, policy)
	first, err := l.Run(t.Context(), host.Event{ID: "1"})
	if err != nil || len(first.Notices) < 10 {
		t.Fatalf("%d notices, error %v", len(first.Notices), err)
	}
	again, err := l.Run(t.Context(), host.Event{ID: "1"})
	size := len(again.Verdict.Reason) + len(strings.Join(again.Notices, ""))
	if err != nil || !again.Repeated || !strings.HasPrefix(again.Verdict.Reason, "<b><b>") || len(again.Notices) == 0 || size > 16<<10 {
		t.Errorf("%d bytes with %d notices come again, error %v", size, len(again.Notices), err)
	}
}

// A loop keeps the latest eight answers of a session for a day, each text up to 4 KiB. What failed or was skipped is decided
// when it comes again.
func TestKeptAnswers(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	l := load(t, "ralph: 1\nwhen: n >= 0\nfacts: {n: {input: {type: integer}}}\nrules:\n  - {name: enough, when: n > 5, stop: enough}\n"+
		"  - {name: long, when: n > 1, continue: 'so far ${loop.continuations}"+strings.Repeat(" and on", 1<<10)+"'}\n  - {name: go, continue: 'so far ${loop.continuations}'}\n", loop.WithClock(func() time.Time { return now }))
	run := func(id string, n any, want string, repeated bool) {
		t.Helper()
		d, _ := l.Run(t.Context(), host.Event{ID: id, SessionID: "s", Values: map[string]any{"n": n}})
		got := fmt.Sprintf("%s %.8s", d.Outcome(), said(d))
		if d.Outcome() != loop.Continued {
			got = string(d.Outcome())
		}
		if got != want || d.Repeated != repeated {
			t.Errorf("%s with %v: %s, repeated %t; want %s, %t", id, n, got, d.Repeated, want, repeated)
		}
		if size := len(d.Verdict.Reason); repeated && size > 8 && (size < 4<<10 || size > 4<<10+len("…")) {
			t.Errorf("%s: %d bytes come again", id, size)
		}
	}
	run("0", "many", "failed", false)
	run("0", -1, "skipped", false)
	for i := range 9 {
		run(fmt.Sprint(i), 1+i/8, fmt.Sprintf("continued so far %d", i), false)
	}
	run("1", 1, "continued so far 1", true)
	run("0", 9, "stopped", false)
	now = now.Add(24*time.Hour - 1)
	run("8", 1, "continued so far 8", true)
	now = now.Add(1)
	run("8", 9, "stopped", false)
}

// The process of a first delivery ends before its changes of facts are made. The next delivery makes them, unless the
// facts have changed since: it fails then, and a later one is decided.
func TestChangedSinceTheFirstDelivery(t *testing.T) {
	src := &table{name: "table", rows: map[string]int{"a": 1, "b": 0}}
	s := loop.InMemory()
	ev := host.Event{ID: "1", SessionID: "s"}
	src.before = func(*table) { runtime.Goexit() }
	if d, err := load(t, tablePolicy, loop.WithSource(src), loop.WithStore(s)).Run(t.Context(), ev); err == nil {
		t.Fatalf("it says %q", said(d))
	}
	src.before, src.rows["a"] = nil, 11
	l := load(t, tablePolicy, loop.WithSource(src), loop.WithStore(s))
	d, err := l.Run(t.Context(), ev)
	if d.Continue() || d.Outcome() != loop.Failed || err == nil || !strings.Contains(err.Error(), "the effects of the first delivery can no longer be made") {
		t.Errorf("it says %q, outcome %s, error %v", said(d), d.Outcome(), err)
	}
	if diff := cmp.Diff(map[string]int{"a": 11, "b": 0}, src.rows); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
	for _, repeated := range []bool{false, true} {
		if d, err := l.Run(t.Context(), ev); err != nil || !strings.HasPrefix(said(d), "a is 11") || d.Repeated != repeated {
			t.Errorf("a later delivery says %q, repeated %t, error %v", said(d), d.Repeated, err)
		}
	}
}

// overtaken is a store in which another process counts before the first Save, and before the first Lock.
type overtaken struct {
	loop.Store
	count         func()
	saved, locked bool
	longest       time.Duration // that a lock was held
}

func (s *overtaken) Save(ctx context.Context, w loop.Write) error {
	if !s.saved {
		s.saved = true
		s.count()
	}
	return s.Store.Save(ctx, w)
}

func (s *overtaken) Lock(context.Context, ...loop.Key) (loop.Store, func(), error) {
	if !s.locked {
		s.locked = true
		s.count()
	}
	start := time.Now()
	return s.Store, func() { s.longest = max(s.longest, time.Since(start)) }, nil
}

// After a conflict a decision holds up others for two seconds at most. A fact that takes longer is gathered without the lock.
func TestLockedBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &overtaken{Store: loop.InMemory()}
		other := load(t, goOn, loop.WithStore(s.Store))
		s.count = func() {
			if _, err := other.Run(t.Context(), host.Event{SessionID: "s"}); err != nil {
				t.Error(err)
			}
		}
		l := load(t, "ralph: 1\nfacts: {slow: {ask: x}}\nrules:\n  - {name: first, when: loop.continuations < 2, continue: on}\n  - {name: then, when: slow == 1, continue: 'so far ${loop.continuations}'}\n",
			loop.WithStore(s), loop.WithSource(source{"ask", func(ctx context.Context, _ loop.Query) rules.Value {
				select {
				case <-time.After(7 * time.Second):
				case <-ctx.Done():
				}
				return rules.Value{V: 1}
			}}))
		d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
		if err != nil || said(d) != "so far 2" || s.longest != 2*time.Second {
			t.Errorf("it says %q and holds the lock for %s, error %v", said(d), s.longest, err)
		}
	})
}

// Two processes decide events of one session. Neither starves.
func TestFairness(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context()) // both may end in the same moment
	defer stop()
	counts := make(chan int, 2)
	for range 2 {
		l := load(t, "ralph: 1\nlimits: {continuations: 100000, repeats: 100000}\nrules: [{name: go, continue: on}]", loop.WithStore(loop.LocalStore(dir)))
		go func() {
			n := 0
			defer func() { counts <- n }()
			for ctx.Err() == nil {
				if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || !d.Continue() {
					t.Errorf("it says %q, error %v", said(d), err)
				}
				runtime.Gosched() // each is a process of its own
				if n++; n == 400 {
					stop()
				}
			}
		}()
	}
	a, b := <-counts, <-counts
	if min(a, b) < max(a, b)/4 {
		t.Errorf("the two made %d and %d decisions", a, b)
	}
}
