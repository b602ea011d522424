package looptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// names returns the names of a kind, sorted.
func names(t *testing.T, s loop.Documents, kind string) (all []string) {
	t.Helper()
	for name, err := range s.Names(t.Context(), kind) {
		if err != nil {
			t.Fatalf("Names fails: %v", err)
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// documents tests a store that keeps documents.
func documents(t *testing.T, s loop.Store) {
	d, ok := s.(loop.Documents)
	if !ok {
		t.Skip("the store has no loop.Documents")
	}
	ctx := t.Context()
	put := func(kind, name, data, version string, want error) {
		t.Helper()
		if err := d.Put(ctx, kind, name, []byte(data), version); !errors.Is(err, want) {
			t.Errorf("Put of %.40q %.40q with the version %q returns %v, want %v", kind, name, version, err, want)
		}
	}
	get := func(kind, name, want string) (version string) {
		t.Helper()
		data, version, err := d.Get(ctx, kind, name)
		if err != nil || string(data) != want || (version == "") != (want == "") {
			t.Errorf("Get of %.40q %.40q returns %.40q, version %q, error %v; want %.40q", kind, name, data, version, err, want)
		}
		if at := load(t, s, loop.Key{Kind: kind, Name: name})[0].Version; (at == "") != (want == "") {
			t.Errorf("Load of %.40q %.40q returns the version %q, and Get %q", kind, name, at, version)
		}
		return version
	}
	get("k", "a", "")
	put("k", "a", "", "", nil) // there is nothing to remove
	put("k", "a", "1", "no such version", loop.ErrConflict)
	put("k", "a", "1", "", nil)
	first := get("k", "a", "1")
	put("k", "a", "2", "", loop.ErrConflict)
	put("k", "a", "2", first, nil)
	second := get("k", "a", "2")
	put("k", "a", "3", first, loop.ErrConflict)
	put("k", "a", "", first, loop.ErrConflict)
	put("l", "a", "4", "", nil)
	put("k", "b", "5", "", nil)
	if got := names(t, d, "k"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the names are %q, want a and b", got)
	}
	put("k", "a", "", second, nil)
	get("k", "a", "")
	get("l", "a", "4")
	if got := names(t, d, "k"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after one was removed the names are %q, want b", got)
	}
	if e := load(t, s, key("a"), loop.Key{Kind: "k", Name: "b"}, loop.Key{Kind: "k", Name: "a"}); e[0].Version != "" || e[1].Version == "" || e[2].Version != "" {
		t.Errorf("Load of an entry and two documents returns %+v, want a version of the first document only", e)
	}

	// Any kind, name and data.
	long := strings.Repeat("long", 3000)
	odd := []string{"", "x", "X", "x ", "..", "../x", "x/x", `["a","/b"]`, "x\x00", "ü", long, long + "r", strings.Repeat("0", 32), "locks", "entries"}
	for i, name := range odd[1:] {
		put("odd", name, fmt.Sprint(i), "", nil)
		put("a kind "+name, "x", fmt.Sprint(i), "", nil)
		put(name, "y", fmt.Sprint(i), "", nil)
	}
	for i, name := range odd[1:] {
		get("odd", name, fmt.Sprint(i))
		get("a kind "+name, "x", fmt.Sprint(i))
		get(name, "y", fmt.Sprint(i))
	}
	if got, want := names(t, d, "odd"), slices.Sorted(slices.Values(odd[1:])); !slices.Equal(got, want) {
		t.Errorf("the names are %.200q, want %.200q", got, want)
	}
	for i, data := range []string{"{\n  \"a\": \"\\u0000\"\n}\n", `"` + strings.Repeat("p", 1<<20) + `"`, "{ \"b\":1,\"a\" : 1e2 , \"a\": 2}"} {
		put("data", fmt.Sprint(i), data, "", nil)
		get("data", fmt.Sprint(i), data)
	}
	mine := []byte(`{"a":1}`)
	put("data", "mine", string(mine), "", nil)
	copied, _, _ := d.Get(ctx, "data", "mine")
	copied[1] = 'x'
	get("data", "mine", string(mine))

	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := d.Get(gone, "k", "b"); err == nil {
		t.Error("Get returns no error, and its context is done")
	}
	if err := d.Put(gone, "k", "c", []byte("1"), ""); err == nil || errors.Is(err, loop.ErrConflict) {
		t.Errorf("Put returns %v, and its context is done: want an error that is not ErrConflict", err)
	}
	get("k", "c", "")
	adders(t, d)
}

// adders tests that of several who change a document none overwrites another.
func adders(t *testing.T, d loop.Documents) {
	const goroutines, each = 4, 5
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for n := 0; n < each && !t.Failed(); {
				data, version, err := d.Get(t.Context(), "k", "shared")
				if err == nil {
					err = d.Put(t.Context(), "k", "shared", append(bytes.TrimSuffix(data, []byte("0")), "10"...), version)
				}
				if err == nil {
					n++
				} else if !errors.Is(err, loop.ErrConflict) {
					t.Errorf("changing a document fails: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if data, _, err := d.Get(t.Context(), "k", "shared"); string(data) != strings.Repeat("1", goroutines*each)+"0" || err != nil {
		t.Errorf("after %d changes the document is %q, error %v", goroutines*each, data, err)
	}
}

// leases tests a store in which one at a time holds a name. Test yourself that a lease ends with the process of its owner.
func leases(t *testing.T, s loop.Store) {
	l, ok := s.(loop.Leases)
	if !ok {
		t.Skip("the store has no loop.Leases")
	}
	ctx := t.Context()
	held := func(name, want string) {
		t.Helper()
		if got, err := l.Holder(ctx, name); got != want || err != nil {
			t.Errorf("the holder of %.40q is %q, error %v; want %q", name, got, err, want)
		}
		if got := load(t, s, loop.Key{Name: name})[0].Version; got != want {
			t.Errorf("Load of the lease %.40q returns the version %q, want its holder %q", name, got, want)
		}
	}
	hold := func(name, owner, other string) (release func()) {
		t.Helper()
		release, holder, err := l.Hold(ctx, name, owner)
		if holder != other || (release == nil) != (other != "") || err != nil {
			t.Fatalf("Hold of %.40q by %q returns the holder %q, error %v; want %q", name, owner, holder, err, other)
		}
		return release
	}
	long := `["tenant","/root` + strings.Repeat("long", 3000) + "\"]\x00"
	for _, name := range []string{"a", long} {
		held(name, "")
		first := hold(name, "one", "")
		held(name, "one")
		hold(name, "two", "one")
		hold(name, "one", "one")
		held(name+"b", "")
		other := hold(name+"b", "two", "")
		first()
		held(name, "")
		second := hold(name, "two", "")
		first() // does nothing
		held(name, "two")
		other()
		second()
		held(name, "")
	}

	var wg sync.WaitGroup
	var mu sync.Mutex
	holders := 0
	for i := range 8 {
		wg.Go(func() {
			release, holder, err := l.Hold(ctx, "many", fmt.Sprint(i))
			if err != nil || (release == nil) == (holder == "") {
				t.Errorf("one of several gets the holder %q, error %v", holder, err)
			}
			if release != nil {
				mu.Lock()
				holders++
				mu.Unlock()
				t.Cleanup(release)
			}
		})
	}
	wg.Wait()
	if holders != 1 {
		t.Errorf("%d of 8 hold the name", holders)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if release, _, err := l.Hold(gone, "late", "one"); release != nil || err == nil {
		t.Errorf("Hold returns the error %v, and its context is done", err)
	}
	held("late", "")
}

// expiry tests a store that can list what it keeps, and remove it.
func expiry(t *testing.T, s loop.Store) {
	l, ok := s.(loop.Lister)
	if !ok {
		t.Skip("the store is no loop.Lister")
	}
	pending := key("pending")
	save(t, s, loop.Entry{Key: key("a"), Memory: rules.Memory{Total: 1}}, loop.Entry{Key: loop.Key{Scope: "x", Session: "s"}, Memory: rules.Memory{Total: 2}},
		loop.Entry{Key: pending, Memory: rules.Memory{Total: 3}, Pending: []loop.Call{{ID: "1"}}})
	if n, err := l.Expire(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("what was saved an hour ago expires: %d, error %v", n, err)
	}
	totals(t, s, []loop.Key{key("a"), {Scope: "x", Session: "s"}, pending}, 1, 2, 3)
	if n, err := l.Expire(t.Context(), time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("Expire returns %d, error %v; want 2: of all scopes what has nothing pending", n, err)
	}
	totals(t, s, []loop.Key{key("a"), {Scope: "x", Session: "s"}, pending}, 0, 0, 3)
	save(t, s, loop.Entry{Key: key("a"), Memory: rules.Memory{Total: 4}}) // it begins again
}

// records tests a store that returns the records that it has.
func records(t *testing.T, s loop.Store) {
	l, ok := s.(loop.Log)
	if !ok {
		t.Skip("the store has no loop.Log")
	}
	r, ok := s.(loop.Recorder)
	if !ok {
		t.Fatal("the store is a loop.Log, and no loop.Recorder: it receives no records")
	}
	start := time.Now().Truncate(time.Second).UTC()
	want := map[string]string{}
	for i, c := range []struct{ id, scope, root, policy, session string }{
		{"0", "", "/p", "a", "s"}, {"1", "", "/p", "b", "s"}, {"2", "", "/q", "a", "t"}, {"3", "x", "/p", "a", "s"}, {"4", "", "/p", "a", "t"},
	} {
		record := decision(c.id)
		record.Scope, record.Root, record.Policy, record.Session, record.Time = c.scope, c.root, c.policy, c.session, start.Add(time.Duration(i)*time.Second)
		want[c.id] = asJSON(t, record)
		if err := r.Record(t.Context(), record); err != nil {
			t.Fatalf("Record fails: %v", err)
		}
	}
	for _, c := range []struct {
		filter loop.LogFilter
		want   string
	}{
		{loop.LogFilter{}, "4210"}, {loop.LogFilter{Scope: "x"}, "3"}, {loop.LogFilter{Scope: "y"}, ""}, {loop.LogFilter{Root: "/p"}, "410"},
		{loop.LogFilter{Policy: "a"}, "420"}, {loop.LogFilter{Session: "s"}, "10"}, {loop.LogFilter{Root: "/p", Policy: "a", Session: "t"}, "4"},
		{loop.LogFilter{ID: "1"}, "1"}, {loop.LogFilter{ID: "3"}, ""}, {loop.LogFilter{Since: start.Add(2 * time.Second)}, "42"},
	} {
		got := ""
		for record, err := range l.Records(t.Context(), c.filter) {
			if err != nil {
				t.Fatalf("Records fails: %v", err)
			}
			got += record.ID
			if again := asJSON(t, record); again != want[record.ID] {
				t.Errorf("the record %s comes back as\n%s\nwant\n%s", record.ID, again, want[record.ID])
			}
		}
		if got != c.want {
			t.Errorf("%+v selects %q, want %q, the latest first", c.filter, got, c.want)
		}
	}
	for _, reason := range []string{"first", "last"} {
		again := decision("again")
		again.Reason = reason
		if err := r.Record(t.Context(), again); err != nil {
			t.Fatalf("Record of a decision that was recorded fails: %v", err)
		}
	}
	reasons := ""
	for record, err := range l.Records(t.Context(), loop.LogFilter{ID: "again"}) {
		if err != nil {
			t.Fatalf("Records fails: %v", err)
		}
		reasons += record.Reason
	}
	if reasons != "last" {
		t.Errorf("a decision that was recorded twice has records with %q, want only the last", reasons)
	}
	worst, filters := worstRecords(), map[loop.LogFilter]bool{}
	for _, record := range worst {
		if err := r.Record(t.Context(), record); err != nil {
			t.Fatalf("Record of %.200s… fails: %v", asJSON(t, record), err)
		}
		filters[loop.LogFilter{Scope: record.Scope, Root: record.Root, Policy: record.Policy, Session: record.Session}] = true
	}
	got := map[string]string{}
	for f := range filters {
		for record, err := range l.Records(t.Context(), f) {
			if err != nil {
				t.Fatalf("Records fails: %v", err)
			}
			got[record.ID] = asJSON(t, record)
		}
	}
	for _, record := range worst {
		if again, want := got[record.ID], asJSON(t, record); again != want {
			t.Errorf("a record comes back as\n%s\nwant\n%s", again, want)
		}
	}
	for range l.Records(t.Context(), loop.LogFilter{}) {
		break // the others are not needed
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	failed := false
	for _, err := range l.Records(gone, loop.LogFilter{}) {
		failed = failed || err != nil
	}
	if !failed {
		t.Error("Records returns no error, and its context is done")
	}
	long(t, r)
}
