package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/internal/store"
)

func TestHints(t *testing.T) {
	s := store.Open(t.TempDir())
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := []store.Hint{
		{Root: "/a", Text: "first", At: at},
		{Root: "/a", Policy: "speckit", Session: "s1", Text: "second", At: at.Add(time.Second)},
	}
	for _, h := range append([]store.Hint{{Root: "/b", Text: "of another project", At: at}}, want[1], want[0]) {
		if err := s.AddHint(h); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Hints("/a")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.Hint{}, "ID")); diff != "" || err != nil {
		t.Fatalf("(-want +got), %v:\n%s", err, diff)
	}
	if err := s.AddHint(store.Hint{Root: "/a", Text: strings.Repeat("x", 20<<10), At: at}); err == nil || !strings.Contains(err.Error(), "it is too large") {
		t.Errorf("a long hint: %v", err)
	}

	// Of many that take a hint, one gets it.
	var taken atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if s.TakeHint(got[0]) {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	if taken.Load() != 1 {
		t.Errorf("the hint was taken %d times", taken.Load())
	}
	if got, _ := s.Hints("/a"); len(got) != 1 || got[0].Text != "second" {
		t.Errorf("left is %v", got)
	}
	// One that waited too long is forgotten with the memories.
	if err := s.Clean(time.Now().Add(1000*time.Hour), 720*time.Hour); err != nil {
		t.Error(err)
	}
	if got, _ := s.Hints("/a"); len(got) > 0 {
		t.Errorf("left is %v", got)
	}
}

func TestHintFits(t *testing.T) {
	for _, tt := range []struct {
		h    store.Hint
		want bool
	}{
		{store.Hint{}, true},
		{store.Hint{Policy: "speckit"}, true},
		{store.Hint{Session: "s1"}, true},
		{store.Hint{Policy: "specum"}, false},
		{store.Hint{Policy: "speckit", Session: "s"}, false},
	} {
		if got := tt.h.Fits("speckit", "s1"); got != tt.want {
			t.Errorf("%+v: %t", tt.h, got)
		}
	}
}
