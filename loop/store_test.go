package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// rows is an embedder's Store: JSON by key, with a count as the version. onLoad and
// onSave are called before Load and Save.
type rows struct {
	mu     sync.Mutex
	kept   map[loop.Key]row
	onLoad func() ([]loop.Entry, error) // nil entries and no error: as usual
	onSave func() error
	saves  int // that were asked for
}

type row struct {
	memory  []byte
	version int
}

func newRows() *rows { return &rows{kept: map[loop.Key]row{}} }

func (s *rows) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	if s.onLoad != nil {
		if entries, err := s.onLoad(); entries != nil || err != nil {
			return entries, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]loop.Entry, len(keys))
	for i, k := range keys {
		out[i].Key = k
		if r, ok := s.kept[k]; ok {
			if err := json.Unmarshal(r.memory, &out[i]); err != nil {
				return nil, err
			}
			out[i].Version = strconv.Itoa(r.version)
		}
	}
	return out, context.Cause(ctx)
}

func (s *rows) Save(ctx context.Context, w loop.Write) error {
	s.mu.Lock()
	s.saves++
	s.mu.Unlock()
	if s.onSave != nil {
		if err := s.onSave(); err != nil {
			return err
		}
	}
	return s.put(ctx, w.Entries...)
}

func (s *rows) put(ctx context.Context, entries ...loop.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if r, ok := s.kept[e.Key]; ok && strconv.Itoa(r.version) != e.Version || !ok && e.Version != "" {
			return fmt.Errorf("row %s: %w", e.Key.Session, loop.ErrConflict)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, e := range entries {
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		s.kept[e.Key] = row{b, s.kept[e.Key].version + 1}
		entries[i].Version = strconv.Itoa(s.kept[e.Key].version)
	}
	return nil
}

// count adds n continuations to all that is kept, as other processes do.
func (s *rows) count(n int) {
	for _, k := range slices.Collect(keysOf(s.kept)) {
		entries, err := (&rows{kept: s.kept}).Load(context.Background(), k)
		if err != nil {
			panic(err)
		}
		entries[0].Memory.Streak += n
		entries[0].Memory.Total += n
		if err := s.put(context.Background(), entries...); err != nil {
			panic(err)
		}
	}
}

func keysOf(m map[loop.Key]row) func(func(loop.Key) bool) {
	return func(yield func(loop.Key) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// total is how many continuations the only session has.
func (s *rows) total(t *testing.T) int {
	t.Helper()
	n := 0
	for k, r := range s.kept {
		if k.Policy == "" { // what the session counts for all policies
			continue
		}
		var e loop.Entry
		decode(t, r.memory, &e)
		n += e.Memory.Total
	}
	return n
}

func TestOwnStore(t *testing.T) {
	looptest.Store(t, func(*testing.T) loop.Store { return newRows() })
}

// stores are places that memories are kept in. Each call of open makes another loop
// with the same place.
func stores(t *testing.T) map[string]loop.Option {
	return map[string]loop.Option{
		"in memory": loop.WithStore(loop.InMemory()), "local": loop.WithStore(loop.LocalStore(t.TempDir())),
		"state directory": loop.WithState(t.TempDir()), "own": loop.WithStore(newRows()),
	}
}

// The limits hold by the memory that comes back, wherever it is kept, and for every
// loop that shares it.
func TestLimitsInStores(t *testing.T) {
	for limits, want := range map[string]int{"{continuations: 3}": 3, "{total: 4}": 4, "{repeats: 2}": 2} {
		policy := "ralph: 1\nlimits: " + limits + "\nrules: [{name: go, continue: on}]"
		for name, store := range stores(t) {
			got := 0
			for range 10 {
				l := alone(t, policy, store)
				d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
				if err != nil {
					t.Fatal(err)
				}
				if d.Continue() {
					got++
				} else if !strings.HasPrefix(d.Verdict.Rule, "limits.") {
					t.Errorf("%s, %s: it stops by %q: %s", limits, name, d.Verdict.Rule, d.Verdict.Reason)
				}
			}
			if got != want {
				t.Errorf("%s, %s: %d continuations, want %d", limits, name, got, want)
			}
		}
	}
}

// Events without a session are one loop of the store, project and policy, which ends.
// Loops that each keep their memory in the process share nothing.
func TestEventsWithoutSession(t *testing.T) {
	const policy = "ralph: 1\nlimits: {continuations: 2}\nrules: [{name: go, continue: '${loop.continuations}'}]"
	project, other, state := t.TempDir(), t.TempDir(), t.TempDir()
	disk := func(root, name string) *loop.Loop {
		return alone(t, policy, loop.WithRoot(root), loop.WithState(state), loop.WithName(name))
	}
	memory := alone(t, policy)
	for _, c := range []struct {
		name string
		loop *loop.Loop
		want string
	}{
		{"in memory", memory, "0"}, {"the same", memory, "1"}, {"it ends", memory, "stop limits.continuations"},
		{"another in memory", alone(t, policy), "0"},
		{"on disk", disk(project, "p"), "0"}, {"another loop of this", disk(project, "p"), "1"}, {"it ends", disk(project, "p"), "stop limits.continuations"},
		{"another project", disk(other, "p"), "0"}, {"another policy", disk(project, "q"), "0"},
		{"no project", alone(t, policy, loop.WithState(state)), "0"}, {"the same", alone(t, policy, loop.WithState(state)), "1"},
	} {
		d, err := c.loop.Run(t.Context(), host.Event{})
		if err != nil || said(d) != c.want {
			t.Errorf("%s: it says %q, want %q; error %v", c.name, said(d), c.want, err)
		}
	}
}

// A Store that fails lets the agent stop, and the reason is reported.
func TestStoreFails(t *testing.T) {
	full := errors.New("the database is away")
	for _, c := range []struct {
		name  string
		store *rows
		want  string // in the error
	}{
		{"Load", &rows{onLoad: func() ([]loop.Entry, error) { return nil, full }}, "it is not known how often the loop was continued: the database is away"},
		{"Load returns too little", &rows{onLoad: func() ([]loop.Entry, error) { return []loop.Entry{{}}, nil }}, "Store.Load returned 1 entries for 3 keys"},
		{"Load knows a part", &rows{onLoad: func() ([]loop.Entry, error) { return make([]loop.Entry, 3), full }}, "it is not known how often the loop was continued: the database is away"},
		{"Load panics", &rows{onLoad: func() ([]loop.Entry, error) { panic("boom") }}, "internal error: boom"},
		{"Save", &rows{onSave: func() error { return full }}, "the loop cannot be counted, so it ends: the database is away"},
		{"Save panics", &rows{onSave: func() error { panic("boom") }}, "internal error: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.store.kept = map[loop.Key]row{}
			var records looptest.Records
			l := alone(t, "ralph: 1\nrules: [{name: go, continue: on, notice: never}]", loop.WithStore(c.store), loop.WithRecorder(&records))
			d, err := l.Run(t.Context(), host.Event{})
			if d.Continue() || err == nil || err != d.Err || !strings.Contains(err.Error(), c.want) || d.Kept {
				t.Errorf("it says %q, error %v, want %q", said(d), err, c.want)
			}
			if len(d.Notices) != 1 || !strings.Contains(d.Notices[0], strings.SplitN(c.want, "\n", 2)[0]) {
				t.Errorf("notices %q", d.Notices)
			}
			if all := records.All(); len(all) != 1 || all[0].Reason == "" || all[0].Action != rules.Stop {
				t.Errorf("records %+v", all)
			}
			if counted := !strings.Contains(c.name, "panics"); counted && d.Verdict.Cause != rules.FaultMemory {
				t.Errorf("the fault is %q", d.Verdict.Cause)
			}
			if len(c.store.kept) > 0 {
				t.Error("something was saved")
			}
		})
	}
}

// frozen is a store that does not answer before the deadline.
type frozen struct {
	loop.Store
	saves bool // only Save
}

func (frozen) String() string { return "the database" }

func (s frozen) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	if s.saves {
		return s.Store.Load(ctx, keys...)
	}
	<-ctx.Done()
	return nil, fmt.Errorf("%s cannot load: %w", s, ctx.Err())
}

func (s frozen) Save(ctx context.Context, _ loop.Write) error {
	<-ctx.Done()
	return fmt.Errorf("%s cannot save: %w", s, ctx.Err())
}

// A store that does not answer in time is named, with the deadline.
func TestStoreIsFrozen(t *testing.T) {
	for _, saves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := alone(t, "ralph: 1\nrules: [{name: go, continue: on}]", loop.WithStore(frozen{loop.InMemory(), saves}), loop.WithDeadline(time.Second))
			d, err := l.Run(t.Context(), host.Event{})
			if d.Continue() || !errors.Is(err, context.DeadlineExceeded) || d.Verdict.Cause != rules.FaultMemory || !strings.Contains(d.Verdict.Reason, "the database ") {
				t.Errorf("it says %q, fault %q, error %v", said(d), d.Verdict.Cause, err)
			}
		})
	}
}

// After a conflict the loop decides again, on what is kept then, until it can be
// saved or the context is done. The event is counted once.
func TestStoreConflicts(t *testing.T) {
	const policy = "ralph: 1\nrules: [{name: go, continue: 'so far ${loop.continuations}'}]"
	for _, c := range []struct {
		name      string
		conflicts int
		others    int // continuations that others count at each conflict
		want      string
		total     int
	}{
		{"once", 1, 0, "so far 1", 2}, {"five times", 5, 0, "so far 1", 2}, {"others count", 3, 2, "so far 7", 8},
		{"until the time is up", 1 << 30, 0, "stop", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newRows()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := alone(t, policy, loop.WithStore(s))
			if _, err := l.Run(ctx, host.Event{}); err != nil {
				t.Fatal(err)
			}
			s.saves = 0
			s.onSave = func() error {
				if s.saves > 8 {
					cancel()
				}
				if s.saves > c.conflicts {
					return nil
				}
				s.count(c.others)
				return fmt.Errorf("somebody was faster: %w", loop.ErrConflict)
			}
			d, err := l.Run(ctx, host.Event{})
			if said(d) != c.want || s.total(t) != c.total {
				t.Errorf("it says %q, total %d, want %q, %d; error %v", said(d), s.total(t), c.want, c.total, err)
			}
			if (err != nil) != (c.want == "stop") || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// unsure is a store whose lock works, and which does not confirm in time what was saved under it.
type unsure struct{ *rows }

func (s unsure) Lock(context.Context, ...loop.Key) (loop.Store, func(), error) {
	return unconfirmed(s), func() {}, nil
}

type unconfirmed struct{ *rows }

func (s unconfirmed) Save(ctx context.Context, w loop.Write) error {
	_ = s.put(ctx, w.Entries...)
	<-ctx.Done()
	return ctx.Err()
}

// It is not known whether a Save that is not confirmed has counted: the decision fails, and is not made again.
func TestSaveIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRows()
		s.onSave = func() error { return loop.ErrConflict }
		l := alone(t, "ralph: 1\nrules: [{name: go, continue: on}]", loop.WithStore(unsure{s}))
		d, err := l.Run(t.Context(), host.Event{})
		if d.Continue() || err == nil || d.Verdict.Cause != rules.FaultMemory || d.Retries != 1 || s.total(t) != 1 {
			t.Errorf("it says %q after %d retries, the total is %d, error %v", said(d), d.Retries, s.total(t), err)
		}
	})
}

// A session's count that another process takes back after it was loaded does not stay in what this one counts.
func TestCountThatIsTakenBack(t *testing.T) {
	s := newRows()
	l := alone(t, "ralph: 1\nrules: [{name: go, continue: on}]", loop.WithStore(s), loop.WithName("p"))
	if _, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	session := func(more int) {
		for _, k := range slices.Collect(keysOf(s.kept)) {
			if k.Policy != "" {
				continue
			}
			entries, err := (&rows{kept: s.kept}).Load(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			entries[0].Memory.Of["p"] += more
			if err := s.put(t.Context(), entries...); err != nil {
				t.Fatal(err)
			}
		}
	}
	session(1) // another process has counted
	s.saves = 0
	s.onSave = func() error {
		if s.saves == 1 {
			session(-1)
			return fmt.Errorf("somebody was faster: %w", loop.ErrConflict)
		}
		return nil
	}
	if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || !d.Continue() || s.total(t) != 2 {
		t.Errorf("it says %q, the total is %d, want 2; error %v", said(d), s.total(t), err)
	}
}

// What was counted for a verdict that a Writer refuses is taken back. If another
// process counted in between, the count is at most one too high, and never too low.
func TestWriterConflictIsNotCounted(t *testing.T) {
	for _, c := range []struct {
		name     string
		fails    error
		others   int
		want     string
		min, max int
	}{
		{"a conflict", nil, 0, "a is 11, so far 0", 1, 1},
		{"a conflict, and another process counts", nil, 1, "a is 11, so far 2", 2, 3},
		{"an error", errors.New("the disk is full"), 0, "stop", 0, 0},
		{"an error, and another process counts", errors.New("the disk is full"), 1, "stop", 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newRows()
			src := &table{name: "table", rows: map[string]int{"a": 1, "b": 0}, fails: c.fails}
			src.before = func(t *table) { // the memory is saved by now
				src.before = nil
				t.rows["a"] = 11
				if c.others > 0 {
					s.count(c.others)
				}
			}
			program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(tablePolicy), loop.Config(loop.WithSource(src)))
			if program == nil {
				t.Fatal(diags.Format())
			}
			l, err := loop.New(program, loop.WithSource(src), loop.WithStore(s))
			if err != nil {
				t.Fatal(err)
			}
			d, err := l.Run(t.Context(), host.Event{})
			if n := s.total(t); said(d) != c.want || n < c.min || n > c.max || (err != nil) != (c.fails != nil) {
				t.Errorf("it says %q, the total is %d, want %q and %d to %d; error %v", said(d), n, c.want, c.min, c.max, err)
			}
		})
	}
}

// A Writer whose time runs out does not leave its verdict counted.
func TestLateWriterIsNotCounted(t *testing.T) {
	s := newRows()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	src := &table{name: "table", rows: map[string]int{"a": 1, "b": 0}, before: func(*table) { cancel() }, fails: context.Canceled}
	program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(tablePolicy), loop.Config(loop.WithSource(src)))
	if program == nil {
		t.Fatal(diags.Format())
	}
	l, err := loop.New(program, loop.WithSource(src), loop.WithStore(s))
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Run(ctx, host.Event{})
	if d.Continue() || err == nil || s.total(t) != 0 {
		t.Errorf("it says %q, error %v, the total is %d", said(d), err, s.total(t))
	}
}

// Once the context is done, nothing continues, whichever part notices it.
func TestDoneContexts(t *testing.T) {
	for name, policy := range map[string]string{
		"no fact": "ralph: 1\nrules: [{name: go, continue: on}]", "a fact": asking("ask"), "its own when": "ralph: 1\nwhen: host == \"\"\nrules: [{name: go, continue: on}]",
	} {
		for when, at := range map[string]string{"before": "begin", "while a name is asked for": "name", "while a fact is gathered": "fact", "before Apply": "apply"} {
			ctx, cancel := context.WithCancel(t.Context())
			reached := at == "begin" || at == "apply"
			src := source{"ask", func(context.Context, loop.Query) rules.Value {
				if at == "fact" {
					reached = true
					cancel()
				}
				return rules.Value{V: 1}
			}}
			program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(policy), loop.Config(loop.WithSource(src)))
			if program == nil {
				t.Fatal(diags.Format())
			}
			l, err := loop.New(program, loop.WithSource(src), loop.WithFacts(func(_ host.Event, world rules.Facts) rules.Facts {
				return asked{world, func() {
					if at == "name" {
						reached = true
						cancel()
					}
				}}
			}))
			if err != nil {
				t.Fatal(err)
			}
			if at == "begin" {
				cancel()
			}
			d := l.Preview(ctx, host.Event{})
			if at == "apply" {
				cancel()
				d, _ = l.Apply(ctx, d)
			}
			if reached && (d.Continue() || !errors.Is(d.Err, context.Canceled)) {
				t.Errorf("%s, done %s: it says %q, error %v", name, when, said(d), d.Err)
			}
			if at == "begin" {
				if d, err := l.Run(ctx, host.Event{}); d.Continue() || err != d.Err {
					t.Errorf("%s: Run continues, error %v", name, err)
				}
				if a := decoded(t, l.Hook(ctx, nil, []byte("{}"))); a.Decision != "" {
					t.Errorf("%s: the hook says %+v", name, a)
				}
			}
			cancel()
		}
	}
}

// asked is a world that reports when a name is read.
type asked struct {
	rules.Facts
	tell func()
}

func (a asked) Name(ctx context.Context, name string) any {
	a.tell()
	return a.Facts.Name(ctx, name)
}

// recording is a store that keeps records too, and counts the round trips.
type recording struct {
	*rows
	records []string
	trips   int
}

func (s *recording) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	s.trips++
	return s.rows.Load(ctx, keys...)
}

func (s *recording) Save(ctx context.Context, w loop.Write) error {
	s.trips++
	err := s.rows.Save(ctx, w)
	if err == nil && w.Record != nil {
		s.keep(w.Record)
	}
	return err
}

func (s *recording) Record(_ context.Context, r *loop.Record) error {
	s.trips++
	s.keep(r)
	return nil
}

func (s *recording) keep(r *loop.Record) {
	s.records = append(s.records, fmt.Sprintf("%s, applied %t", r.Action, r.Kept))
}

// A store that keeps records receives each with what the decision saves, and again once its effects are made.
func TestStoreKeepsRecords(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		trips        int
		want         []string
	}{
		{"a continuation", "ralph: 1\nrules: [{name: go, continue: on}]", 2, []string{"continue, applied true"}},
		{"nothing to save", "ralph: 1\nrules: [{name: go, stop: no}]", 2, []string{"stop, applied true"}},
		{"with effects", effectPolicy, 3, []string{"continue, applied false", "continue, applied true"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, src := &recording{rows: newRows()}, &table{name: "table", rows: map[string]int{"a": 1}}
			none := func(context.Context, loop.Call) error { return nil }
			opts := []loop.Option{loop.WithStore(s)}
			program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(c.policy), loop.Config())
			if c.policy == effectPolicy {
				program = withEffects(t, c.policy, src)
				opts = append(opts, loop.WithSource(src), effect("page", none), effect("post", none))
			} else if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			l, err := loop.New(program, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Run(t.Context(), host.Event{}); err != nil || s.trips != c.trips {
				t.Errorf("%d round trips, want %d; error %v", s.trips, c.trips, err)
			}
			if diff := cmp.Diff(c.want, s.records); diff != "" {
				t.Errorf("records (-want +got)\n%s", diff)
			}
		})
	}
}
