package loop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A vector is a way in which a repository names a program that git status runs.
type vector struct {
	name string
	// make makes the repository. run is a command line that leaves a trace and then
	// does what the commands after it say.
	make func(p *project, run func(then string) string)
	at   string // the project in the new directory
}

// filtered is a repository with a file that a filter must look at to see whether it
// changed.
func filtered(p *project, attributes string) {
	p.git("init", "-q", "-b", "main")
	p.write("f", "text")
	p.git("add", "f")
	p.git("commit", "-qm", "first")
	p.write(attributes, "f filter=x\n")
	p.touched("f")
}

// touched sets another time on a file, so that git compares its content.
func (p *project) touched(name string) {
	p.t.Helper()
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.path(name), at, at); err != nil {
		p.t.Fatal(err)
	}
}

// script makes a program of the project that runs a command line, since a
// configuration cannot hold all of them.
func (p *project) script(name, command string) string {
	p.t.Helper()
	p.write(name, "#!/bin/sh\n"+command+"\n")
	if err := os.Chmod(p.path(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return p.path(name)
}

func vectors() []vector {
	return []vector{
		{"file system monitor", func(p *project, run func(string) string) {
			p.git("init", "-q", "-b", "main")
			p.git("config", "core.fsmonitor", run("false"))
		}, ""},
		{"filter", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.git("config", "filter.x.clean", run("cat"))
		}, ""},
		{"filter that must work", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.git("config", "filter.x.clean", run("cat"))
			p.git("config", "filter.x.required", "true")
		}, ""},
		{"filter process", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.git("config", "filter.x.process", run("false"))
		}, ""},
		{"filter by attributes of the repository", func(p *project, run func(string) string) {
			filtered(p, ".git/info/attributes")
			p.git("config", "filter.x.clean", run("cat"))
		}, ""},
		{"filter by attributes elsewhere", func(p *project, run func(string) string) {
			filtered(p, "attributes")
			p.git("config", "core.attributesFile", p.path("attributes"))
			p.git("config", "filter.x.clean", run("cat"))
		}, ""},
		{"filter in an included file", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.write("more", "[filter \"x\"]\n\tclean = \""+run("cat")+"\"\n")
			p.git("config", "include.path", "../more")
		}, ""},
		{"filter in a file included on a condition", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.write("more", "[filter \"x\"]\n\tclean = \""+run("cat")+"\"\n")
			p.git("config", "includeIf.onbranch:main.path", "../more")
		}, ""},
		{"filter of a work tree", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.git("config", "extensions.worktreeConfig", "true")
			p.git("config", "--worktree", "filter.x.clean", run("cat"))
		}, ""},
		{"filter with an odd name", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.write(".gitattributes", "f filter=A.b=c.clean\"\n")
			p.git("config", "filter.A.b=c.clean\".clean", run("cat"))
		}, ""},
		{"filter with a name that is no text", func(p *project, run func(string) string) {
			filtered(p, ".gitattributes")
			p.write(".gitattributes", "f filter=\xff\xfe\n")
			p.git("config", "filter.\xff\xfe.clean", run("cat"))
		}, ""},
		{"hook", func(p *project, run func(string) string) {
			filtered(p, "other")
			p.script(".git/hooks/post-index-change", run("true"))
		}, ""},
		{"hook elsewhere", func(p *project, run func(string) string) {
			filtered(p, "other")
			p.script("hooks/post-index-change", run("true"))
			p.git("config", "core.hooksPath", "hooks")
		}, ""},
		{"monitor of a submodule", func(p *project, run func(string) string) {
			sub := newProject(p.t, nil)
			filtered(sub, "other")
			p.git("init", "-q", "-b", "main")
			p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
			p.git("-C", "sub", "config", "core.fsmonitor", run("false"))
		}, ""},
		{"filter of a submodule", func(p *project, run func(string) string) {
			sub := newProject(p.t, nil)
			filtered(sub, "other")
			p.git("init", "-q", "-b", "main")
			p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
			p.git("-C", "sub", "config", "filter.x.clean", run("cat"))
			p.write("sub/.gitattributes", "f filter=x\n")
			p.touched("sub/f")
		}, ""},
		{"bare repository in a folder", func(p *project, run func(string) string) {
			p.git("init", "-q", "-b", "main")
			p.git("init", "-q", "--bare", "sub")
			p.git("--git-dir=sub", "config", "core.bare", "false")
			p.git("--git-dir=sub", "config", "core.worktree", ".")
			p.git("--git-dir=sub", "config", "core.fsmonitor", run("false"))
		}, "sub"},
		{"repository that a file leads to", func(p *project, run func(string) string) {
			p.git("init", "-q", "--separate-git-dir", p.path("elsewhere"))
			p.git("config", "core.fsmonitor", run("false"))
		}, ""},
		{"objects that are fetched", func(p *project, run func(string) string) {
			p.git("init", "-q", "-b", "main")
			p.write("old", strings.Repeat("some line\n", 50))
			p.git("add", "old")
			p.git("commit", "-qm", "first")
			out, err := exec.Command("git", "-C", p.dir, "rev-parse", "HEAD:old").Output()
			if err != nil {
				p.t.Fatal(err)
			}
			blob := strings.TrimSpace(string(out))
			p.git("mv", "old", "new")
			p.write("new", strings.Repeat("some line\n", 50)+"one more\n")
			p.git("add", "new")
			if err := os.Remove(p.path(".git/objects/" + blob[:2] + "/" + blob[2:])); err != nil {
				p.t.Fatal(err)
			}
			p.git("config", "core.repositoryFormatVersion", "1")
			p.git("config", "extensions.partialClone", "origin")
			p.git("config", "remote.origin.promisor", "true")
			p.git("config", "remote.origin.url", p.dir)
			p.git("config", "remote.origin.uploadpack", run("false"))
			p.git("config", "protocol.allow", "always")
		}, ""},
	}
}

// No configuration of a repository starts a program that git status otherwise runs.
func TestGitRunsNoProgramOfTheRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no git, or no shell")
	}
	for _, v := range vectors() {
		t.Run(v.name, func(t *testing.T) {
			p := newProject(t, nil)
			trace := filepath.Join(t.TempDir(), "ran")
			v.make(p, func(then string) string { return "touch " + trace + "; " + then })
			ran := func() bool {
				_, err := os.Stat(trace)
				return err == nil && os.Remove(trace) == nil
			}
			p.dir = p.path(v.at)
			cmd := exec.Command("git", "status", "--porcelain")
			cmd.Dir = p.dir
			cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }), "GIT_CONFIG_GLOBAL="+os.DevNull)
			out, _ := cmd.CombinedOutput()
			if !ran() {
				t.Skipf("this git does not run it: %s", out)
			}
			p.touchedAgain("f")
			d := p.run(p.loop(shown(`g: {git: .}`, gitShown)), p.stop())
			if ran() {
				t.Errorf("the program ran; it says %q", said(d))
			}
		})
	}
}

// touchedAgain touches a file once more, if it exists: git may have remembered its time.
func (p *project) touchedAgain(name string) {
	if at := time.Now().Add(-2 * time.Hour); os.Chtimes(p.path(name), at, at) != nil {
		_ = os.Chtimes(p.path("sub/"+name), at, at)
	}
}

// No filter runs, not even the user's own: Git LFS starts programs that the repository names.
func TestGitRunsNoFilterOfTheUser(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no git, or no shell")
	}
	p := newProject(t, nil)
	user := newProject(t, nil)
	user.write("config", "[filter \"x\"]\n\tclean = touch "+user.path("ran")+"; cat\n")
	t.Setenv("GIT_CONFIG_GLOBAL", user.path("config"))
	filtered(p, ".git/info/attributes")
	if got := said(p.run(p.loop(shown(`g: {git: .}`, gitShown)), p.stop())); got != "branch main dirty false changed  ahead 0" {
		t.Errorf("it says %q", got)
	}
	if _, err := os.Stat(user.path("ran")); err == nil {
		t.Error("the filter ran")
	}
}

// The fact is about the directory in which the repository was found, not about the one that its configuration names.
func TestGitWorkTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	other := newProject(t, map[string]string{"private": "x"})
	p := newProject(t, map[string]string{"f": "x", "deep/er/f": "x"})
	p.git("init", "-q", "-b", "main")
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	p.git("config", "core.worktree", other.dir)
	l := p.loop(shown(`g: {git: .}`, gitShown))
	if got := said(p.run(l, p.stop())); got != "branch main dirty false changed  ahead 0" {
		t.Errorf("it says %q", got)
	}
	p.git("config", "--unset", "core.worktree")
	p.git("worktree", "add", "-q", "-b", "side", filepath.Join(other.dir, "tree"))
	for dir, want := range map[string]string{
		filepath.Join(p.dir, "deep", "er"):             "branch main dirty true changed deep/er/f ahead 0",
		filepath.Join(other.dir, "tree", "deep", "er"): "branch side dirty false changed  ahead 0",
	} {
		if strings.HasPrefix(dir, p.dir) {
			p.write("deep/er/f", "y")
		}
		ev := p.stop()
		ev.Cwd = dir
		if got := said(p.run(l, ev)); got != want {
			t.Errorf("%s: it says %q, want %q", dir, got, want)
		}
	}
}
