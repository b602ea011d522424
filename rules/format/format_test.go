package format_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/rules/format"
)

func TestSource(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			want, err := os.ReadFile(golden)
			if err != nil && os.Getenv("UPDATE") == "" {
				t.Fatal(err)
			}
			got, err := format.Source(file, src)
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				want = got
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, err := format.Source(golden, got)
			if err != nil || string(again) != string(got) {
				t.Errorf("formatting it again: %v\n%s", err, cmp.Diff(string(got), string(again)))
			}
		})
	}
}

// Policies that ship are in the house style.
func TestShippedAreFormatted(t *testing.T) {
	err := fs.WalkDir(examples.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		src, err := fs.ReadFile(examples.FS, path)
		if err != nil {
			return err
		}
		got, err := format.Source(path, src)
		if err != nil || string(got) != string(src) {
			t.Errorf("%s: %v (-is +should be):\n%s", path, err, cmp.Diff(string(src), string(got)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSourceRefuses(t *testing.T) {
	for name, src := range map[string]string{
		"no YAML":          "ralph: 1\nrules: [\n",
		"a tag":            "ralph: 1\nrules:\n  - {name: a, when: !done, stop: x}\n",
		"empty":            "",
		"a duplicate key":  "ralph: 1\nralph: 1\n",
		"mixed line ends":  "ralph: 1\r\nrules: []\n",
		"a document start": "---\nralph: 1\n",
		"a key of dashes":  " ---: x\n",
		"not UTF-8":        "ralph: 1\ndescription: \xff\n",
	} {
		got, err := format.Source("p.yaml", []byte(src))
		var refused *format.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "p.yaml") {
			t.Errorf("%s: %q, %v", name, got, err)
			continue
		}
		if (name == "no YAML") != strings.Contains(refused.Findings.Format(), "p.yaml:2:8") {
			t.Errorf("%s: %s", name, refused.Findings.Format())
		}
	}
}

// Whatever is formatted means the same as before, and is formatted then.
func FuzzSource(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("../internal/source/testdata/clean/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range append(seeds, more...) {
		src, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	shipped, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range shipped {
		src, err := fs.ReadFile(examples.FS, seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := format.Source("p.yaml", src)
		if err != nil {
			return
		}
		again, err := format.Source("p.yaml", got)
		if err != nil {
			t.Fatalf("%q became %q, which cannot be formatted: %v", src, got, err)
		}
		if string(again) != string(got) {
			t.Fatalf("%q became %q and then %q", src, got, again)
		}
		cfg := rules.Config{Shipped: examples.FS}
		before, was := rules.Load(t.Context(), memory{src}, "p.yaml", cfg)
		after, is := rules.Load(t.Context(), memory{got}, "p.yaml", cfg)
		if (before == nil) != (after == nil) || len(was) != len(is) {
			t.Fatalf("%q became %q, of which is said %v and not %v", src, got, is, was)
		}
		if before == nil {
			return
		}
		names := func(p *rules.Program) (out []string) {
			for _, r := range p.Rules() {
				out = append(out, fmt.Sprint(r.Name, r.Verb))
			}
			return out
		}
		if diff := cmp.Diff(names(before), names(after)); diff != "" || len(before.Facts()) != len(after.Facts()) {
			t.Fatalf("%q became %q, which is another policy:\n%s", src, got, diff)
		}
	})
}

// memory is a file system of one file.
type memory struct{ src []byte }

func (m memory) Open(name string) (fs.File, error) {
	return fstest.MapFS{"p.yaml": {Data: m.src}}.Open(name)
}
