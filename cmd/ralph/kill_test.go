package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A hook that is killed at any moment leaves the old file or the new one, whole. The
// next one works, and what was left behind is swept up in time.
func TestKilledHooks(t *testing.T) {
	const kills = 60
	body := strings.Repeat("Some work to do.\n", 100_000) // so that writing it takes its time
	h := newHook(t, map[string]string{stravinskyFile: countedLoop(1, body)}, "--policy", "stravinsky")
	path := filepath.Join(h.dir, stravinskyFile)
	count := func() int {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := countOf(content, body)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}

	start := time.Now()
	if a := h.run(t).answer(t); a.Decision != "block" {
		t.Fatalf("%+v", a)
	}
	whole := time.Since(start)
	killed, before := 0, count()
	for range kills {
		cmd := h.cmd()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(whole))
		if cmd.Process.Kill() == nil {
			killed++
		}
		cmd.Wait() // it was killed, or came to its end before
		after := count()
		if after != before && after != before+1 {
			t.Fatalf("the count went from %d to %d", before, after)
		}
		before = after
	}
	if killed < kills/2 {
		t.Errorf("only %d of %d were killed", killed, kills)
	}
	if a := h.run(t).answer(t); a.Decision != "block" || count() != before+1 {
		t.Errorf("the next hook: %+v, count %d after %d", a, count(), before)
	}

	// An hour later nothing is left of them. (Ralph cleans its own directory up once
	// a day, by the time of a file that says when it last did.)
	old := time.Now().Add(-48 * time.Hour)
	left := append(leftovers(t, h.dir), leftovers(t, h.store)...)
	t.Logf("%d temporary files were left behind", len(left))
	for _, name := range append(left, filepath.Join(h.store, "cleaned")) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if a := h.run(t).answer(t); a.Decision != "block" {
		t.Errorf("%+v", a)
	}
	if left := append(leftovers(t, h.dir), leftovers(t, h.store)...); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
}
