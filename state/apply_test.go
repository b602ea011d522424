package state

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestApplySets(t *testing.T) {
	p := newProject(t, map[string]string{
		"state.json": "{\n  \"n\": 1,\n  \"keep\": 1.0\n}\n",
		"loop.md":    "---\nn: 1\n---\nbody\xff",
	})
	if err := os.Chmod(p.path("state.json"), 0o640); err != nil {
		t.Fatal(err)
	}
	err := p.apply(
		Change{Path: "state.json", Format: JSON, Version: p.version("state.json"), Sets: []Set{set(2, "n")}},
		Change{Path: "loop.md", Format: FrontMatter, Version: p.version("loop.md"), Sets: []Set{set(2, "n")}},
		Change{Path: "./state.json", Format: JSON, Version: p.version("state.json"), Sets: []Set{set("x", "m")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.content("state.json"), "{\n  \"n\": 2,\n  \"keep\": 1.0,\n  \"m\": \"x\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.content("loop.md"), "---\nn: 2\n---\nbody\xff"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if info, _ := os.Stat(p.path("state.json")); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want 0640", info.Mode())
	}
	if diff := cmp.Diff([]string{"loop.md", "state.json"}, p.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Setting a value that is already there writes nothing.
func TestApplyNothingToDo(t *testing.T) {
	p := newProject(t, map[string]string{"a.json": `{"n": 1}`})
	p.age("a.json", time.Hour)
	before, _ := os.Stat(p.path("a.json"))
	if err := p.apply(Change{Path: "a.json", Format: JSON, Version: p.version("a.json"), Sets: []Set{set(1, "n")}}); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(p.path("a.json")); !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Error("the file was written")
	}
}

// If one change is invalid, none is made, and no trace of it is left.
func TestApplyAllOrNone(t *testing.T) {
	outside := t.TempDir()
	const good = `{"n": 1}`
	tests := []struct {
		name   string
		change func(p project) Change
		err    string
		is     error
	}{
		{"changed", func(p project) Change {
			c := Change{Path: "b.json", Format: JSON, Version: p.version("b.json"), Sets: []Set{set(2, "n")}}
			p.write("b.json", `{"n": 5}`)
			return c
		}, "b.json: changed since it was read", ErrChanged},
		{"gone", func(p project) Change {
			c := Change{Path: "b.json", Op: OpDelete, Version: p.version("b.json")}
			os.Remove(p.path("b.json"))
			return c
		}, "b.json: changed since it was read", ErrChanged},
		{"appeared", func(p project) Change {
			return Change{Path: "b.json", Op: OpDelete}
		}, "b.json: changed since it was read", ErrChanged},
		{"moved by a link", func(p project) Change {
			c := Change{Path: "b.json", Format: JSON, Version: p.version("b.json"), Sets: []Set{set(2, "n")}}
			os.Rename(p.path("b.json"), p.path("c.json"))
			p.link("b.json", "c.json")
			return c
		}, "b.json: changed since it was read", ErrChanged},
		{"no such element", func(p project) Change {
			return Change{Path: "b.json", Format: JSON, Version: p.version("b.json"), Sets: []Set{set(2, "l", 7)}}
		}, "b.json: cannot set /l/7: there is no field \"l\"", nil},
		{"not that format", func(p project) Change {
			return Change{Path: "b.json", Format: FrontMatter, Version: p.version("b.json"), Sets: []Set{set(2, "n")}}
		}, "b.json: the file has no front matter: its first line is not ---", nil},
		{"no format to edit", func(p project) Change {
			return Change{Path: "b.json", Format: Text, Version: p.version("b.json"), Sets: []Set{set(2, "n")}}
		}, "b.json: a value inside text cannot be set, only inside JSON and front matter", nil},
		{"absent", func(p project) Change {
			return Change{Path: "absent.json", Format: JSON, Sets: []Set{set(2, "n")}}
		}, "absent.json: it does not exist", nil},
		{"directory", func(p project) Change {
			return Change{Path: "dir", Op: OpDelete}
		}, "dir: it is a directory, not a file", nil},
		{"link that leads out", func(p project) Change {
			p.link("out.json", outside)
			return Change{Path: "out.json", Op: OpArchive}
		}, "out.json: it is a link that leads outside the project", nil},
		{"path that climbs", func(p project) Change {
			return Change{Path: "../b.json", Op: OpDelete}
		}, `path "../b.json": contains ".."`, nil},
		{"removed twice", func(p project) Change {
			return Change{Path: "a.json", Op: OpDelete, Version: p.version("a.json")}
		}, "a.json: it is removed before this change", nil},
		{"archive that leads out", func(p project) Change {
			p.link(".ralph", outside)
			return Change{Path: "b.json", Op: OpArchive, Version: p.version("b.json")}
		}, "cannot archive a.json: a link leads outside the project", nil},
		{"unknown operation", func(p project) Change {
			return Change{Path: "b.json", Op: 9, Version: p.version("b.json")}
		}, "b.json: there is no operation 9", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"a.json": good, "b.json": good, "dir/x.json": good})
			first := []Change{
				{Path: "dir/x.json", Format: JSON, Version: p.version("dir/x.json"), Sets: []Set{set(2, "n")}},
				{Path: "a.json", Op: OpArchive, Version: p.version("a.json")},
			}
			last := test.change(p)
			before := p.files()
			err := p.apply(append(first, last)...)
			if err == nil || !strings.Contains(err.Error(), test.err) || (test.is != nil) != errors.Is(err, ErrChanged) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if p.content("a.json") != good || p.content("dir/x.json") != good {
				t.Error("a change was made")
			}
			if diff := cmp.Diff(before, p.files()); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
			if left, _ := os.ReadDir(outside); len(left) > 0 {
				t.Errorf("something was written outside: %v", left)
			}
			if left, _ := os.ReadDir(p.path(ArchiveDir)); len(left) > 0 {
				t.Errorf("an empty archive is left: %v", left)
			}
		})
	}
}

func TestApplyDeleteAndArchive(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 30, 0, 0, time.FixedZone("", 3600))
	p := newProject(t, map[string]string{
		"a.txt": "a", "dir/b.md": "---\nn: 1\n---\nb", "c.json": "not json", "d.json": "{}", "real.txt": "real", "far/real.txt": "far",
	})
	p.link("link.txt", "real.txt")
	p.link("dir/far.txt", "../far/real.txt")
	changes := []Change{
		{Path: "a.txt", Op: OpDelete, Version: p.version("a.txt")},
		{Path: "absent.txt", Op: OpDelete},
		{Path: "absent.txt", Op: OpArchive},
		{Path: "dir/b.md", Format: FrontMatter, Version: p.version("dir/b.md"), Sets: []Set{set(2, "n")}},
		{Path: "dir/b.md", Op: OpArchive, At: at, Version: p.version("dir/b.md")},
		{Path: "c.json", Op: OpArchive, At: at, Version: p.version("c.json")},
		{Path: "link.txt", Op: OpDelete, Version: p.version("link.txt")},
		{Path: "dir/far.txt", Op: OpArchive, At: at, Version: p.version("dir/far.txt")},
	}
	if err := p.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	var archived []string
	for _, c := range changes {
		if c.Archived != "" {
			archived = append(archived, c.Path+" is "+c.Archived)
		}
	}
	if diff := cmp.Diff([]string{
		"dir/b.md is .ralph/archive/20261120T093000Z/dir/b.md",
		"c.json is .ralph/archive/20261120T093000Z/c.json",
		"dir/far.txt is .ralph/archive/20261120T093000Z/dir/far.txt",
	}, archived); diff != "" {
		t.Errorf("archived (-want +got):\n%s", diff)
	}
	want := []string{
		".ralph/archive/.gitignore",
		".ralph/archive/20261120T093000Z/c.json",
		".ralph/archive/20261120T093000Z/dir/b.md",
		".ralph/archive/20261120T093000Z/dir/far.txt",
		"d.json",
		"real.txt",
	}
	if diff := cmp.Diff(want, p.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := p.content(want[2]); got != "---\nn: 2\n---\nb" {
		t.Errorf("archived %q", got)
	}
	if got := p.content(want[3]); got != "far" {
		t.Errorf("archived %q", got)
	}

	// The same second once more makes another directory.
	if err := p.apply(Change{Path: "d.json", Op: OpArchive, At: at, Version: p.version("d.json")}); err != nil {
		t.Fatal(err)
	}
	if name := ".ralph/archive/20261120T093000Z-2/d.json"; !slices.Contains(p.files(), name) {
		t.Errorf("no %s among %v", name, p.files())
	}
}

// An edit changes the target of a link, and the link stays.
func TestApplyThroughLink(t *testing.T) {
	p := newProject(t, map[string]string{"real/s.json": `{"n": 1}`})
	p.link("s.json", p.path("real/s.json"))
	p.link("dir", "real")
	for i, path := range []string{"s.json", "dir/s.json"} {
		if err := p.apply(Change{Path: path, Format: JSON, Version: p.version(path), Sets: []Set{set(i+2, "n")}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.content("real/s.json"); got != `{"n": 3}` {
		t.Errorf("got %q", got)
	}
	if info, err := os.Lstat(p.path("s.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

func TestApplyOutOfTime(t *testing.T) {
	p := newProject(t, map[string]string{"a": "x"})
	version := p.version("a")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := p.Apply(ctx, []Change{{Path: "a", Op: OpDelete, Version: version}})
	if !errors.Is(err, context.Canceled) || !p.Exists("a") {
		t.Errorf("error %v, file there: %v", err, p.Exists("a"))
	}
}

// When a later change fails although everything was ready, the earlier ones
// are taken back.
func TestApplyTakesBack(t *testing.T) {
	for _, ready := range []bool{true, false} {
		p := newProject(t, map[string]string{"set.json": `{"n": 1}`, "moved.txt": "x", "both.json": `{"n": 1}`, "gone.txt": "gone"})
		targets, err := p.plan(t.Context(), []Change{
			{Path: "set.json", Format: JSON, Version: p.version("set.json"), Sets: []Set{set(2, "n")}},
			{Path: "moved.txt", Op: OpArchive, Version: p.version("moved.txt")},
			{Path: "both.json", Format: JSON, Version: p.version("both.json"), Sets: []Set{set(2, "n")}},
			{Path: "both.json", Op: OpArchive, Version: p.version("both.json")},
			{Path: "gone.txt", Op: OpDelete, Version: p.version("gone.txt")},
		})
		if err != nil {
			t.Fatal(err)
		}
		archives := archiver{root: p.root}
		for _, target := range targets {
			if err := target.prepare(&archives); err != nil {
				t.Fatal(err)
			}
			if err := target.commit(); err != nil {
				t.Fatal(err)
			}
		}
		if !ready { // another process was faster than the undoing
			p.write("set.json", `{"n": 9}`)
			p.write("moved.txt", "new")
		}
		for _, target := range targets {
			if err := target.undo(); (err == nil) != (ready || !strings.Contains("set.json moved.txt", target.loc.shown)) {
				t.Errorf("undo of %s: %v", target.loc.shown, err)
			}
			target.cleanUp()
		}
		want := map[string]string{"set.json": `{"n": 1}`, "moved.txt": "x", "both.json": `{"n": 1}`, "gone.txt": "gone"}
		if !ready {
			want["set.json"], want["moved.txt"] = `{"n": 9}`, "new"
		}
		for name, content := range want {
			if got := p.content(name); got != content {
				t.Errorf("%s is %q, want %q", name, got, content)
			}
		}
	}
}

// The same by way of Apply: the file in the read-only directory can be read, so
// that only removing it fails.
func TestApplyTakesBackWhenRefused(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	p := newProject(t, map[string]string{"a.json": `{"n": 1}`, "dir/b.txt": "x"})
	if err := os.Chmod(p.path("dir"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(p.path("dir"), 0o755)
	err := p.apply(
		Change{Path: "dir/b.txt", Op: OpDelete, Version: p.version("dir/b.txt")},
		Change{Path: "a.json", Format: JSON, Version: p.version("a.json"), Sets: []Set{set(2, "n")}},
	)
	var refused *writeError
	if !errors.As(err, &refused) || refused.partial || err.Error() != "cannot delete dir/b.txt: permission denied" {
		t.Errorf("error %v", err)
	}
	if got := p.content("a.json"); got != `{"n": 1}` {
		t.Errorf("a.json was left as %q", got)
	}
}

// What a killed process left beside a file is removed by the next edit there,
// unless it may still be in use.
func TestApplySweeps(t *testing.T) {
	p := newProject(t, map[string]string{"a.json": `{"n": 1}`, ".ralph-old.tmp": "", ".ralph-new.tmp": "", ".ralph-other": ""})
	p.age(".ralph-old.tmp", 2*maxTempAge)
	p.age(".ralph-new.tmp", 0)
	p.age(".ralph-other", 2*maxTempAge)
	if err := p.apply(Change{Path: "a.json", Format: JSON, Version: p.version("a.json"), Sets: []Set{set(2, "n")}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".ralph-new.tmp", ".ralph-other", "a.json"}, p.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestApplyInReadOnlyDirectory(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	p := newProject(t, map[string]string{"dir/a.json": `{"n": 1}`})
	if err := os.Chmod(p.path("dir"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(p.path("dir"), 0o755)
	version := p.version("dir/a.json")
	for op, verb := range map[Op]string{OpSet: "write", OpDelete: "delete", OpArchive: "archive"} {
		err := p.apply(Change{Path: "dir/a.json", Op: op, Format: JSON, Version: version, Sets: []Set{set(2, "n")}})
		var refused *writeError
		if !errors.As(err, &refused) || refused.partial || err.Error() != "cannot "+verb+" dir/a.json: permission denied" {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if got := p.content("dir/a.json"); got != `{"n": 1}` {
		t.Errorf("got %q", got)
	}
}

func TestPrune(t *testing.T) {
	now := time.Now()
	outside := newProject(t, map[string]string{"old.md": "x"})
	outside.age("old.md", 2*time.Hour)
	p := newProject(t, nil)
	for name, age := range map[string]time.Duration{
		"s/demo/.progress-task-1.md": 61 * time.Minute, "s/demo/.progress-task-2.md": 59 * time.Minute,
		"s/demo/state.md": 2 * time.Hour, "s/other/deep/.progress-task-1.md": 2 * time.Hour, "s/a[b]/old.md": 2 * time.Hour, "real/old.md": 2 * time.Hour,
	} {
		p.write(name, "x")
		p.age(name, age)
	}
	p.link("s/demo/.progress-task-3.md", "../../real/old.md")
	p.link("s/linked", "../real")
	p.link("s/out", outside.Dir())
	if err := os.Mkdir(p.path("s/demo/.progress-task-4.md"), 0o755); err != nil {
		t.Fatal(err)
	}

	tests := []struct {
		glob string
		want []string
	}{
		{"s/absent/*.md", nil},
		{"s/linked/*.md", nil},
		{"s/out/*.md", nil},
		{"s/{linked,out}/**", nil},
		{"s/demo/.progress-task-*.md", []string{"s/demo/.progress-task-1.md"}},
		{`s/a\[b\]/*.md`, []string{"s/a[b]/old.md"}},
		{"./s/**/.progress-*.md", []string{"s/other/deep/.progress-task-1.md"}},
	}
	for _, test := range tests {
		got, err := p.Prune(t.Context(), test.glob, time.Hour, now)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("Prune(%q): %v (-want +got):\n%s", test.glob, err, diff)
		}
		for _, name := range test.want {
			if p.Exists(name) {
				t.Errorf("Prune(%q) left %s", test.glob, name)
			}
		}
	}
	for _, name := range []string{"s/demo/state.md", "s/demo/.progress-task-2.md", "s/demo/.progress-task-3.md", "s/demo/.progress-task-4.md", "real/old.md"} {
		if !p.Exists(name) {
			t.Errorf("%s is gone", name)
		}
	}
	if !outside.Exists("old.md") {
		t.Error("a file outside is gone")
	}

	for _, glob := range []string{"", "../*", "/tmp/*", "~/x", "a\x00", "[", "a/{b", "a\\"} {
		if got, err := p.Prune(t.Context(), glob, 0, now); !errors.As(err, new(*PathError)) || got != nil {
			t.Errorf("Prune(%q) = %v, %v; want a PathError", glob, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := p.Prune(ctx, "s/**", 0, now); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("Prune out of time = %v, %v", got, err)
	}
}

// A file that does not exist begins as the document of Create, in directories that are
// made.
func TestApplyCreate(t *testing.T) {
	p := newProject(t, nil)
	begin := map[string]any{"phase": "plan", "round": 0, "left": []any{"a"}}
	err := p.apply(
		Change{Path: "new/state.json", Format: JSON, Create: begin, Sets: []Set{set(1, "round")}},
		Change{Path: "loop.md", Format: FrontMatter, Create: begin, Sets: []Set{set("build", "phase")}},
		Change{Path: "new/state.json", Format: JSON, Create: begin, Sets: []Set{set("build", "phase")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range p.files() {
		got[name] = p.content(name)
	}
	want := map[string]string{
		"new/state.json": "{\n  \"left\": [\n    \"a\"\n  ],\n  \"phase\": \"build\",\n  \"round\": 1\n}\n",
		"loop.md":        "---\nleft: [\"a\"]\nphase: build\nround: 0\n---\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An existing file is never mistaken for a missing one.
func TestApplyCreateRefused(t *testing.T) {
	p := newProject(t, map[string]string{"there.json": "{}", "folder/x.json": "{}", "other.json": "{}"})
	if runtime.GOOS != "windows" {
		if err := os.Symlink("nowhere.json", p.path("link.json")); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"there.json": "changed", "folder": "is a directory", "link.json": "leads nowhere", "../outside.json": "outside", "other.json/x.json": "",
	} {
		if path == "link.json" && runtime.GOOS == "windows" {
			continue
		}
		before := p.files()
		err := p.apply(Change{Path: path, Format: JSON, Create: map[string]any{"n": 0}, Sets: []Set{set(1, "n")}})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrChanged) != (want == "changed") {
			t.Errorf("%s: %v, want an error with %q", path, err, want)
		}
		if diff := cmp.Diff(before, p.files()); diff != "" {
			t.Errorf("%s: files (-before +after)\n%s", path, diff)
		}
	}
}

// A change that fails takes back the file that another one made.
func TestApplyCreateTakenBack(t *testing.T) {
	p := newProject(t, nil)
	if err := os.WriteFile(p.path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := p.apply(
		Change{Path: "a.json", Format: JSON, Create: map[string]any{"n": 0}, Sets: []Set{set(1, "n")}},
		Change{Path: "file/b.json", Format: JSON, Create: map[string]any{"n": 0}, Sets: []Set{set(1, "n")}},
	)
	if err == nil {
		t.Fatal("a file was made below a file")
	}
	if diff := cmp.Diff([]string{"file"}, p.files()); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}
