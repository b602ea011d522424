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
	for name, test := range map[string]func(*tester){
		"documents": documents, "keys": keys, "errors": failures, "serialized": serialized, "waiting": waiting,
	} {
		t.Run(name, func(t *testing.T) { test(&tester{t, open(t)}) })
	}
}

type tester struct {
	*testing.T
	loop.Store
}

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

func (t *tester) load(key string) []byte {
	t.Helper()
	b, err := t.Load(t.Context(), key)
	if err != nil {
		t.Fatalf("Load(%.80q): %v", key, err)
	}
	return b
}

func (t *tester) keys(prefix string) []string {
	t.Helper()
	list, err := t.Keys(t.Context(), prefix)
	if err != nil {
		t.Fatalf("Keys(%q): %v", prefix, err)
	}
	return list
}

// documents are kept, replaced, left alone by the same bytes, and removed by none. What is given or returned may be changed later.
func documents(t *tester) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	for _, b := range [][]byte{[]byte("one"), []byte("two"), []byte("two"), []byte("\x00\xff\r\n\n"), big, nil, []byte("again"), {}} {
		before, given := t.load("k"), bytes.Clone(b)
		if old := t.put("k", given); !bytes.Equal(old, before) {
			t.Errorf("change got %.80q, and Load returned %.80q", old, before)
		}
		clear(given)
		clear(t.load("k"))
		if got := t.load("k"); !bytes.Equal(got, b) {
			t.Errorf("Load returns %.80q after %.80q was put", got, b)
		}
	}
	if got, err := t.Load(t.Context(), "k"); got != nil || err != nil {
		t.Errorf("a document that was removed is %q, %v; want nil, nil", got, err)
	}
	if list := t.keys(""); len(list) > 0 {
		t.Errorf("Keys lists %q, which was removed", list)
	}
}

// keys are any texts, since names of sessions come from elsewhere; a prefix is no pattern.
func keys(t *tester) {
	all := []string{
		"session/s1", "session/S1", "session/s1/", "session/s10", "session/", "/", "..", "../../etc/passwd", "a b", "a\nb", "a\x00b", "%2F", "é", "日本",
		"CON", `c:\x`, "*", "?", "session_s1", " ", strings.Repeat("k", 300), strings.Repeat("k", 301),
	}
	slices.Sort(all)
	for i, k := range all {
		t.put(k, []byte(strconv.Itoa(i)))
	}
	for i, k := range all {
		if got := string(t.load(k)); got != strconv.Itoa(i) {
			t.Errorf("Load(%.80q) = %q, want %d", k, got, i)
		}
	}
	for _, prefix := range []string{"", "session/", "session/s1", "*", "none"} {
		want := slices.DeleteFunc(slices.Clone(all), func(k string) bool { return !strings.HasPrefix(k, prefix) })
		if got := t.keys(prefix); !slices.Equal(got, want) {
			t.Errorf("Keys(%q) = %q, want %q", prefix, got, want)
		}
	}
}

// An error of change changes nothing, and the key is free again.
func failures(t *tester) {
	t.put("k", []byte("old"))
	mine := errors.New("mine")
	if err := t.Update(t.Context(), "k", func([]byte) ([]byte, error) { return []byte("new"), mine }); !errors.Is(err, mine) {
		t.Errorf("Update returned %v, which does not wrap the error of change", err)
	}
	if old := string(t.put("k", []byte("new"))); old != "old" {
		t.Errorf("after an error the document is %q, want that of before", old)
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
	if got, want := string(t.load("counter")), strconv.Itoa(goroutines*each); got != want {
		t.Errorf("the counter is %s, want %s", got, want)
	}
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
		return t.load("other"), nil
	})
	if err != nil || string(t.load("k")) != "1" {
		t.Errorf("the Update that held the key: %v", err)
	}
	_, err1 := t.Load(ctx, "k")
	_, err2 := t.Keys(ctx, "")
	if err1 == nil || err2 == nil || t.Update(ctx, "free", unwanted) == nil {
		t.Error("Load, Keys or Update succeed after their context has ended")
	}
}
