// Package looptest checks a store of a program: whether it keeps what [loop.Store] promises, as ralph's own stores do.
//
// It promises that a store that passes counts right under concurrency within one process. It leaves out crashes, several processes and
// full disks, which only the store's own tests can cause. Begin with [Store].
package looptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/next/loop"
)

// Store tests a store. open returns an empty one for each test; it may use t to clean up.
func Store(t *testing.T, open func(t *testing.T) loop.Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, s loop.Store)
	}{
		{"documents", documents},
		{"keys of any text", anyKeys},
		{"a prefix", prefixes},
		{"an error changes nothing", errorsChangeNothing},
		{"one change after the other", serialized},
		{"other keys do not wait", otherKeys},
		{"waiting ends with the context", waiting},
		{"bytes are copied", copied},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// put replaces a document and returns what it was.
func put(t *testing.T, s loop.Store, key string, b []byte) (old []byte) {
	t.Helper()
	calls := 0
	err := s.Update(t.Context(), key, func(was []byte) ([]byte, error) {
		calls++
		old = bytes.Clone(was)
		return b, nil
	})
	if err != nil || calls != 1 {
		t.Fatalf("Update(%.80q) called change %d times and returned %v; want once and nil", key, calls, err)
	}
	return old
}

func load(t *testing.T, s loop.Store, key string) []byte {
	t.Helper()
	b, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatalf("Load(%.80q): %v", key, err)
	}
	return b
}

func keys(t *testing.T, s loop.Store, prefix string) []string {
	t.Helper()
	list, err := s.Keys(t.Context(), prefix)
	if err != nil {
		t.Fatalf("Keys(%q): %v", prefix, err)
	}
	return list
}

// documents are kept, replaced, left alone by the same bytes, and removed by none.
func documents(t *testing.T, s loop.Store) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	for _, b := range [][]byte{[]byte("one"), []byte("two"), []byte("two"), []byte("\x00\xff\r\n\n"), big, nil, []byte("again"), {}} {
		before := load(t, s, "k")
		if old := put(t, s, "k", b); !bytes.Equal(old, before) {
			t.Errorf("change got %.80q, and Load returned %.80q", old, before)
		}
		if got := load(t, s, "k"); !bytes.Equal(got, b) {
			t.Errorf("Load returns %.80q after %.80q was put", got, b)
		}
	}
	if got, err := s.Load(t.Context(), "k"); got != nil || err != nil {
		t.Errorf("a document that was removed is %q, %v; want nil, nil", got, err)
	}
	if list := keys(t, s, ""); len(list) > 0 {
		t.Errorf("Keys lists %q, which was removed", list)
	}
}

// Names of sessions come from elsewhere: they are texts, not paths.
func anyKeys(t *testing.T, s loop.Store) {
	odd := []string{
		"session/s1", "session/S1", "session/s1/", "session/", "/", "..", "../../etc/passwd", "a b", "a\nb", "a\x00b", "%2F", "é", "日本", "CON", "c:\\x",
		"*", "?", "session_s1", "session-s1", " ", strings.Repeat("k", 300), strings.Repeat("k", 301),
	}
	for i, k := range odd {
		put(t, s, k, []byte(strconv.Itoa(i)))
	}
	for i, k := range odd {
		if got := string(load(t, s, k)); got != strconv.Itoa(i) {
			t.Errorf("Load(%.80q) = %q, want %d", k, got, i)
		}
	}
	found := map[string]bool{}
	for _, k := range keys(t, s, "") {
		found[k] = true
	}
	for _, k := range odd {
		if !found[k] {
			t.Errorf("Keys leaves out %.80q", k)
		}
	}
}

func prefixes(t *testing.T, s loop.Store) {
	for _, k := range []string{"b/2", "a/1", "a/10", "a%/1", "A/1", "a"} {
		put(t, s, k, []byte("x"))
	}
	if diff := cmp.Diff([]string{"a/1", "a/10"}, keys(t, s, "a/")); diff != "" {
		t.Errorf("Keys(\"a/\") (-want +got):\n%s", diff)
	}
	if list := keys(t, s, "a%"); len(list) != 1 {
		t.Errorf("Keys(\"a%%\") = %q, want one: a prefix is no pattern", list)
	}
	if list := keys(t, s, "c"); len(list) != 0 {
		t.Errorf("Keys(\"c\") = %q, want none", list)
	}
}

func errorsChangeNothing(t *testing.T, s loop.Store) {
	put(t, s, "k", []byte("old"))
	mine := errors.New("mine")
	err := s.Update(t.Context(), "k", func([]byte) ([]byte, error) { return []byte("new"), mine })
	if !errors.Is(err, mine) {
		t.Errorf("Update returned %v, which does not wrap the error of change", err)
	}
	if got := string(load(t, s, "k")); got != "old" {
		t.Errorf("after an error the document is %q, want that of before", got)
	}
	put(t, s, "k", []byte("new")) // the key is free
}

// No two changes of a key see the same document, and none begins before another has ended.
func serialized(t *testing.T, s loop.Store) {
	const goroutines, each = 32, 10
	var wg sync.WaitGroup
	inside := 0 // guarded by the store
	for range goroutines {
		wg.Go(func() {
			for range each {
				err := s.Update(t.Context(), "counter", func(old []byte) ([]byte, error) {
					inside++
					if inside > 1 {
						return nil, fmt.Errorf("%d changes of one key at once", inside)
					}
					n, _ := strconv.Atoi(string(old))
					inside--
					return []byte(strconv.Itoa(n + 1)), nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got, want := string(load(t, s, "counter")), strconv.Itoa(goroutines*each); got != want {
		t.Errorf("the counter is %s, want %s", got, want)
	}
}

// A change may use other keys.
func otherKeys(t *testing.T, s loop.Store) {
	err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) {
		put(t, s, "b", []byte("1"))
		return load(t, s, "b"), nil
	})
	if err != nil || string(load(t, s, "a")) != "1" {
		t.Errorf("a change that uses another key: %v", err)
	}
}

func waiting(t *testing.T, s loop.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(t.Context(), "k", func([]byte) ([]byte, error) {
		cancel()
		called := false
		err := s.Update(ctx, "k", func([]byte) ([]byte, error) { called = true; return nil, nil })
		if err == nil || called {
			t.Errorf("an Update of a key that is held: %v, called %v; want the error of the context", err, called)
		}
		if other := s.Update(ctx, "j", func([]byte) ([]byte, error) { return []byte("x"), nil }); other == nil {
			t.Error("an Update after its context has ended succeeds")
		}
		return []byte("kept"), nil
	})
	if err != nil || string(load(t, s, "k")) != "kept" {
		t.Errorf("the Update that held the key: %v, %q", err, load(t, s, "k"))
	}
	if _, err := s.Load(ctx, "k"); err == nil {
		t.Error("Load after its context has ended succeeds")
	}
	if _, err := s.Keys(ctx, ""); err == nil {
		t.Error("Keys after its context has ended succeeds")
	}
}

// What is given or returned may be changed later.
func copied(t *testing.T, s loop.Store) {
	b := []byte("abc")
	put(t, s, "k", b)
	b[0] = 'X'
	load(t, s, "k")[1] = 'X'
	if got := string(load(t, s, "k")); got != "abc" {
		t.Errorf("the document is %q, want abc: the store shares its bytes", got)
	}
}
