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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	f := &rules.Fact{Name: "run", Source: rules.SourceKind{Name: "exec", Argument: "words", Trust: "runs a program"}, Args: args}
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

// The approval of a fact's program covers the program, and what an interpreter runs. Other words are data, which an agent
// may edit.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a shell")
	}
	script := "#!/bin/sh\n"
	dir := project(t, map[string]string{
		"check.sh": script, "more.sh": script, "a b.sh": script, "bin/tool": script, "bin/python3.12": script, "data.txt": "", "tests/test_a.py": "",
		"app/__main__.py": "", "app/lib/part.py": "", "parts/10-first": script, "parts/20-second": script, "Makefile": "", "src/x.py": "",
	})
	outside := project(t, map[string]string{"tool.sh": script})
	if err := os.Symlink(filepath.Join(outside, "tool.sh"), filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	climbs := "../" + filepath.Base(outside) + "/tool.sh"
	none := []string(nil)
	for _, c := range []struct {
		args   []string
		covers []string // of the fact
		want   []string // what the approval covers
		open   string   // in what it does not cover
	}{
		// The program.
		{[]string{"./check.sh", "data.txt"}, nil, []string{"check.sh"}, "what ./check.sh reads in this project"},
		{[]string{"bin/tool"}, nil, []string{"bin/tool"}, "what bin/tool reads"},
		{[]string{filepath.Join(dir, "check.sh")}, nil, []string{"check.sh"}, "check.sh reads"},
		{[]string{"tool"}, nil, []string{"bin/tool"}, "what tool reads"},
		{[]string{climbs}, nil, []string{filepath.ToSlash(relative(t, dir, filepath.Join(outside, "tool.sh")))}, "tool.sh reads"},
		{[]string{"./link.sh"}, nil, []string{"link.sh"}, "what ./link.sh reads"},
		{[]string{"./nosuch.sh"}, nil, none, "what ./nosuch.sh reads"},

		// Data of a program.
		{[]string{"cat", "src/x.py"}, nil, none, "what cat reads in this project"},
		{[]string{"pytest", "tests"}, nil, none, "what pytest reads"},
		{[]string{"go", "vet", "."}, nil, none, "what go reads"},
		{[]string{"make", "--file=Makefile"}, nil, none, "what make reads"},
		{[]string{"git", "diff", "--", "check.sh"}, nil, none, "what git reads"},
		{[]string{"env", "sh", "check.sh"}, nil, none, "what env reads"},
		{[]string{"awk", "-f", "check.sh"}, nil, none, "what awk reads"},

		// What an interpreter runs.
		{[]string{"sh", "check.sh", "data.txt"}, nil, []string{"check.sh"}, "what check.sh reads"},
		{[]string{"/bin/sh", "-e", "check.sh"}, nil, []string{"check.sh"}, "what check.sh reads"},
		{[]string{"bash", "-euo", "pipefail", "check.sh"}, nil, []string{"check.sh"}, "what check.sh reads"},
		{[]string{"sh", "a b.sh"}, nil, []string{"a b.sh"}, "what a b.sh reads"},
		{[]string{"sh", "--", "./parts/../check.sh"}, nil, []string{"check.sh"}, "check.sh reads"},
		{[]string{"sh", climbs}, nil, []string{filepath.ToSlash(relative(t, dir, filepath.Join(outside, "tool.sh")))}, "tool.sh reads"},
		{[]string{"sh", "nosuch.sh"}, nil, none, "what nosuch.sh reads"},
		{[]string{"python3", "-W", "ignore", "-Xdev", "-u", "src/x.py"}, nil, []string{"src/x.py"}, "what src/x.py reads"},
		{[]string{"python3", "app"}, nil, []string{"app/"}, "what app reads"},
		{[]string{"bin/python3.12", "src/x.py"}, nil, []string{"bin/python3.12", "src/x.py"}, "what src/x.py reads"},
		{[]string{"node", "src/x.py"}, nil, []string{"src/x.py"}, "what src/x.py reads"},
		{[]string{"perl", "-w", "src/x.py"}, nil, []string{"src/x.py"}, "what src/x.py reads"},
		{[]string{"run-parts", "--exit-on-error", "parts"}, nil, []string{"parts/"}, "what parts reads"},

		// A form that the table does not know covers nothing.
		{[]string{"python3", "-m", "pytest"}, nil, none, "what python3 -m runs in this project"},
		{[]string{"python3", "-c", "import x"}, nil, none, "what python3 -c runs"},
		{[]string{"node", "--import", "./data.txt", "src/x.py"}, nil, none, "what node --import runs"},
		{[]string{"bash", "--rcfile", "check.sh", "-i"}, nil, none, "what bash --rcfile runs"},
		{[]string{"bash", "-i", "check.sh"}, nil, none, "what bash -i runs"},
		{[]string{"sh", "-"}, nil, none, "what sh - runs"},
		{[]string{"sh"}, nil, none, "what sh runs"},
		{[]string{"sh", "${path}"}, nil, none, "what sh runs in this project: a placeholder decides it"},

		// A text for a shell, if it is a list of plain commands.
		{[]string{"sh", "-c", "./check.sh && sh -e more.sh | tool; make test"}, nil, []string{"check.sh", "more.sh", "bin/tool"}, "what make reads"},
		{[]string{"bash", "-ec", "set -x\n. ./check.sh\nexec ./more.sh --fast"}, nil, []string{"check.sh", "more.sh"}, "what ./more.sh reads"},
		{[]string{"sh", "-c", `sh "a b.sh"`}, nil, none, "what sh -c runs in this project: its text has more than plain commands"},
		{[]string{"sh", "-c", "./check.sh $1"}, nil, none, "what sh -c runs"},
		{[]string{"sh", "-c", "sh *.sh"}, nil, none, "what sh -c runs"},
		{[]string{"sh", "-c", "sh a'b'"}, nil, none, "what sh -c runs"},
		{[]string{"sh", "-c", "cd parts; ./10-first"}, nil, none, "what sh -c runs"},
		{[]string{"sh", "-c", "BASH_ENV=check.sh bash more.sh"}, nil, none, "what sh -c runs"},
		{[]string{"sh", "-c", ". check.sh"}, nil, none, "what sh -c runs"}, // which PATH decides
		{[]string{"sh", "-c", ""}, nil, none, "what sh runs in this project: a placeholder decides it"},

		// covers: replaces all of that.
		{[]string{"make", "test"}, []string{"Makefile", "parts/*"}, []string{"Makefile", "parts/*"}, "what else make runs or reads"},
		{[]string{"./check.sh"}, []string{}, none, "what else ./check.sh runs or reads"},
		{[]string{"./check.sh"}, []string{"**/*.rb"}, []string{"**/*.rb"}, "what matches **/*.rb: no file does now"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			fact := runs(c.args...)
			fact.Covers = c.covers
			p := approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}
			a, err := p.Approval([]*rules.Fact{fact})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, covered := range a.Programs {
				got = append(got, covered.Name)
			}
			sorted := cmpopts.SortSlices(strings.Compare)
			if diff := cmp.Diff(c.want, got, sorted); diff != "" {
				t.Errorf("covered (-want +got)\n%s", diff)
			}
			if open := strings.Join(p.Open(fact), "\n"); !strings.Contains(open, c.open) {
				t.Errorf("not covered is %q, want %q in it", open, c.open)
			}
		})
	}
}

func relative(t *testing.T, from, to string) string {
	t.Helper()
	name, err := filepath.Rel(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// What is covered lapses with any change of it; what is not covered does not.
func TestLapses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a shell")
	}
	script := []string{"sh", "check.sh", "data.txt"}
	directory := []string{"run-parts", "parts"}
	for _, c := range []struct {
		name    string
		args    []string
		covers  []string
		file    string // is written, or removed if text is ""
		text    string
		refused string // what the check says; "" is nothing
	}{
		{"the script", script, nil, "check.sh", "exit 0", "check.sh changed since it was approved"},
		{"data", script, nil, "data.txt", "new", ""},
		{"a neighbour", script, nil, "more.sh", "new", ""},
		{"a script that did not exist", []string{"sh", "later.sh"}, nil, "later.sh", "x", "later.sh was not approved"},
		{"a file of the directory", directory, nil, "parts/1", "new", "parts/ changed since it was approved"},
		{"a new file of the directory", directory, nil, "parts/3", "new", "parts/ changed since it was approved"},
		{"a file less in the directory", directory, nil, "parts/2", "", "parts/ changed since it was approved"},
		{"a file of covers", []string{"make"}, []string{"Makefile", "parts/*"}, "Makefile", "new", "Makefile changed since it was approved"},
		{"a file that matches covers", []string{"make"}, []string{"Makefile", "parts/*"}, "parts/9", "new", "parts/* changed since it was approved"},
		{"a file that covers names and that did not exist", []string{"make"}, []string{"GNUmakefile"}, "GNUmakefile", "new", "GNUmakefile changed since it was approved"},
		{"a program that covers leaves out", []string{"./check.sh"}, []string{}, "check.sh", "new", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, map[string]string{"check.sh": "", "more.sh": "", "data.txt": "old", "parts/1": "", "parts/2": "", "Makefile": ""})
			fact := runs(c.args...)
			fact.Covers = c.covers
			own, p := store.Open(t.TempDir()), approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}
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
			path := filepath.Join(dir, c.file)
			if c.text == "" {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, []byte(c.text), 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = p.Check(own, fact)
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("it says %v, want %q", err, c.refused)
			}
			if err := p.Check(own, runs("true")); err != nil {
				t.Errorf("another fact: %v", err)
			}
		})
	}
}

// A script that a placeholder names starts only if the approval covers it, in a worktree too. Other values are data.
func TestValues(t *testing.T) {
	dir, tree := project(t, map[string]string{"check.sh": "a", "sub/evil.sh": "", "known.sh": "b"}), project(t, map[string]string{"check.sh": "a", "evil.sh": "", "known.sh": "other"})
	own := store.Open(t.TempDir())
	p := approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}
	script, data := runs("sh", "${value}"), runs("sh", "check.sh", "${value}")
	a, err := p.Approval([]*rules.Fact{script, data, runs("sh", "known.sh")})
	if err == nil {
		err = own.Approve(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, value, refused string }{
		{"", "nosuch.sh", ""},
		{"", "known.sh", ""},
		{"", "sub/evil.sh", "sub/evil.sh was not approved"},
		{"", filepath.Join(dir, "sub/evil.sh"), "sub/evil.sh was not approved"},
		{"", "\x00", ""},
		{"", strings.Repeat("x", 5000), ""},
		{tree, "evil.sh", "evil.sh was not approved"},
		{tree, "known.sh", "known.sh changed since it was approved"},
		{tree, filepath.Join(dir, "sub/evil.sh"), "sub/evil.sh was not approved"},
		{tree, filepath.Join(tree, "known.sh"), "known.sh changed since it was approved"},
	} {
		p.Dir = c.dir
		started := *script
		started.Args = []string{"sh", c.value}
		err := p.Check(own, &started)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("sh %.40q in %q: it says %v, want %q", c.value, c.dir, err, c.refused)
		}
		started = *data
		started.Args = []string{"sh", "check.sh", c.value}
		if err := p.Check(own, &started); err != nil {
			t.Errorf("sh check.sh %.40q in %q: it says %v", c.value, c.dir, err)
		}
	}
}

// A comment changes no approval; anything else in a policy does.
func TestMeaning(t *testing.T) {
	const policy = "ralph: 1\nfacts:\n  it: {exec: [true]}\nrules: []\n"
	own := store.Open(t.TempDir())
	p := approval.Policy{Root: project(t, nil), Name: "policy.yaml", Files: sources(policy)}
	a, err := p.Approval(nil)
	if err == nil {
		err = own.Approve(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	for src, same := range map[string]bool{
		policy: true,
		"# The author.\n" + policy + "# The end.\n":                               true,
		"ralph: 1\n\nfacts:\n    it: {exec: [true]} # why\nrules: []\n":           true,
		"ralph: 1\nfacts:\n  it: {exec: ['true']}\nrules: []\n":                   false,
		"ralph: 1\nfacts:\n  it: {exec: [\"true # not a comment\"]}\nrules: []\n": false,
		"ralph: 1\nfacts:\n  it: {exec: [false]}\nrules: []\n":                    false,
		"ralph: 1\nfacts:\n  is: {exec: [true]}\nrules: []\n":                     false,
		"ralph: 1\nfacts:\n  it: {exec: [true], timeout: 1s}\nrules: []\n":        false,
		"ralph: [1\n": false, // it cannot be parsed
	} {
		p.Files = sources(src)
		if err := p.Check(own, nil); (err == nil) != same {
			t.Errorf("%q: it says %v", src, err)
		}
	}
}

// A pipe or a device cannot be compared, nor a directory with too many files.
func TestNotComparable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such files")
	}
	files := map[string]string{}
	for i := range 1001 {
		files["many/"+strconv.Itoa(i)] = ""
	}
	dir := project(t, files)
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	covering := runs("make")
	covering.Covers = []string{"many/*"}
	for _, fact := range []*rules.Fact{runs("sh", "zero"), runs("./zero"), runs("run-parts", "many"), covering} {
		p := approval.Policy{Root: dir, Name: "policy.yaml", Files: sources("a")}
		if a, err := p.Approval([]*rules.Fact{fact}); err == nil {
			t.Errorf("%q is approved with %v", fact.Args, a.Programs)
		}
	}
}
