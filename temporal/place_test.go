package temporal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func sh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// clones returns a bare repository with a commit, and two clones of it.
func clones(t *testing.T) (one, two places, base string) {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, `git init -q -b main a; cd a; echo ignored >.gitignore; echo 0 >n; git add .; git commit -qm first
cd ..; git clone -q --bare a origin; git clone -q origin one; git clone -q origin two`)
	for name, p := range map[string]*places{"one": &one, "two": &two} {
		var err error
		if *p, err = openPlaces(t.Context(), filepath.Join(dir, name), filepath.Join(dir, "trees-"+name), "origin"); err != nil {
			t.Fatal(err)
		}
	}
	return one, two, sh(t, one.project, "git rev-parse HEAD")
}

// Whatever an agent does in its tree is in a commit that continues the run's branch, and on the remote after the merge.
func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		name, agent string
		log, files  string // subjects after the first commit, latest first, and files then
	}{
		{"nothing", "true", "", ".gitignore n"},
		{"it changes, adds, ignores and removes", "echo 1 >n; echo x >new; echo x >ignored; rm .gitignore; git -c core.excludesFile=x status >/dev/null; echo ignored >.git/info/exclude 2>/dev/null || echo ignored >>.gitignore", "iteration", ".gitignore n new"},
		{"it commits", "echo 1 >n; git commit -qam own", "own", ".gitignore n"},
		{"it commits and changes", "echo 1 >n; git commit -qam own; echo 2 >n; git add n", "iteration own", ".gitignore n"},
		{"another branch", "git checkout -qb mine; echo 1 >n; git commit -qam own", "own", ".gitignore n"},
		{"a commit without parents", "git checkout -q --orphan mine; git rm -qf n; git commit -qm orphan", "iteration orphan", ".gitignore"},
		{"its .git leads elsewhere", "git init -q ../../other; echo gitdir: ../../other/.git >.git; echo 1 >n", "iteration", ".gitignore n"},
		{"no .git", "rm .git; echo 1 >n", "iteration", ".gitignore n"},
		{"its git was killed", "touch $(git rev-parse --git-path index.lock); echo 1 >n", "iteration", ".gitignore n"},
		{"hooks", `mkdir h; printf '#!/bin/sh\ntouch hooked; exit 1\n' >h/pre-push; chmod +x h/*; cp h/pre-push h/reference-transaction; git config core.hooksPath "$PWD/h"`, "iteration", ".gitignore h/pre-push h/reference-transaction n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, two, base := clones(t)
			ctx := t.Context()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(one.settle(ctx, "r", base))
			dir, err := one.begin(ctx, "r", "1/1")
			must(err)
			sh(t, dir, c.agent)
			commit, err := one.keep(ctx, "r", "1/1", "iteration")
			must(err)
			if at := sh(t, one.project, "git rev-parse ralph/r"); at != base {
				t.Errorf("the run's branch is at %s before the merge", at)
			}
			must(one.merge(ctx, "r", commit))
			must(one.merge(ctx, "r", commit))
			if left := sh(t, one.project, "git branch --list 'ralph/r.*'; ls "+one.dir); left != "" {
				t.Errorf("left are %q", left)
			}
			must(two.settle(ctx, "r", "")) // another worker continues it
			dir, err = two.begin(ctx, "r", "1/2")
			must(err)
			log := strings.Join(strings.Fields(sh(t, dir, "git log --format=%s "+base+"..HEAD")), " ")
			files := strings.Join(strings.Fields(sh(t, dir, "git ls-files")), " ")
			if log != c.log || files != c.files {
				t.Errorf("there are commits %q with %q, want %q with %q", log, files, c.log, c.files)
			}
		})
	}
}

// A lost attempt's work is on a branch, and the next attempt begins without it. Without a remote no other worker can continue.
func TestLostAttempt(t *testing.T) {
	one, two, base := clones(t)
	one.remote, two.remote = "", ""
	ctx := t.Context()
	if err := one.settle(ctx, "r", base); err != nil {
		t.Fatal(err)
	}
	dir, err := one.begin(ctx, "r", "1/1")
	if err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "echo half >n")
	if dir, err = one.begin(ctx, "r", "2/3"); err != nil {
		t.Fatal(err)
	}
	if lost, now := sh(t, one.project, "git show ralph/r.1.1:n"), sh(t, dir, "cat n"); lost != "half" || now != "0" {
		t.Errorf("the lost attempt has %q, and the next one begins with %q", lost, now)
	}
	if err := two.settle(ctx, "r", ""); err != errElsewhere {
		t.Errorf("another worker has it: %v", err)
	}
	if err := one.salvage(ctx, "*"); err != nil {
		t.Fatal(err)
	}
	if left := sh(t, one.project, "ls "+one.dir+"; git worktree list | sed 1d; git branch --list 'ralph/r.2*'"); left != "" {
		t.Errorf("left are %q", left)
	}
}

// A worker that git was killed in begins the attempt again.
func TestKilledGit(t *testing.T) {
	one, _, base := clones(t)
	ctx := t.Context()
	if err := one.settle(ctx, "r", base); err != nil {
		t.Fatal(err)
	}
	sh(t, one.project, "mkdir -p .git/worktrees/r.1.1 "+one.dir+"/r.1.1; echo initializing >.git/worktrees/r.1.1/locked; echo "+one.dir+"/r.1.1/.git >.git/worktrees/r.1.1/gitdir")
	dir, err := one.begin(ctx, "r", "1/1")
	if err != nil {
		t.Fatal(err)
	}
	if n := sh(t, dir, "cat n"); n != "0" {
		t.Errorf("the tree has %q", n)
	}
}

// An iteration whose worker is gone before its merge is merged by another one.
func TestMergeElsewhere(t *testing.T) {
	one, two, base := clones(t)
	ctx := t.Context()
	if err := one.settle(ctx, "r", base); err != nil {
		t.Fatal(err)
	}
	dir, err := one.begin(ctx, "r", "1/1")
	if err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "echo 1 >n")
	commit, err := one.keep(ctx, "r", "1/1", "iteration 1")
	if err == nil {
		err = one.offer(ctx, "r", commit)
	}
	if err == nil {
		err = two.settle(ctx, "r", "")
	}
	if err == nil {
		err = two.merge(ctx, "r", commit)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := sh(t, two.project, "git show origin/ralph/r:n 2>/dev/null || git ls-remote origin refs/heads/ralph/r"); !strings.HasPrefix(n, commit) && n != "1" {
		t.Errorf("the remote has %q", n)
	}
}

// Git fails if it adds a tree beside one that is half there: attempts of many runs begin and end at once.
func TestManyAttempts(t *testing.T) {
	one, _, base := clones(t)
	var runs sync.WaitGroup
	for i := range 40 {
		run := fmt.Sprint("r", i)
		sh(t, one.project, "git branch ralph/"+run+" "+base)
		runs.Go(func() {
			for _, attempt := range []string{"1/1", "2/2"} {
				if _, err := one.begin(t.Context(), run, attempt); err != nil {
					t.Error(err)
				} else if _, err := one.keep(t.Context(), run, attempt, "iteration"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	runs.Wait()
}
