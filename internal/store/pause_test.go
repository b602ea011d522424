package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

// What a pause covers: an empty field is every policy, or every session.
func TestPauseCovers(t *testing.T) {
	for _, c := range []struct {
		pause           store.Pause
		policy, session string
		want            bool
	}{
		{store.Pause{Policy: "a"}, "a", "s", true},
		{store.Pause{Policy: "a"}, "b", "s", false},
		{store.Pause{Session: "s"}, "b", "s", true},
		{store.Pause{Session: "s"}, "b", "t", false},
		{store.Pause{Session: "s"}, "b", "", false},
		{store.Pause{Policy: "a", Session: "s"}, "a", "s", true},
		{store.Pause{Policy: "a", Session: "s"}, "a", "t", false},
		{store.Pause{Policy: "a", Session: "s"}, "b", "s", false},
	} {
		if got := c.pause.Covers(c.policy, c.session); got != c.want {
			t.Errorf("%+v covers %s in %s: %v", c.pause, c.policy, c.session, got)
		}
	}
}

// Pauses are those of one project; none that is added concurrently is lost, and removing
// the last one removes the file.
func TestPauses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := store.Open(dir)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := s.ChangePauses(t.Context(), "/p", func(all []store.Pause) []store.Pause {
				return append(all, store.Pause{Policy: fmt.Sprint(i)})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := s.Pauses("/p"); len(all) != 8 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	if all, err := s.Pauses("/q"); len(all) != 0 || err != nil {
		t.Errorf("of another project: %v, %v", all, err)
	}
	if err := s.ChangePauses(t.Context(), "/p", func([]store.Pause) []store.Pause { return nil }); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "pauses"))
	if err != nil || len(files) != 0 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// A file with other content is reported, so that the agent may stop, and replaced.
func TestPausesDamaged(t *testing.T) {
	dir := t.TempDir()
	s := store.Open(dir)
	add := func(all []store.Pause) []store.Pause { return append(all, store.Pause{Policy: "a"}) }
	for _, damage := range []string{"", "{", "[]", `{"v":2,"root":"/p"}`, `{"v":1,"root":"/q","items":[]}`, strings.Repeat("x", 2<<20)} {
		if err := s.ChangePauses(t.Context(), "/p", add); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "pauses", "*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if err := os.WriteFile(files[0], []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Pauses("/p"); err == nil {
			t.Errorf("%.30q gives %v", damage, all)
		}
		if err := s.ChangePauses(t.Context(), "/p", add); err != nil {
			t.Fatal(err)
		}
		all, err := s.Pauses("/p")
		if diff := cmp.Diff([]store.Pause{{Policy: "a"}}, all); diff != "" || err != nil {
			t.Errorf("after %.30q (-want +got)\n%s%v", damage, diff, err)
		}
		if err := s.ChangePauses(t.Context(), "/p", func([]store.Pause) []store.Pause { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}
