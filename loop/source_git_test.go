package loop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// git runs git in the project, without anyone's configuration.
func (p *project) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = p.dir
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }) // the tests may run in a hook of git
	cmd.Env = append(environ, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

const gitShown = `${missing(g) ? problem(g) : "branch " + g.branch + " dirty " + string(g.dirty) + " changed " + join(g.changed, ",") + " ahead " + string(g.ahead)}`

func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	p := newProject(t, map[string]string{"a/old name": "x", "a/kept": "x", "b/other": "x"})
	l := p.loop(shown(`g: {git: a}`, gitShown))
	says := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, said(p.run(l, p.stop()))); diff != "" {
			t.Error(diff)
		}
	}
	says("there is no git repository")
	p.git("init", "-q", "-b", "main")
	says("branch main dirty true changed a/ ahead 0")
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	says("branch main dirty false changed  ahead 0")
	p.write("b/other", "changed elsewhere")
	says("branch main dirty false changed  ahead 0")
	p.git("mv", "a/old name", "a/new\nname")
	p.write("a/kept", "changed")
	p.write("a/new", "untracked")
	says("branch main dirty true changed a/kept,a/new,a/new\nname ahead 0")
	p.git("checkout", "-q", "--detach")
	says("branch  dirty true changed a/kept,a/new,a/new\nname ahead 0")
}

// An agent that runs in a hook of git has variables that lead to another repository.
func TestGitIsOfTheProject(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	p := newProject(t, map[string]string{"f": "x"})
	p.git("init", "-q", "-b", "main")
	other := newProject(t, nil)
	other.git("init", "-q", "-b", "other")
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	l := p.loop(shown(`g: {git: .}`, gitShown))
	if got := said(p.run(l, p.stop())); got != "branch main dirty true changed f ahead 0" {
		t.Errorf("it says %q", got)
	}
}

// Repository, branch and path are shown in one call that takes no lock.
func TestGitTakesNoLock(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	p := newProject(t, map[string]string{"f": "x"})
	p.git("init", "-q", "-b", "main")
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	p.write(".git/index.lock", "") // the agent is committing
	l := p.loop(shown(`g: {git: .}`, gitShown+` ${g.repo} ${len(g.head)}`))
	if got := said(p.run(l, p.stop())); got != "branch main dirty false changed  ahead 0 true 40" {
		t.Errorf("it says %q", got)
	}
}

// A path from a file is a path to git, not an option and not a pattern.
func TestGitPathsAreLiteral(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	p := newProject(t, map[string]string{"a": "x", "--help": "x"})
	p.git("init", "-q", "-b", "main")
	l := p.loop(shown(`g: {git: "${env.AT}"}`, gitShown))
	for at, want := range map[string]string{"*": "dirty false", ":(top)": "dirty false", "--help": "changed --help", "a": "changed a "} {
		p.env["AT"] = at
		if got := said(p.run(l, p.stop())); !strings.Contains(got, want) {
			t.Errorf("%q: it says %q, want %q", at, got, want)
		}
	}
}
