package approval_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// project makes a project, with programs that can be run.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runs(args ...string) *rules.Fact {
	return &rules.Fact{Name: "run", Source: rules.SourceKind{Name: "exec", Argv: true, Trust: "runs a program"}, Args: args}
}

func sources(contents ...string) []rules.File {
	names := []string{".ralph/policy.yaml", ".ralph/part.yaml", "ralph:guards/limit.yaml"}
	var files []rules.File
	for i, c := range contents {
		files = append(files, rules.File{Name: names[i], Src: []byte(c)})
	}
	return files
}

// Whatever else than what was approved is named.
func TestCheck(t *testing.T) {
	dir := project(t, nil)
	own := store.Open(t.TempDir())
	approved := approval.Policy{Root: dir, Name: ".ralph/policy.yaml", Files: sources("a", "b"), Params: map[string]string{"cmd": "make", "dir": "x"}}
	if err := approved.Check(own, nil); err == nil || err.Error() != "which is not approved yet: read .ralph/policy.yaml, then run: ralph trust .ralph/policy.yaml" {
		t.Errorf("before the approval: %v", err)
	}
	a, err := approved.Approval(nil)
	if err == nil {
		err = own.Approve(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(p *approval.Policy)
		want   string // in the error; "" is none
	}{
		{"nothing", func(*approval.Policy) {}, ""},
		{"the root", func(p *approval.Policy) { p.Root += "/clone" }, "not approved yet"},
		{"the name", func(p *approval.Policy) { p.Name = ".ralph/other.yaml" }, "not approved yet"},
		{"the policy", func(p *approval.Policy) { p.Files = sources("A", "b") }, ": .ralph/policy.yaml changed since it was approved. Read it"},
		{"an include", func(p *approval.Policy) { p.Files = sources("a", "B") }, ": .ralph/part.yaml changed since it was approved. Read it"},
		{"both", func(p *approval.Policy) { p.Files = sources("ab", "") }, ": .ralph/policy.yaml changed since it was approved, .ralph/part.yaml changed since it was approved. Read it"},
		{"a file more", func(p *approval.Policy) { p.Files = sources("a", "b", "c") }, "ralph:guards/limit.yaml was not part of it"},
		{"a file less", func(p *approval.Policy) { p.Files = sources("a") }, ".ralph/part.yaml is not part of it any more"},
		{"one file, read twice with different bytes", func(p *approval.Policy) { p.Files = append(p.Files, sources("a", "B")[1]) }, ".ralph/part.yaml changed since it was approved"},
		{"a value", func(p *approval.Policy) { p.Params["cmd"] = "rm" }, `gives cmd the value "rm"; approved is "make"`},
		{"a value more", func(p *approval.Policy) { p.Params["more"] = "y" }, `gives more the value "y", which was not approved`},
		{"a value less", func(p *approval.Policy) { delete(p.Params, "cmd") }, `no longer gives cmd the value "make"`},
		{"a value of the command line", func(p *approval.Policy) { delete(p.Params, "cmd"); p.Chosen = []string{"cmd"} }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := approved
			p.Params = maps.Clone(p.Params)
			c.change(&p)
			err := p.Check(own, nil)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v, want %q", err, c.want)
			}
		})
	}
}

// Why a policy is not approved stays whole, whatever a value of the project says; what to do stands apart.
func TestMissing(t *testing.T) {
	own := store.Open(t.TempDir())
	p := approval.Policy{Root: project(t, nil), Name: ".ralph/policy.yaml", Files: sources("a", "b")}
	a, err := p.Approval(nil)
	if err == nil {
		err = own.Approve(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Params = map[string]string{"cmd": "x: read . Read it, y"}
	var missing *approval.Missing
	if !errors.As(p.Check(own, nil), &missing) {
		t.Fatal("it is approved with another value")
	}
	want := approval.Missing{
		Why: `which is not approved any more: the project's configuration gives cmd the value "x: read . Read it, y", which was not approved`,
		Way: ". Read it, then run: ralph trust .ralph/policy.yaml",
	}
	if *missing != want {
		t.Errorf("it says %q, want %q", *missing, want)
	}
}

// Of what a fact runs, the files of the project are covered, by whatever words.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a shell")
	}
	files := map[string]string{"check.sh": "#!/bin/sh\n", "bin/tool": "#!/bin/sh\n", "data.txt": "", "env.sh": ""}
	dir := project(t, files)
	outside := project(t, map[string]string{"tool.sh": "#!/bin/sh\n"})
	if err := os.Symlink(filepath.Join(outside, "tool.sh"), filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct {
		name    string
		args    []string
		changes string // this file changes; "" is none that is covered
	}{
		{"a path", []string{"./check.sh"}, "check.sh"},
		{"a path without a dot", []string{"bin/tool"}, "bin/tool"},
		{"an absolute path", []string{filepath.Join(dir, "check.sh")}, "check.sh"},
		{"a name that PATH finds in the project", []string{"tool"}, "bin/tool"},
		{"a path that climbs", []string{"../" + filepath.Base(outside) + "/tool.sh"}, outside + "/tool.sh"},
		{"a link that leads out", []string{"./link.sh"}, outside + "/tool.sh"},
		{"the script of a shell", []string{"sh", "-e", "env.sh"}, "env.sh"},
		{"the script of an interpreter", []string{"/usr/bin/python3", "check.sh", "data.txt"}, "check.sh"},
		{"the text of a shell", []string{"sh", "-c", "cat data.txt"}, ""},
		{"data of a program", []string{"cat", "data.txt"}, ""},
		{"a script that an event names", []string{"sh", "${path}"}, ""},
		{"what is not there", []string{"./nosuch.sh"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := store.Open(t.TempDir())
			p, fact := approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}, runs(c.args...)
			a, err := p.Approval([]*rules.Fact{fact})
			if err == nil {
				err = own.Approve(a)
			}
			if err == nil {
				err = p.Check(own, fact)
			}
			if err != nil {
				t.Fatal(err)
			}
			if (len(a.Programs) == 0) != (c.changes == "") {
				t.Fatalf("the approval covers %v", a.Programs)
			}
			if c.changes == "" {
				return
			}
			path := c.changes
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			old, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, append(old, "echo pwned\n"...), 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Check(own, fact); err == nil || !strings.Contains(err.Error(), a.Programs[0].Name+" changed since it was approved") {
				t.Errorf("it says %v", err)
			}
			if err := p.Check(own, runs("true")); err != nil {
				t.Errorf("another fact: %v", err)
			}
			if err := os.WriteFile(path, old, 0o755); err != nil {
				t.Fatal(err)
			}
		})
	}
}
