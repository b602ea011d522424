package state

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Files are read the same on disks that are watched and on those that are not, and
// the time for all of them ends for both.
func TestReadAllFromOtherDisk(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("n/%03d.txt", i)] = "x"
	}
	p := newProject(t, files)
	var seen [][]string
	for _, local := range []bool{true, false} {
		p.local = local
		read := func(timeout time.Duration) ([]string, error) {
			f := File{Path: "n/*.txt", Format: Text, Timeout: timeout}
			all, _, err := ReadAll(t.Context(), p.Root, f, 0, func(d Doc) string { return d.Path + d.Text })
			return all, err
		}
		all, err := read(time.Minute)
		if err != nil || len(all) != len(files) {
			t.Errorf("on this machine %v: %d files, %v", local, len(all), err)
		}
		seen = append(seen, all)
		if all, err := read(1); err == nil || !strings.Contains(err.Error(), "took longer than 1ns to read") || all != nil {
			t.Errorf("on this machine %v, late: %d files, %v", local, len(all), err)
		}
	}
	if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
		t.Errorf("(-here +elsewhere)\n%s", diff)
	}
}

// One decision lists a directory once, and the next one sees what has changed. Prune sees it too.
func TestADirectoryIsListedOnce(t *testing.T) {
	p := newProject(t, map[string]string{"n/a.txt": "a", "n/b.txt": "b", "m/a.txt": "a"})
	all := func() (names []string) {
		t.Helper()
		names, _, err := ReadAll(t.Context(), p.Root, File{Path: "n/*.txt"}, 0, func(d Doc) string { return d.Path })
		if err != nil {
			t.Error(err)
		}
		return names
	}
	p.SetBudget(NewBudget(1<<20, time.Minute))
	if !p.AnyFile("n/*.txt") || !p.AnyFile("m/*.txt") {
		t.Error("there are no files")
	}
	p.write("n/c.txt", "c")
	if err := os.Rename(p.path("n/b.txt"), p.path("n/d.txt")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"n/a.txt"}, all()); diff != "" {
		t.Errorf("in the decision: (-want +got)\n%s", diff)
	}
	p.SetBudget(NewBudget(1<<20, time.Minute))
	if diff := cmp.Diff([]string{"n/a.txt", "n/c.txt", "n/d.txt"}, all()); diff != "" {
		t.Errorf("in the next one: (-want +got)\n%s", diff)
	}
	p.write("n/e.txt", "e")
	if removed, err := p.Prune(t.Context(), "n/*.txt", 0, time.Now()); err != nil || len(removed) != 4 {
		t.Errorf("pruned %v, %v", removed, err)
	}
}

// The limit of a walk does not depend on what was listed before, and what is kept has a limit too.
func TestListingsHaveLimits(t *testing.T) {
	p := newProject(t, map[string]string{"n/a.txt": "a", "n/b.txt": "b"})
	var known listings
	for range 2 {
		w := walk{ctx: t.Context(), root: p.root, dir: p.dir, known: &known, entries: 1, yield: func(match) error { return nil }}
		if err := w.find("n/*"); err == nil {
			t.Error("it looked at 2 entries")
		}
		if err := p.find(t.Context(), "n/*", &known, func(match) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	known.put("", "many", make([]fs.DirEntry, maxEntries-2))
	known.put("", "more", make([]fs.DirEntry, 1))
	if _, ok := known.get("", "many"); !ok || known.kept != maxEntries {
		t.Errorf("%d entries are kept", known.kept)
	}
	if _, ok := known.get("", "more"); ok {
		t.Error("too many entries are kept")
	}
}

// The files of a directory are read in the directory that was opened, whatever takes its name, and a file that becomes a
// link is read as the link that it is.
func TestADirectoryIsOpenedOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open directory has no other name here")
	}
	outside := newProject(t, map[string]string{"b.txt": "outside", "c.txt": "outside"})
	p := newProject(t, map[string]string{"n/a.txt": "a", "n/b.txt": "b", "n/c.txt": "c", "n/d.txt": "d", "n/e.txt": "e"})
	got, _, err := ReadAll(t.Context(), p.Root, File{Path: "n/*.txt"}, 0, func(d Doc) string {
		if d.Path == "n/a.txt" {
			for file, to := range map[string]string{"n/c.txt": outside.path("b.txt"), "n/d.txt": "e.txt"} {
				if err := os.Remove(p.path(file)); err != nil {
					t.Fatal(err)
				}
				p.link(file, to)
			}
			if err := os.Rename(p.path("n"), p.path("old")); err != nil {
				t.Fatal(err)
			}
			p.link("n", outside.Dir())
		}
		return d.Path + " " + d.Text + d.Problem
	})
	want := []string{"n/a.txt a", "n/b.txt b", "n/c.txt is a link that leads outside the project", "n/d.txt e", "n/e.txt e"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
