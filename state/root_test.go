package state

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// project makes a directory with files; a name that ends with a slash is a directory, and a content that begins with -> a link.
func project(t testing.TB, files map[string]string) *Root {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		target, link := strings.CutPrefix(content, "->")
		err := os.MkdirAll(filepath.Dir(p), 0o777)
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o777)
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "DIR", dir), p)
		default:
			err = os.WriteFile(p, []byte(content), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// tree returns all files below a root with their contents, and links as project takes them.
func tree(t testing.TB, r *Root) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(r.Dir(), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(r.Dir(), p)
		b, err := os.ReadFile(p)
		if to, err2 := os.Readlink(p); err2 == nil {
			b, err = []byte("->"+strings.ReplaceAll(to, r.Dir(), "DIR")), nil
		}
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestOpen(t *testing.T) {
	r := project(t, map[string]string{"sub/a.txt": "a", "link": "->sub", "file": "x"})
	sub, err := Open(filepath.Join(r.Dir(), "link"))
	if err != nil || sub.Dir() != filepath.Join(r.Dir(), "sub") {
		t.Fatalf("opened %v, %v", sub, err)
	}
	defer sub.Close()
	for _, name := range []string{"file", "missing"} {
		var pathError *fs.PathError
		if r, err := Open(filepath.Join(r.Dir(), name)); !errors.As(err, &pathError) {
			t.Errorf("Open(%s) = %v, %v", name, r, err)
		}
	}
}

func TestRead(t *testing.T) {
	r := project(t, map[string]string{
		"sub/a.txt": "a", "empty": "", "dir/": "",
		"relative": "->sub/a.txt", "absolute": "->DIR/sub/a.txt", "linked": "->DIR/sub", "chain": "->linked/../absolute",
		"out": "->/etc/hostname", "up": "->../..", "outdir": "->/etc", "nowhere": "->missing", "far": "->DIR/missing", "loop": "->loop", "loops": "->DIR/loops",
	})
	for _, c := range []struct{ path, want, err string }{
		{"sub/a.txt", "a", ""}, {"./sub//a.txt", "a", ""}, {"empty", "", ""},
		{"relative", "a", ""}, {"absolute", "a", ""}, {"linked/a.txt", "a", ""}, {"chain", "a", ""},
		{"dir", "", "read dir: is a directory, not a regular file"}, {".", "", "is a directory"},
		{"out", "", "read out: a link leaves the project"}, {"outdir/hostname", "", "a link leaves the project"}, {"up", "", "a link leaves the project"},
		{"loop", "", "not exist"}, {strings.Repeat("n", 300), "", "not exist"}, {"loops", "", "not exist"},
		{"missing", "", "not exist"}, {strings.Repeat("x", 300), "", "not exist"}, {"sub/a.txt/b", "", "not exist"}, {"nowhere", "", "not exist"}, {"far", "", "not exist"},
		{"", "", "empty"}, {"a\x00b", "", "NUL"}, {"sub/../sub/a.txt", "", `read sub/../sub/a.txt: the path has "..": write it from the project's root`}, {r.Dir() + "/sub/a.txt", "", "absolute"}, {"/", "", "absolute"},
	} {
		f, err := r.Read(c.path)
		if err == nil && (string(f.Bytes) != c.want || f.Path != strings.TrimPrefix(strings.ReplaceAll(c.path, "//", "/"), "./") || f.Mode != 0o644 && f.Mode.Perm()&0o600 != 0o600 || f.Time.IsZero()) {
			t.Errorf("Read(%q) = %+v", c.path, f)
		}
		missing := errors.Is(err, fs.ErrNotExist)
		if (err == nil) != (c.err == "") || missing != (c.err == "not exist") || err != nil && !missing && !strings.Contains(err.Error(), c.err) {
			t.Errorf("Read(%q): %v, want %q", c.path, err, c.err)
		}
	}
}

func TestReadLarge(t *testing.T) {
	r := project(t, map[string]string{"largest": strings.Repeat("x", MaxFile), "larger": strings.Repeat("x", MaxFile+1), "sparse": ""})
	if err := os.Truncate(filepath.Join(r.Dir(), "sparse"), 2<<30); err != nil {
		t.Fatal(err)
	}
	if f, err := r.Read("largest"); err != nil || len(f.Bytes) != MaxFile {
		t.Errorf("the largest file: %v", err)
	}
	for _, name := range []string{"larger", "sparse"} {
		if _, err := r.Read(name); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A half written file is read again, and only a young one.
func TestReadSettled(t *testing.T) {
	r := project(t, map[string]string{"young": `{"a":`, "old": `{"a":`, "future": `{"a":`, "stuck": `{"a":`})
	file := func(name string) string { return filepath.Join(r.Dir(), name) }
	for name, at := range map[string]time.Time{"old": time.Now().Add(-time.Minute), "future": time.Now().Add(time.Hour)} {
		if err := os.Chtimes(file(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		reads int
		ok    bool
	}{{"young", t.Context(), 2, true}, {"old", t.Context(), 1, false}, {"future", t.Context(), 1, false}, {"stuck", ended, 1, false}} {
		reads := 0
		f, v, err := r.ReadSettled(c.ctx, c.name, func(b []byte) (any, error) {
			reads++
			v, err := ParseJSON(b)
			if err := os.WriteFile(file("young"), []byte(`{"a": 1}`), 0o666); err != nil {
				t.Error(err)
			}
			return v, err
		})
		if f == nil || reads != c.reads || (err == nil) != c.ok || c.ok && !cmp.Equal(v, any(map[string]any{"a": 1})) {
			t.Errorf("%s: %d reads, %v, %v", c.name, reads, v, err)
		}
	}
	if f, _, err := r.ReadSettled(t.Context(), "missing", nil); f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v, %v", f, err)
	}
}

func TestParseText(t *testing.T) {
	for src, want := range map[string]string{
		"\ufeff a \r\n": "a", "": "", " \n": "", "caf\xe9": "caf\ufffd", "a\x00b": "a\x00b",
		"\xff\xfea\x00": "UTF-16", "\xfe\xff\x00a": "UTF-16", "a\x00b\x00": "UTF-16", "\x00a\x00b": "UTF-16",
	} {
		got, err := ParseText([]byte(src))
		if _, err2 := ParseJSON([]byte(src)); errors.Is(err, errUTF16) != (want == "UTF-16") || errors.Is(err2, errUTF16) != (want == "UTF-16") {
			t.Errorf("%q: errors %v, %v", src, err, err2)
		}
		if err == nil && got != want {
			t.Errorf("ParseText(%q) = %q, want %q", src, got, want)
		}
	}
	if v, err := ParseJSON([]byte("\ufeff[1]\n")); err != nil || !cmp.Equal(v, any([]any{1})) {
		t.Errorf("ParseJSON = %v, %v", v, err)
	}
}

func TestGlob(t *testing.T) {
	r := project(t, map[string]string{
		"a.md": "", "specs/1/tasks.md": "", "specs/2/tasks.md": "", "specs/2/deep/tasks.md": "", "specs/x.json": "", ".hidden/a.md": "",
		"inside": "->specs", "absolute": "->DIR/specs", "file": "->DIR/a.md", "out": "->/etc", "nowhere": "->missing", "loop": "->.", "odd [1]{a,b}*?/x,y.md": "",
	})
	for pattern, want := range map[string]string{
		"*.md":                       "a.md",
		"specs/*/tasks.md":           "specs/1/tasks.md specs/2/tasks.md",
		"specs/**/tasks.md":          "specs/1/tasks.md specs/2/deep/tasks.md specs/2/tasks.md",
		"specs/**/**/deep":           "specs/2/deep",
		"specs/":                     "specs",
		"specs/*/":                   "specs/1 specs/2",
		"a.md/":                      "",
		"./a.md":                     "a.md",
		"./":                         "",
		"{a.md,specs/[1-9]/t?sks.*}": "a.md specs/1/tasks.md specs/2/tasks.md",
		"{a,a}.md":                   "a.md",
		"**/a.md":                    ".hidden/a.md a.md",
		"inside/1/*":                 "inside/1/tasks.md",
		"absolute/1/*":               "absolute/1/tasks.md",
		"inside/":                    "inside",
		"{file,out,nowhere,loop}":    "file loop",
		"out/*":                      "",
		"out/hostname":               "",
		"missing/*":                  "",
		// What package rules makes of values.
		`odd \[1\]\{a[,]b\}\*\?/x[,]y.md`:     "odd [1]{a,b}*?/x,y.md",
		`{odd \[1\]\{a[,]b\}\*\?/x[,]y.md,z}`: "odd [1]{a,b}*?/x,y.md",
		`\*.md`:                               "", `a[\\]b`: "",
	} {
		got, err := r.Glob(t.Context(), pattern)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("Glob(%q) = %q, %v; want %q", pattern, got, err, want)
		}
	}
	for pattern, want := range map[string]string{
		"": "empty", "../*": `".."`, "/etc/*": "absolute", "a\x00": "NUL", "[a": "closed", "{a": "closed", `a\`: "closed",
		strings.Repeat("{a,b}", 7): "more than 100", strings.Repeat("a", maxPattern+1): "longer",
	} {
		if _, err := r.Glob(t.Context(), pattern); err == nil || !strings.Contains(err.Error(), want) || len(pattern) < 30 && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Glob(%q): %v, want %q", pattern, err, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := r.Glob(ended, "*"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

func TestGlobBounds(t *testing.T) {
	r := project(t, nil)
	for i := range maxMatches + 1 {
		f, err := os.Create(filepath.Join(r.Dir(), strings.Repeat("x", 1+i%5)+time.Duration(i).String()))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := r.Glob(t.Context(), "*"); err == nil || !strings.Contains(err.Error(), "matches more than 10000 files") {
		t.Errorf("too many matches: %v", err)
	}
	if _, err := r.Glob(t.Context(), "{"+strings.Repeat("*/a,", 10)+"*/b}"); err == nil || !strings.Contains(err.Error(), "looks at more than 100000 files") {
		t.Errorf("too many entries: %v", err)
	}
}

func TestPrune(t *testing.T) {
	files := map[string]string{
		"old": "", "new": "", "sub/old": "", "dir/old/": "", "link": "->old", "out": "->/etc", ".git/old": "", ".claude/settings.old.json": "", "alias": "->.git",
	}
	r := project(t, files)
	before := time.Now().Add(-time.Hour)
	for name := range files {
		if at := before.Add(-time.Hour); strings.Contains(name, "old") {
			if err := os.Chtimes(filepath.Join(r.Dir(), filepath.FromSlash(name)), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ pattern, want string }{{"{**/*,link}", "old sub/old"}, {"alias/*", ""}, {"out/*", ""}} {
		if got, err := r.Prune(t.Context(), c.pattern, before); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("Prune(%q) = %q, %v; want %q", c.pattern, got, err, c.want)
		}
	}
	left := tree(t, r)
	for _, name := range []string{"new", "link", ".git/old", ".claude/settings.old.json"} {
		if _, ok := left[name]; !ok {
			t.Errorf("%s was removed", name)
		}
	}
	if _, err := r.Prune(t.Context(), "../*", before); err == nil {
		t.Error("a path outside is no error")
	}
}

// Without a race detector this shows only that nothing is shared: a root serves many at once.
func TestConcurrentReads(t *testing.T) {
	r := project(t, map[string]string{"a": "a", "link": "->DIR/a"})
	done := make(chan bool)
	for range 8 {
		go func() {
			f, err := r.Read("link")
			paths, err2 := r.Glob(t.Context(), "*")
			done <- err == nil && err2 == nil && bytes.Equal(f.Bytes, []byte("a")) && len(paths) == 2
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("a reader failed")
		}
	}
}
