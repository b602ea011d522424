package looptest_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// mutant breaks one promise of a store that keeps the others.
type mutant struct {
	loop.Store
	load func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error)
	save func(s loop.Store, ctx context.Context, w loop.Write) error
}

func (m mutant) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	if m.load != nil {
		return m.load(m.Store, ctx, keys)
	}
	return m.Store.Load(ctx, keys...)
}

func (m mutant) Save(ctx context.Context, w loop.Write) error {
	if m.save != nil {
		return m.save(m.Store, ctx, w)
	}
	return m.Store.Save(ctx, w)
}

// shared returns the same memory to all who load it. It locks what it keeps: the runtime
// ends a process that reads and writes a map at once, and then no other test reports
// anything.
func shared() mutant {
	var mu sync.Mutex
	kept := map[loop.Key]map[string][]rules.Said{}
	return mutant{
		load: func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
			entries, err := s.Load(ctx, keys...)
			mu.Lock()
			defer mu.Unlock()
			for i, e := range entries {
				if said := kept[e.Key]; said != nil {
					entries[i].Memory.Said = said
				}
			}
			return entries, err
		},
		save: func(s loop.Store, ctx context.Context, w loop.Write) error {
			mu.Lock()
			for _, e := range w.Entries {
				if e.Memory.Said != nil {
					kept[e.Key] = e.Memory.Said
				}
			}
			mu.Unlock()
			return s.Save(ctx, w)
		},
	}
}

// noLoad ends the name of a store that is wrong only in Load, and ofC that of what ends texts with a NUL.
const noLoad, ofC = " of no Load", " of C"

// mutants are stores that are wrong, by the test of [looptest.Store] that finds it.
var mutants = map[string]mutant{
	"absent": {load: func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
		entries, err := s.Load(ctx, keys...)
		for i := range entries {
			if entries[i].Version == "" {
				entries[i].Version = "0"
			}
		}
		return entries, err
	}},
	"order": {load: func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
		entries, err := s.Load(ctx, keys...)
		if len(entries) > 2 {
			entries[0], entries[1] = entries[1], entries[0]
		}
		return entries, err
	}},
	"round trip": {save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		for i := range w.Entries {
			w.Entries[i].Memory.Since = w.Entries[i].Memory.Since.Truncate(1_000_000_000)
		}
		return s.Save(ctx, w)
	}},
	"compare and set": {save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		for i := range w.Entries {
			now, err := s.Load(ctx, w.Entries[i].Key)
			if err != nil {
				return err
			}
			w.Entries[i].Version = now[0].Version
		}
		return s.Save(ctx, w)
	}},
	"all or none": {save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		for _, e := range w.Entries {
			if err := s.Save(ctx, loop.Write{Entries: []loop.Entry{e}}); err != nil {
				return err
			}
		}
		return nil
	}},
	"copies":     shared(),
	"versions":   saving(func(*loop.Entry) {}), // of its own entries
	"strings":    saving(func(e *loop.Entry) { e.Memory.Turn, _, _ = strings.Cut(e.Memory.Turn, "\x00") }),
	"deliveries": saving(func(e *loop.Entry) { e.Answers = nil }),
	"crashes":    saving(func(e *loop.Entry) { e.Pending = nil }),
	"tenants": {load: func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
		all := slices.Clone(keys)
		for i := range all {
			all[i].Scope = ""
		}
		entries, err := s.Load(ctx, all...)
		for i := range entries {
			entries[i].Key = keys[i]
		}
		return entries, err
	}, save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		for i := range w.Entries {
			w.Entries[i].Key.Scope = ""
		}
		return s.Save(ctx, w)
	}},
	"unusual keys of C": {load: func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
		cut := slices.Clone(keys)
		for i := range cut {
			cut[i].Agent, _, _ = strings.Cut(cut[i].Agent, "\x00")
		}
		entries, err := s.Load(ctx, cut...)
		for i := range entries {
			entries[i].Key = keys[i]
		}
		return entries, err
	}, save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		for i := range w.Entries {
			w.Entries[i].Key.Agent, _, _ = strings.Cut(w.Entries[i].Key.Agent, "\x00")
		}
		return s.Save(ctx, w)
	}},
	"lockers": {}, "lists": {}, "expiry": {}, "documents": {}, "documents of no Load": {}, "leases": {}, "leases of no Load": {}, "records": {},
	"a context that is done": {save: func(s loop.Store, _ context.Context, w loop.Write) error {
		return s.Save(context.Background(), w)
	}},
	"unusual keys": {load: func(s loop.Store, ctx context.Context, keys []loop.Key) ([]loop.Entry, error) {
		lower := make([]loop.Key, len(keys))
		for i, k := range keys {
			lower[i] = lowered(k)
		}
		entries, err := s.Load(ctx, lower...)
		for i := range entries {
			entries[i].Key = keys[i]
		}
		return entries, err
	}, save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		for i := range w.Entries {
			w.Entries[i].Key = lowered(w.Entries[i].Key)
		}
		return s.Save(ctx, w)
	}},
}

// unlocked is a store whose lock holds up no other, and which lists, removes, keeps and returns what it should not.
type unlocked struct {
	loop.Store
	kept  looptest.Records
	blind bool // Load does not look for documents and leases, and all else is right
}

func (u *unlocked) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	entries, err := u.Store.Load(ctx, keys...)
	for i := range entries {
		if u.blind && entries[i].Key.Name != "" {
			entries[i].Version = ""
		}
	}
	return entries, err
}

func (u *unlocked) Lock(context.Context, ...loop.Key) (loop.Store, func(), error) {
	return u.Store, func() {}, nil
}

func (u *unlocked) List(ctx context.Context, _ loop.Filter) iter.Seq2[loop.Entry, error] {
	return u.Store.(loop.Lister).List(ctx, loop.Filter{})
}

func (u *unlocked) Expire(ctx context.Context, before time.Time) (int, error) {
	n, err := u.Store.(loop.Lister).Expire(ctx, before)
	return n + 1, err
}

func (u *unlocked) Get(ctx context.Context, kind, name string) ([]byte, string, error) {
	return u.Store.(loop.Documents).Get(ctx, kind, name)
}

func (u *unlocked) Put(ctx context.Context, kind, name string, data []byte, version string) error {
	_, now, err := u.Get(ctx, kind, name)
	if err != nil {
		return err
	}
	if !u.blind {
		version = now
	}
	return u.Store.(loop.Documents).Put(ctx, kind, name, data, version)
}

func (u *unlocked) Names(ctx context.Context, kind string) iter.Seq2[string, error] {
	return u.Store.(loop.Documents).Names(ctx, kind)
}

func (u *unlocked) Hold(ctx context.Context, name, owner string) (func(), string, error) {
	release, holder, err := u.Store.(loop.Leases).Hold(ctx, name, owner)
	if u.blind {
		return release, holder, err
	}
	if release == nil {
		release = func() {}
	}
	return release, "", err
}

func (u *unlocked) Holder(ctx context.Context, name string) (string, error) {
	return u.Store.(loop.Leases).Holder(ctx, name)
}

func (u *unlocked) Record(ctx context.Context, r *loop.Record) error { return u.kept.Record(ctx, r) }

func (u *unlocked) Records(context.Context, loop.LogFilter) iter.Seq2[*loop.Record, error] {
	return func(yield func(*loop.Record, error) bool) {
		for _, r := range u.kept.All() { // the oldest first
			if !yield(r, nil) {
				return
			}
		}
	}
}

// saving returns a store that changes what it saves.
func saving(change func(*loop.Entry)) mutant {
	return mutant{save: func(s loop.Store, ctx context.Context, w loop.Write) error {
		w.Entries = slices.Clone(w.Entries)
		for i := range w.Entries {
			change(&w.Entries[i])
		}
		return s.Save(ctx, w)
	}}
}

func lowered(k loop.Key) loop.Key {
	k.Session = strings.ToLower(k.Session)
	return k
}

// deaf is a recorder that changes what it receives, and keeps only the first record.
type deaf struct{ looptest.Records }

func (d *deaf) Record(ctx context.Context, r *loop.Record) error {
	r.Reason = ""
	if len(d.All()) > 0 {
		return nil
	}
	return d.Records.Record(ctx, r)
}

// cut is a recorder that ends one text with a NUL.
type cut struct{ looptest.Records }

func (c *cut) Record(ctx context.Context, r *loop.Record) error {
	own := *r
	own.Turn, _, _ = strings.Cut(r.Turn, "\x00")
	return c.Records.Record(ctx, &own)
}

// loose is a source whose values do not fit its facts, or are of no type of facts.
type loose struct{ mixed bool }

func (loose) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "ci", Doc: "A run of tests.", Schema: true}
}

func (l loose) Gather(context.Context, loop.Query) rules.Value {
	if l.mixed {
		return rules.Value{V: make(chan int)}
	}
	return rules.Value{V: map[string]any{"more": "certainly not"}}
}

// testLoose tests a source on a fact with a schema.
func testLoose(t *testing.T, src loop.Source) {
	p, diags := rules.LoadBytes(t.Context(), "p.yaml",
		[]byte("ralph: 1\nfacts: {ci: {ci: x, schema: {properties: {more: {type: boolean, default: true}}}}}\nrules: [{name: go, when: ci.more, continue: go on}]"), loop.Config(loop.WithSource(src)))
	if p == nil {
		t.Fatal(diags.Err())
	}
	looptest.Source(t, src, loop.Query{Fact: p.Facts()[0], Args: []string{"x"}})
}

// The tests find what is wrong with an implementation. Each runs in a separate process,
// since they fail.
func TestMutants(t *testing.T) {
	if name := os.Getenv("LOOPTEST_MUTANT"); name == "recorder" {
		looptest.Recorder(t, func(*testing.T) (loop.Recorder, func() []*loop.Record) { d := new(deaf); return d, d.All })
		return
	} else if name == "recorder"+ofC {
		looptest.Recorder(t, func(*testing.T) (loop.Recorder, func() []*loop.Record) { c := new(cut); return c, c.All })
		return
	} else if name == "source" || name == "mixed source" {
		testLoose(t, loose{name != "source"})
		return
	} else if name != "" {
		looptest.Store(t, func(*testing.T) loop.Store {
			m := mutants[name]
			m.Store = loop.InMemory()
			if m.load == nil && m.save == nil {
				return &unlocked{Store: m.Store, blind: strings.HasSuffix(name, noLoad)}
			}
			return m
		})
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"recorder": nil, "recorder" + ofC: nil, "source": {"value"}, "mixed source": {"value"}}
	for name := range mutants {
		want[name] = []string{strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(name, noLoad), ofC), " ", "_")}
	}
	for name, failing := range want {
		only := ""
		if len(failing) > 0 {
			only = "/^" + failing[0] + "$"
		}
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestMutants$"+only, "-test.timeout=1m")
		cmd.Env = append(os.Environ(), "LOOPTEST_MUTANT="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || name == "recorder" && !(strings.Contains(string(out), "was changed to") && strings.Contains(string(out), "do not come back")) {
			t.Errorf("not all that is wrong with %q is found:\n%s", name, out)
		}
		for _, f := range failing {
			if !strings.Contains(string(out), fmt.Sprintf("--- FAIL: TestMutants/%s ", f)) {
				t.Errorf("the test %s finds nothing wrong with %q:\n%s", f, name, out)
			}
		}
	}
}
