package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/worktree"
)

// repo is a repository with one commit.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, initialize ...string) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	for _, kv := range []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"} {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repo{t, dir}
	r.git(dir, append([]string{"init", "-q", "-b", "main"}, initialize...)...)
	r.commit(dir, "a.txt", "one\n")
	return r
}

func (r repo) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repo) write(dir, name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r repo) commit(dir, name, text string) {
	r.t.Helper()
	r.write(dir, name, text)
	r.git(dir, "add", "-A")
	r.git(dir, "commit", "-q", "-m", name)
}

func (r repo) tree() worktree.Tree {
	r.t.Helper()
	tree, err := worktree.Add(r.t.Context(), r.dir, filepath.Join(r.t.TempDir(), "trees", "one"), "ralph/one")
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r repo, tree worktree.Tree)
		want string            // in the error; "" is none
		main map[string]string // files of the main tree afterwards
	}{
		{"a fast-forward", func(r repo, tree worktree.Tree) { r.commit(tree.Dir, "b.txt", "two\n") }, "", map[string]string{"b.txt": "two\n"}},
		{"nothing", func(repo, worktree.Tree) {}, "", map[string]string{"a.txt": "one\n"}},
		{"a rebase", func(r repo, tree worktree.Tree) {
			r.commit(tree.Dir, "b.txt", "two\n")
			r.commit(r.dir, "c.txt", "three\n")
		}, "", map[string]string{"b.txt": "two\n", "c.txt": "three\n"}},
		{"a conflict", func(r repo, tree worktree.Tree) {
			r.commit(tree.Dir, "a.txt", "theirs\n")
			r.commit(r.dir, "a.txt", "ours\n")
		}, "it conflicts with main in a.txt; the work is on the branch ralph/one", map[string]string{"a.txt": "ours\n"}},
		{"a detached HEAD", func(r repo, tree worktree.Tree) {
			r.git(tree.Dir, "checkout", "-q", "--detach")
			r.commit(tree.Dir, "b.txt", "two\n")
		}, "is no longer on ralph/one", nil},
		{"uncommitted work", func(r repo, tree worktree.Tree) { r.write(tree.Dir, "b.txt", "two\n") }, "uncommitted changes", nil},
		{"the user works on the same file", func(r repo, tree worktree.Tree) {
			r.commit(tree.Dir, "a.txt", "theirs\n")
			r.write(r.dir, "a.txt", "in progress\n")
		}, "main cannot be moved forward", map[string]string{"a.txt": "in progress\n"}},
		{"the user is on another branch", func(r repo, tree worktree.Tree) { r.git(r.dir, "checkout", "-q", "-b", "other") }, "is no longer on main", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepo(t)
			tree := r.tree()
			c.do(r, tree)
			err := tree.Merge(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Merge returns %v, want %q", err, c.want)
			}
			for name, want := range c.main {
				if got, _ := os.ReadFile(filepath.Join(r.dir, name)); string(got) != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			branches := r.git(r.dir, "branch", "--list", "ralph/one")
			if _, gone := os.Stat(tree.Dir); (gone != nil) != (err == nil) || (branches == "") != (err == nil) {
				t.Errorf("after %v: the worktree is gone: %v, branches %q", err, gone != nil, branches)
			}
			if got := r.git(r.dir, "status", "--porcelain", "--branch"); strings.Contains(got, "rebas") {
				t.Errorf("a rebase is in progress: %s", got)
			}
		})
	}
}

// The user's own settings apply in the work tree and after the merge, as the user's git sees them.
func TestMergeOfTheUsersRepository(t *testing.T) {
	for name, c := range map[string]struct {
		initialize, setup [][]string
		attributes        string
		files             map[string]string // of the worktree at first
	}{
		"line endings":               {nil, [][]string{{"config", "core.autocrlf", "true"}}, "", map[string]string{"a.txt": "one\r\n"}},
		"line endings by attributes": {nil, nil, "* text eol=crlf\n", map[string]string{"a.txt": "one\r\n"}},
		"SHA-256":                    {[][]string{{"--object-format=sha256"}}, nil, "", map[string]string{"a.txt": "one\n"}},
		"a sparse checkout":          {nil, [][]string{{"sparse-checkout", "set", "sub"}}, "", map[string]string{"a.txt": "one\n", "other/o.txt": ""}},
		"packed references":          {nil, [][]string{{"pack-refs", "--all"}, {"gc", "-q"}}, "", map[string]string{"a.txt": "one\n"}},
		"an upstream":                {nil, [][]string{{"config", "branch.main.remote", "."}, {"config", "branch.main.merge", "refs/heads/main"}}, "", nil},
		"no reflog":                  {nil, [][]string{{"config", "core.logAllRefUpdates", "false"}}, "", nil},
		"a branch with an odd name":  {nil, [][]string{{"checkout", "-qb", "feature/#1-ü"}}, "", nil},
		"another worktree":           {nil, [][]string{{"worktree", "add", "-q", "-b", "w", "../w"}}, "", nil},
		"filters": {nil, [][]string{{"config", "filter.lfs.smudge", "tr a-z A-Z"}, {"config", "filter.lfs.clean", "tr A-Z a-z"}, {"config", "filter.lfs.required", "true"}},
			"a.txt filter=lfs\n", map[string]string{"a.txt": "one\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, slices.Concat(c.initialize...)...)
			for _, dir := range []string{"sub", "other"} {
				if err := os.Mkdir(filepath.Join(r.dir, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			r.write(r.dir, ".gitattributes", c.attributes)
			r.write(r.dir, "other/o.txt", "o\n")
			r.commit(r.dir, "sub/s.txt", "s\n")
			for _, args := range c.setup {
				r.git(r.dir, args...)
			}
			tree := r.tree()
			for name, want := range c.files {
				if got, _ := os.ReadFile(filepath.Join(tree.Dir, name)); string(got) != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			r.commit(tree.Dir, "sub/b.txt", "two\n")
			r.git(r.dir, "pack-refs", "--all")
			r.commit(r.dir, "sub/c.txt", "three\n")
			if err := tree.Merge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.git(r.dir, "log", "--format=%s", "-3"); got != "sub/b.txt\nsub/c.txt\nsub/s.txt" {
				t.Errorf("the commits are %q", got)
			}
			for what, args := range map[string][]string{"status": {"status", "--porcelain"}, "branches": {"branch", "--list", "ralph/*"}, "fsck": {"fsck", "--no-dangling"}} {
				if got := r.git(r.dir, args...); got != "" {
					t.Errorf("%s: %s", what, got)
				}
			}
		})
	}
}

// The project of a run can be a linked worktree, or a submodule.
func TestMergeIntoLinked(t *testing.T) {
	r := newRepo(t)
	super := filepath.Dir(r.dir)
	r.git(r.dir, "worktree", "add", "-q", "-b", "side", filepath.Join(super, "linked"))
	r.git(super, "init", "-q", "super")
	r.git(filepath.Join(super, "super"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.dir, "sub")
	for _, name := range []string{"linked", "super/sub"} {
		r.dir = filepath.Join(super, filepath.FromSlash(name))
		tree := r.tree()
		r.commit(tree.Dir, "b.txt", "two\n")
		r.commit(r.dir, "c.txt", "three\n")
		if err := tree.Merge(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := r.git(r.dir, "log", "--format=%s", "-2") + r.git(r.dir, "status", "--porcelain"); got != "b.txt\nc.txt" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A commit that must be signed is not made without.
func TestMergeSigns(t *testing.T) {
	r := newRepo(t)
	tree := r.tree()
	r.commit(tree.Dir, "b.txt", "two\n")
	r.commit(r.dir, "c.txt", "three\n")
	r.git(r.dir, "config", "commit.gpgSign", "true")
	if err := tree.Merge(t.Context()); err == nil || !strings.Contains(err.Error(), "commit.gpgSign is set") {
		t.Errorf("Merge returns %v", err)
	}
}

func TestAddRefuses(t *testing.T) {
	r := newRepo(t)
	sub := filepath.Join(r.dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	r.git(empty, "init", "-q")
	empty, _ = filepath.EvalSymlinks(empty)
	for _, c := range []struct{ main, want string }{
		{t.TempDir(), "needs a git repository"},
		{sub, "is within"},
		{empty, "has no commit yet"},
	} {
		if _, err := worktree.Add(t.Context(), c.main, filepath.Join(t.TempDir(), "x"), "b"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.main, err, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	r := newRepo(t)
	r.write(r.dir, "new.txt", "x")
	got, err := worktree.Missing(t.Context(), r.dir, []string{"a.txt", "new.txt", "nowhere.txt"})
	if diff := cmp.Diff([]string{"new.txt"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	outside := t.TempDir()
	r.write(outside, "a.txt", "x")
	if got, err := worktree.Missing(t.Context(), outside, []string{"a.txt"}); err == nil || !strings.Contains(err.Error(), "needs a git repository") {
		t.Errorf("outside of a repository it is %q (%v)", got, err)
	}
}

// No hook of the repository runs.
func TestNoHooks(t *testing.T) {
	r := newRepo(t)
	hook := filepath.Join(r.dir, ".git", "hooks", "post-checkout")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree := r.tree()
	for _, dir := range []string{r.dir, tree.Dir} {
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("it ran in %s", dir)
		}
	}
}
