package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

func TestHints(t *testing.T) {
	s := store.Open(t.TempDir())
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	add := func(root string, h store.Hint) error {
		return s.ChangeHints(t.Context(), root, func(all []store.Hint) []store.Hint { return append(all, h) })
	}
	first, second := store.Hint{Text: "first", At: at}, store.Hint{Policy: "speckit", Session: "s1", Text: "second", At: at}
	if err := errors.Join(add("/b", store.Hint{Text: "of another project"}), add("/a", first), add("/a", second)); err != nil {
		t.Fatal(err)
	}
	if err := add("/a", store.Hint{Text: strings.Repeat("x", 70<<10)}); err == nil || !strings.Contains(err.Error(), "it is too large") {
		t.Errorf("a long hint: %v", err)
	}
	got, err := s.Hints("/a")
	if diff := cmp.Diff([]store.Hint{first, second}, got); diff != "" || err != nil {
		t.Errorf("(-want +got), %v:\n%s", err, diff)
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
