package approval_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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

// runs is a fact as the policy writes it: a word with a placeholder is not known.
func runs(args ...string) *rules.Fact {
	f := &rules.Fact{Name: "run", Source: rules.SourceKind{Name: "exec", Argv: true, Trust: "runs a program"}, Args: args}
	for _, arg := range args {
		if strings.Contains(arg, "${path}") || strings.Contains(arg, "${value}") {
			arg = ""
		}
		f.Known = append(f.Known, arg)
	}
	return f
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
	if err := approved.Check(own, nil); err == nil || err.Error() != "which is not approved yet: read .ralph/policy.yaml, then run `ralph trust .ralph/policy.yaml`" {
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
		{"a file less", func(p *approval.Policy) { p.Files = sources("a") }, ".ralph/part.yaml is no longer part of it"},
		{"one file, read twice with different bytes", func(p *approval.Policy) { p.Files = append(p.Files, sources("a", "B")[1]) }, ".ralph/part.yaml changed since it was approved"},
		{"a value", func(p *approval.Policy) { p.Params["cmd"] = "rm" }, `sets cmd to "rm"; approved is "make"`},
		{"a value more", func(p *approval.Policy) { p.Params["more"] = "y" }, `sets more to "y", which was not approved`},
		{"a value less", func(p *approval.Policy) { delete(p.Params, "cmd") }, `no longer sets cmd to "make"`},
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

// The reason that a policy is not approved stays whole, whatever values of the project it quotes; what to do is
// separate.
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
		Why: `which is not approved in its current form: the project's configuration sets cmd to "x: read . Read it, y", which was not approved`,
		Way: ". Read it, then run `ralph trust .ralph/policy.yaml`",
	}
	if *missing != want {
		t.Errorf("it says %q, want %q", *missing, want)
	}
}

// The approval of a fact's program covers the files of the project that it runs, however they are spelled.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a shell")
	}
	files := map[string]string{
		"check.sh": "#!/bin/sh\n", "bin/tool": "#!/bin/sh\n", "data.txt": "", "env.sh": "", "sub/in.sh": "", "a b.sh": "", "@args": "",
	}
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
		{"behind an option with a value", []string{"bash", "-euo", "pipefail", "check.sh"}, "check.sh"},
		{"behind another option with a value", []string{"python3", "-W", "ignore", "check.sh"}, "check.sh"},
		{"behind a program that starts others", []string{"env", "sh", "check.sh"}, "check.sh"},
		{"behind variables", []string{"env", "A=1", "nice", "-n", "5", "./check.sh"}, "check.sh"},
		{"a name of PATH behind a program", []string{"env", "tool"}, "bin/tool"},
		{"the program of awk", []string{"awk", "-f", "check.sh"}, "check.sh"},
		{"joined with the option", []string{"awk", "-fcheck.sh"}, "check.sh"},
		{"joined with options", []string{"perl", "-wncheck.sh"}, "check.sh"},
		{"behind an equals sign", []string{"make", "--file=check.sh"}, "check.sh"},
		{"a variable that names one", []string{"env", "BASH_ENV=./env.sh", "bash", "-c", "true"}, "env.sh"},
		{"a list of files", []string{"gawk", "--include=env.sh,check.sh"}, "env.sh"},
		{"a list of directories", []string{"tool2", "--path=sub:bin", "in.sh"}, "sub/in.sh"},
		{"a file of arguments", []string{"javac", "@args"}, "@args"},
		{"a file of arguments by its mark", []string{"curl", "-d", "@data.txt"}, "data.txt"},
		{"in a text for a shell", []string{"sh", "-c", "set -e; . ./check.sh && true"}, "check.sh"},
		{"in a text for env", []string{"env", "-S", "sh check.sh --fast"}, "check.sh"},
		{"quoted in a text", []string{"sh", "-c", `sh "a b.sh"`}, "a b.sh"},
		{"behind a variable in a text", []string{"sh", "-c", `"$PWD"/check.sh`}, "check.sh"},
		{"behind a variable in quotes", []string{"sh", "-c", `"${PWD}/check.sh"`}, "check.sh"},
		{"in a substitution", []string{"sh", "-c", "echo `sh check.sh`$(true)"}, "check.sh"},
		{"in another directory", []string{"env", "-C", "sub", "sh", "in.sh"}, "sub/in.sh"},
		{"in another directory of a text", []string{"sh", "-c", "cd sub; exec sh in.sh"}, "sub/in.sh"},
		{"a name with a blank", []string{"sh", "a b.sh"}, "a b.sh"},
		{"behind the end of options", []string{"sh", "--", "./sub/../check.sh"}, "check.sh"},
		{"by its absolute path in an option", []string{"awk", "--file=" + filepath.Join(dir, "check.sh")}, "check.sh"},
		{"data of a program", []string{"cat", "data.txt"}, "data.txt"},
		{"words of no file", []string{"sh", "-c", "echo data txt; ls sub"}, ""},
		{"a script that an event names", []string{"sh", "${path}"}, ""},
		{"what does not exist", []string{"./nosuch.sh"}, ""},
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
			if err := p.Check(own, fact); err == nil || !strings.Contains(err.Error(), " changed since it was approved") {
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

// What an approval does not know when it is given is compared when the program is started: a value that names a file of the
// project is refused, in a worktree too, unless the file is covered by another word.
func TestValues(t *testing.T) {
	dir, tree := project(t, map[string]string{"check.sh": "a", "sub/evil.sh": "", "sub/x": "", "known.sh": "b"}), project(t, map[string]string{"check.sh": "a", "evil.sh": "", "known.sh": "other"})
	own := store.Open(t.TempDir())
	p := approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}
	fact := runs("sh", "check.sh", "${value}")
	a, err := p.Approval([]*rules.Fact{fact, runs("sh", "known.sh")})
	if err == nil {
		err = own.Approve(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, value, refused string }{
		{"", "a value", ""}, {"", "", ""}, {"", "sub", ""}, {"", "nosuch.sh", ""}, {"", "known.sh", ""}, {"", "I changed sub/evil.sh, and so on", ""}, {"", strings.Repeat("x", 5000), ""}, {"", "\x00", ""},
		{"", "sub/evil.sh", "sub/evil.sh was not approved"},
		{"", filepath.Join(dir, "sub/evil.sh"), "sub/evil.sh was not approved"},
		{"", "file=sub/evil.sh", "sub/evil.sh was not approved"},
		{"", "-xsub/evil.sh", "sub/evil.sh was not approved"},
		{"", strings.Repeat("a,b=c:", 100_000), ""},
		{tree, "a value", ""},
		{tree, "evil.sh", "evil.sh was not approved"},
		{tree, "known.sh", "known.sh changed since it was approved"},
		{tree, filepath.Join(dir, "sub/evil.sh"), "sub/evil.sh was not approved"},
		{tree, filepath.Join(tree, "known.sh"), "known.sh changed since it was approved"},
	} {
		started := *fact
		started.Args = []string{"sh", "check.sh", c.value}
		p.Dir = c.dir
		err := p.Check(own, &started)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%.40q in %q: it says %v, want %q", c.value, c.dir, err, c.refused)
		}
	}
}

// A pipe or a device cannot be compared, and a command line with words without end is not looked up.
func TestNotComparable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such files")
	}
	dir := project(t, nil)
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{"zero", manyWords()} {
		p := approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}
		if a, err := p.Approval([]*rules.Fact{runs("sh", arg)}); err == nil {
			t.Errorf("%.20s: it is approved with %v", arg, a.Programs)
		}
	}
}

func manyWords() string {
	var b strings.Builder
	for i := range 300_000 {
		b.WriteString(" x" + strconv.Itoa(i))
	}
	return b.String()
}
