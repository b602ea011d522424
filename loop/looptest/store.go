// Package looptest checks a store of a program: whether it keeps what [loop.Store] promises, as ralph's own stores do.
//
// It promises that a store that passes counts right under concurrency within one process. It leaves out crashes, several processes and
// full disks, which only the store's own tests can cause. Begin with [Store].
package looptest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
)

// Store tests a store. open returns an empty one for each test; it may use t to clean up.
func Store(t *testing.T, open func(t *testing.T) loop.Store) {
	t.Helper()
	for name, test := range map[string]func(*tester){"documents": documents, "keys": keys, "serialized": serialized, "waiting": waiting} {
		t.Run(name, func(t *testing.T) { test(&tester{t, open(t)}) })
	}
}

type tester struct {
	*testing.T
	loop.Store
}

// put replaces a document, and returns the one before.
func (t *tester) put(key string, b []byte) (old []byte) {
	t.Helper()
	calls := 0
	err := t.Update(t.Context(), key, func(was []byte) ([]byte, error) {
		calls++
		old = bytes.Clone(was)
		return b, nil
	})
	if err != nil || calls != 1 {
		t.Fatalf("Update(%.80q) called change %d times and returned %v; want once and nil", key, calls, err)
	}
	return old
}

// holds checks a document, and spoils what Load returned.
func (t *tester) holds(key string, want []byte) {
	t.Helper()
	for range 2 {
		got, err := t.Load(t.Context(), key)
		if err != nil || !bytes.Equal(got, want) || len(want) == 0 && got != nil {
			t.Fatalf("Load(%.80q) = %.80q, %v; want %.80q", key, got, err, want)
		}
		clear(got)
	}
}

// documents are kept, replaced, left alone by the same bytes and by an error, and removed by none. What is given or returned may be changed
// later.
func documents(t *tester) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	var before []byte
	for _, b := range [][]byte{[]byte("one"), []byte("two"), []byte("two"), []byte("\x00\xff\r\n\n"), big, nil, []byte("again"), {}, []byte("last")} {
		given := bytes.Clone(b)
		if old := t.put("k", given); !bytes.Equal(old, before) {
			t.Errorf("change got %.80q, and %.80q was put before", old, before)
		}
		clear(given)
		t.holds("k", b)
		before = b
	}
	mine := errors.New("mine")
	if err := t.Update(t.Context(), "k", func([]byte) ([]byte, error) { return []byte("new"), mine }); !errors.Is(err, mine) {
		t.Errorf("Update returned %v, which does not wrap the error of change", err)
	}
	t.holds("k", before)
}

// keys are any texts, since names of sessions come from elsewhere; a prefix is no pattern.
func keys(t *tester) {
	all := []string{
		"session/s1", "session/S1", "session/s1/", "session/s10", "session/", "/", "..", "../../etc/passwd", "a b", "a\nb", "a\x00b", "%2F", "é", "日本",
		"CON", `c:\x`, "*", "?", "session_s1", " ", strings.Repeat("k", 300), strings.Repeat("k", 301),
	}
	slices.Sort(all)
	for _, k := range all {
		t.put(k, []byte("of "+k))
	}
	for _, prefix := range []string{"", "session/", "session/s1", "*", "none"} {
		want := slices.DeleteFunc(slices.Clone(all), func(k string) bool { return !strings.HasPrefix(k, prefix) })
		if got, err := t.Keys(t.Context(), prefix); err != nil || !slices.Equal(got, want) {
			t.Errorf("Keys(%q) = %q, %v; want %q", prefix, got, err, want)
		}
	}
	for _, k := range all {
		t.holds(k, []byte("of "+k))
		t.put(k, nil)
	}
	if got, err := t.Keys(t.Context(), ""); err != nil || len(got) > 0 {
		t.Errorf("Keys lists %q, %v, after all were removed", got, err)
	}
}

// No two changes of a key see the same document, and none begins before another has ended.
func serialized(t *tester) {
	const goroutines, each = 32, 10
	var wg sync.WaitGroup
	inside := 0 // guarded by the store
	for range goroutines {
		wg.Go(func() {
			for range each {
				err := t.Update(t.Context(), "counter", func(old []byte) ([]byte, error) {
					if inside++; inside > 1 {
						return nil, errors.New("two changes of one key at once")
					}
					n, _ := strconv.Atoi(string(old))
					inside--
					return strconv.AppendInt(nil, int64(n)+1, 10), nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.holds("counter", strconv.AppendInt(nil, goroutines*each, 10))
}

// Waiting for a key ends with the context; other keys are free.
func waiting(t *tester) {
	ctx, cancel := context.WithCancel(t.Context())
	unwanted := func([]byte) ([]byte, error) {
		t.Error("change is called after its context has ended")
		return nil, nil
	}
	err := t.Update(t.Context(), "k", func([]byte) ([]byte, error) {
		t.put("other", []byte("1"))
		cancel()
		if err := t.Update(ctx, "k", unwanted); err == nil {
			t.Error("an Update of a key that is held, whose context has ended, succeeds")
		}
		return []byte("2"), nil
	})
	if err != nil {
		t.Errorf("the Update that held the key: %v", err)
	}
	t.holds("k", []byte("2"))
	_, err1 := t.Load(ctx, "k")
	_, err2 := t.Keys(ctx, "")
	if err1 == nil || err2 == nil || t.Update(ctx, "free", unwanted) == nil {
		t.Error("Load, Keys or Update succeed after their context has ended")
	}
}
