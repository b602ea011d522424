// Package looptest tests implementations of the interfaces of package loop, so that your own Store, Source, Writer or
// Recorder meets the requirements of loops. It leaves out what only your implementation promises. Start with [Store],
// [Source], [Writer] or [Recorder] in your tests, and also run them with -race.
package looptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Store tests a store, and the interfaces that it has besides: [loop.Locker], [loop.Lister], [loop.Documents], [loop.Leases],
// [loop.Log]. The test of one that it lacks is skipped. Each call of open must return an empty store; close it in t.Cleanup. Test yourself that Load returns
// an error if it cannot read an entry: what was counted is then unknown, and no loop continues.
func Store(t *testing.T, open func(t *testing.T) loop.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, loop.Store)
	}{
		{"absent", absent}, {"order", order}, {"round trip", roundTrip}, {"compare and set", compareAndSet},
		{"all or none", allOrNone}, {"copies", copies}, {"concurrent savers", savers}, {"a context that is done", doneStore}, {"unusual keys", unusualKeys},
		{"versions", versions}, {"strings", worst}, {"deliveries", deliveries}, {"lockers", lockers}, {"tenants", tenants}, {"lists", lists},
		{"expiry", expiry}, {"documents", documents}, {"leases", leases}, {"records", records},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("crashes", func(t *testing.T) { crashes(t, open) })
}

// key returns the key of a test's loop.
func key(session string) loop.Key {
	return loop.Key{Root: "/project", Policy: "policy.yaml", Host: host.ClaudeCode, Session: session}
}

// load returns the entries of keys, one each and in order, or ends the test.
func load(t *testing.T, s loop.Store, keys ...loop.Key) []loop.Entry {
	t.Helper()
	entries, err := s.Load(t.Context(), keys...)
	if err != nil {
		t.Fatalf("Load fails: %v", err)
	}
	if len(entries) != len(keys) {
		t.Fatalf("Load returned %d entries for %d keys", len(entries), len(keys))
	}
	for i, e := range entries {
		if e.Key != keys[i] {
			t.Fatalf("entry %d is that of %+v, want %+v", i, e.Key, keys[i])
		}
	}
	return entries
}

// save saves entries without a conflict, or ends the test.
func save(t *testing.T, s loop.Store, entries ...loop.Entry) {
	t.Helper()
	if err := s.Save(t.Context(), loop.Write{Entries: entries}); err != nil {
		t.Fatalf("Save fails: %v", err)
	}
}

// total saves a memory with this total.
func total(t *testing.T, s loop.Store, k loop.Key, n int) {
	t.Helper()
	save(t, s, loop.Entry{Key: k, Memory: rules.Memory{Total: n}, Version: load(t, s, k)[0].Version})
}

// totals checks the saved memories.
func totals(t *testing.T, s loop.Store, keys []loop.Key, want ...int) {
	t.Helper()
	got := make([]int, len(keys))
	for i, e := range load(t, s, keys...) {
		got[i] = e.Memory.Total
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the totals are %v, want %v", got, want)
	}
}

func absent(t *testing.T, s loop.Store) {
	for _, e := range load(t, s, key("a"), loop.Key{Policy: "policy.yaml", Project: true}, loop.Key{}) {
		if e.Version != "" || !reflect.DeepEqual(e.Memory, rules.Memory{}) {
			t.Errorf("%+v has the version %q and the memory %+v, want none", e.Key, e.Version, e.Memory)
		}
	}
	if entries, err := s.Load(t.Context()); err != nil || len(entries) > 0 {
		t.Errorf("Load without keys gives %v, %v", entries, err)
	}
	if err := s.Save(t.Context(), loop.Write{}); err != nil {
		t.Errorf("Save without entries fails: %v", err)
	}
}

func order(t *testing.T, s loop.Store) {
	a, b, c := key("a"), key("b"), key("c")
	save(t, s, loop.Entry{Key: b, Memory: rules.Memory{Total: 2}}, loop.Entry{Key: a, Memory: rules.Memory{Total: 1}})
	totals(t, s, []loop.Key{a, b, c}, 1, 2, 0)
	totals(t, s, []loop.Key{c, b, a, b}, 0, 2, 1, 2)
	for _, e := range load(t, s, a, b) {
		if e.Version == "" {
			t.Errorf("%s is kept and has no version", e.Key.Session)
		}
	}
}

// fullMemory returns a memory with all fields set.
func fullMemory() rules.Memory {
	at := time.Date(2026, 1, 2, 15, 4, 5, 123456789, time.UTC)
	return rules.Memory{
		Turn: "turn ü", Streak: 2, Total: 7, Since: at, Latest: at.Add(time.Minute), Progress: `["x\u0000",3]`, Same: 1,
		Said: map[string][]rules.Said{"hurry": {{At: at, Turn: "t"}, {At: at.Add(time.Second)}}, "ask": {{At: at}}},
		Of:   map[string]int{"policy.yaml": 7, "#0a1b": 3},
	}
}

func roundTrip(t *testing.T, s loop.Store) {
	save(t, s, loop.Entry{Key: key("a"), Memory: fullMemory()})
	if got, want := asJSON(t, load(t, s, key("a"))[0].Memory), asJSON(t, fullMemory()); got != want {
		t.Errorf("the memory comes back as\n%s\nwant\n%s", got, want)
	}
	big := rules.Memory{Progress: strings.Repeat("p", 100_000), Said: map[string][]rules.Said{"often": make([]rules.Said, 1000)}}
	save(t, s, loop.Entry{Key: key("big"), Memory: big})
	if got, want := asJSON(t, load(t, s, key("big"))[0].Memory), asJSON(t, big); got != want {
		t.Errorf("a memory of %d bytes comes back with %d", len(want), len(got))
	}
}

// versions tests that Save sets the versions that it saved.
func versions(t *testing.T, s loop.Store) {
	entries := []loop.Entry{{Key: key("a")}, {Key: key("b")}}
	for n := range 3 {
		for i := range entries {
			entries[i].Memory.Total = n + 1
		}
		save(t, s, entries...)
		for i, e := range load(t, s, key("a"), key("b")) {
			if e.Version != entries[i].Version {
				t.Fatalf("after Save the version is %q, and %q comes back", entries[i].Version, e.Version)
			}
		}
	}
}

// The worst legal strings: a NUL, a separator of lines, and a long one.
var worstStrings = []string{"a\x00b", "a\u2028b", strings.Repeat("long", 1<<18)}

// worst fills each string of an entry in turn.
func worst(t *testing.T, s loop.Store) {
	for n := 0; ; n++ {
		for i, text := range worstStrings {
			var e loop.Entry
			name := fill(&e, n, text)
			if name == "" {
				return
			}
			e.Key = key(fmt.Sprint(n, ".", i))
			want := asJSON(t, e)
			if err := s.Save(t.Context(), loop.Write{Entries: []loop.Entry{e}}); err != nil {
				t.Fatalf("saving %.9q… in %s fails: %v", text, name, err)
			}
			if got := asJSON(t, load(t, s, e.Key)[0]); got != want {
				t.Errorf("%.9q… in %s comes back as\n%.500s\nwant\n%.500s", text, name, got, want)
			}
		}
	}
}

// fill sets the nth string that the value of a pointer can have. It returns the field, "" if there are fewer.
func fill(v any, n int, text string) (name string) {
	of := reflect.ValueOf(v).Elem()
	eachString(of, of.Type().Name(), func(path string, set func(string)) {
		if n == 0 {
			name = path
			set(text)
		}
		n--
	})
	return name
}

// eachString visits each string that a value can have, with one element in each list and map.
func eachString(v reflect.Value, path string, visit func(path string, set func(string))) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v.SetString)
	case reflect.Interface:
		visit(path, func(text string) { v.Set(reflect.ValueOf(text)) })
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		eachString(v.Elem(), path, visit)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		eachString(v.Index(0), path+"[0]", visit)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		eachString(key, path+" key", visit)
		eachString(elem, path+"[]", visit)
		v.SetMapIndex(key, elem)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				eachString(v.Field(i), path+"."+f.Name, visit)
			}
		}
	}
}

func compareAndSet(t *testing.T, s loop.Store) {
	k := key("a")
	try := func(version string, n int) error {
		return s.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: k, Memory: rules.Memory{Total: n}, Version: version}}})
	}
	if err := try("no such version", 9); !errors.Is(err, loop.ErrConflict) {
		t.Errorf("saving something absent under a version gives %v, want ErrConflict", err)
	}
	totals(t, s, []loop.Key{k}, 0)
	total(t, s, k, 1)
	first := load(t, s, k)[0].Version
	if err := try("", 9); !errors.Is(err, loop.ErrConflict) {
		t.Errorf("saving something that is kept under no version gives %v, want ErrConflict", err)
	}
	if err := try(first, 2); err != nil {
		t.Errorf("saving under the version that is kept fails: %v", err)
	}
	if err := try(first, 9); !errors.Is(err, loop.ErrConflict) {
		t.Errorf("saving under the version before gives %v, want ErrConflict", err)
	}
	totals(t, s, []loop.Key{k}, 2)
}

func allOrNone(t *testing.T, s loop.Store) {
	a, b := key("a"), loop.Key{Root: "/project", Policy: "policy.yaml", Project: true}
	save(t, s, loop.Entry{Key: a, Memory: rules.Memory{Total: 1}}, loop.Entry{Key: b, Memory: rules.Memory{Total: 1}})
	at := load(t, s, a, b)
	for i := range at {
		at[i].Memory.Total = 2
	}
	for _, entries := range [][]loop.Entry{
		{at[0], {Key: b, Memory: rules.Memory{Total: 9}, Version: "stale"}},
		{{Key: a, Memory: rules.Memory{Total: 9}}, at[1]},
	} {
		if err := s.Save(t.Context(), loop.Write{Entries: entries}); !errors.Is(err, loop.ErrConflict) {
			t.Errorf("Save returned %v, want ErrConflict", err)
		}
		totals(t, s, []loop.Key{a, b}, 1, 1)
	}
	save(t, s, at...)
	totals(t, s, []loop.Key{a, b}, 2, 2)
}

func copies(t *testing.T, s loop.Store) {
	want := asJSON(t, fullMemory())
	spoil := func(m *rules.Memory) {
		m.Total++
		m.Said["hurry"][0].Turn = "spoilt"
		m.Said["more"] = nil
		m.Of["policy.yaml"]++
		delete(m.Said, "ask")
	}
	check := func(when string) loop.Entry {
		t.Helper()
		e := load(t, s, key("a"))[0]
		if got := asJSON(t, e.Memory); got != want {
			t.Errorf("%s, the store has\n%s\nwant\n%s", when, got, want)
		}
		return e
	}
	m := fullMemory()
	save(t, s, loop.Entry{Key: key("a"), Memory: m})
	spoil(&m)
	e := check("after the memory that was saved was changed")
	spoil(&e.Memory)
	check("after the memory that was loaded was changed")
}

func savers(t *testing.T, s loop.Store) {
	const goroutines, each = 8, 10
	a, b := key("a"), key("b")
	var wg sync.WaitGroup
	for i := range goroutines {
		keys := []loop.Key{a, b}
		if i%2 == 1 {
			keys = []loop.Key{b, a}
		}
		wg.Go(func() {
			conflicts := 0
			for n := 0; n < each && !t.Failed(); {
				entries, err := s.Load(t.Context(), keys...)
				if err != nil || len(entries) != 2 {
					t.Errorf("Load returned %d entries, %v", len(entries), err)
					return
				}
				for i := range entries {
					entries[i].Memory.Total++
				}
				switch err := s.Save(t.Context(), loop.Write{Entries: entries}); {
				case err == nil:
					n++
				case !errors.Is(err, loop.ErrConflict):
					t.Errorf("Save fails: %v", err)
				default:
					if conflicts++; conflicts > 100*goroutines*each { // one for each save by others is plenty
						t.Errorf("Save returned %v again and again, although all others are done", err)
					}
				}
			}
		})
	}
	wg.Wait()
	totals(t, s, []loop.Key{a, b}, goroutines*each, goroutines*each)
}

func doneStore(t *testing.T, s loop.Store) {
	total(t, s, key("a"), 1)
	e := load(t, s, key("a"))[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Load(ctx, e.Key); err == nil {
		t.Error("Load returns no error, and its context is done")
	}
	e.Memory.Total = 2
	for _, e := range []loop.Entry{e, {Key: key("b"), Memory: e.Memory}} {
		if err := s.Save(ctx, loop.Write{Entries: []loop.Entry{e}}); err == nil || errors.Is(err, loop.ErrConflict) {
			t.Errorf("Save returns %v, and its context is done: want an error that is not ErrConflict", err)
		}
	}
	totals(t, s, []loop.Key{key("a"), key("b")}, 1, 0)
}

func unusualKeys(t *testing.T, s loop.Store) {
	long := strings.Repeat("long", 3000)
	keys := []loop.Key{
		{}, {Project: true}, {Root: "x"}, {Policy: "x"}, {Host: "x"}, {Session: "x"}, {Agent: "x"}, {Root: "x", Project: true}, {Policy: "x", Project: true},
		{Scope: "x"}, {Scope: "x", Project: true}, {Scope: "y", Session: "x"},
		{Session: "X"}, {Session: "x "}, {Session: " x"}, {Session: "x", Agent: "x"}, {Session: "xx"}, {Session: "x/x"}, {Session: "x", Agent: "/x"},
		{Session: ".."}, {Session: "../x"}, {Session: `x\x`}, {Session: "x\nx"}, {Session: "x:x"}, {Session: "x%x"}, {Session: "x'x"}, {Session: `x"x`}, {Session: "*"},
		{Session: "ü"}, {Session: "u\u0308"}, {Session: "日本"}, {Session: "🦊"}, {Session: long}, {Session: long + "r"}, {Root: long, Policy: long, Host: long, Session: long, Agent: long},
		{Session: "null"}, {Session: "0"}, {Session: "00"}, {Session: "CON"},
	}
	for f := range reflect.TypeFor[loop.Key]().NumField() {
		for _, text := range worstStrings {
			for _, end := range []string{"", "more"} { // a store that cuts one takes it for the other
				var k loop.Key
				if v := reflect.ValueOf(&k).Elem().Field(f); v.Kind() == reflect.String {
					v.SetString(text + end)
				}
				if k != (loop.Key{}) && k.Kind+k.Name == "" { // these two name what is not an entry
					keys = append(keys, k)
				}
			}
		}
	}
	want := make([]int, len(keys))
	for i, k := range keys {
		want[i] = i + 1
		if e := load(t, s, k)[0]; e.Version != "" {
			t.Errorf("%.100v is taken for a key that is kept, with the total %d", k, e.Memory.Total)
		}
		total(t, s, k, want[i])
	}
	totals(t, s, keys, want...)
}

// asJSON returns a value in its stable form.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
