// Package worktree gives a run its own git worktree and branch, and merges the branch. Nothing is lost: a branch that
// cannot be merged stays, with its worktree. Package [git] runs git.
//
// Start with [Add].
package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/internal/git"
)

// Tree is a git worktree of a run.
type Tree struct {
	Main   string // the main working tree
	Dir    string // the worktree
	Branch string // the branch checked out in it
	Base   string // the main working tree's branch when the worktree was made, or ""
}

// heads is the prefix of a branch's full name. git could take a short name for an option.
const heads = "refs/heads/"

// repo is a repository that git can run in.
type repo struct{ *git.Repo }

// open prepares to run git in a working tree. The caller must close the repository.
func open(ctx context.Context, dir string) (repo, error) {
	r, err := git.Find(dir)
	switch {
	case err != nil:
	case r.Top != dir:
		err = fmt.Errorf("a worktree is made of a whole repository, and %s is within %s: give --project %[2]s", dir, r.Top)
	default:
		if err = r.Pipes(); err == nil {
			err = r.Open(ctx)
		}
	}
	return repo{r}, err
}

// git runs git and returns its output without the final line end.
func (r repo) git(ctx context.Context, args ...string) (string, error) {
	out, err := r.Run(ctx, args...)
	return strings.TrimSpace(out), err
}

// branch returns the branch that is checked out, or "".
func (r repo) branch(ctx context.Context) string {
	head, _ := r.git(ctx, "symbolic-ref", "--quiet", "HEAD")
	branch, _ := strings.CutPrefix(head, heads)
	return branch
}

// has reports whether a commit contains another.
func (r repo) has(ctx context.Context, commit, other string) bool {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", other, commit)
	return err == nil
}

// Add creates a worktree of the repository at main in dir, with a new branch at HEAD. The error says what to do.
func Add(ctx context.Context, main, dir, branch string) (Tree, error) {
	t := Tree{Main: main, Dir: dir, Branch: branch}
	r, err := suitable(ctx, main)
	if err != nil {
		return t, err
	}
	defer r.Close()
	t.Base = r.branch(ctx)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return t, err
	}
	if err := r.AddTree(ctx, branch, dir); err != nil {
		return t, fmt.Errorf("the worktree cannot be made: %w", err)
	}
	return t, nil
}

// suitable opens a repository that can have a worktree. The error says why it cannot.
func suitable(ctx context.Context, main string) (repo, error) {
	r, err := open(ctx, main)
	if errors.Is(err, git.ErrNone) {
		err = fmt.Errorf("a worktree needs a git repository: %w", err)
	}
	if err == nil {
		if _, none := r.git(ctx, "rev-parse", "--verify", "HEAD^{commit}"); none != nil {
			r.Close()
			err = errors.New("the repository has no commit yet: make one")
		}
	}
	return r, err
}

// Missing returns those of files that exist in a working tree but not in its HEAD, so that a new worktree lacks them.
// The error is why there can be no worktree.
func Missing(ctx context.Context, main string, files []string) ([]string, error) {
	r, err := suitable(ctx, main)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var missing []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(main, filepath.FromSlash(f))); err != nil {
			continue
		}
		if _, err := r.git(ctx, "cat-file", "-e", "HEAD:./"+f); err != nil {
			missing = append(missing, f)
		}
	}
	return missing, nil
}

// Merge merges the branch into the branch from which it was created, by a fast-forward, after rebasing it if that
// branch has new commits. It then removes the worktree and the branch. The error says why it could not, and what is
// left.
func (t Tree) Merge(ctx context.Context) error {
	if err := t.merge(ctx); err != nil {
		return fmt.Errorf("%w; the work is on the branch %s in %s", err, t.Branch, t.Dir)
	}
	return t.Remove(ctx)
}

func (t Tree) merge(ctx context.Context) error {
	main, err := open(ctx, t.Main)
	if err != nil {
		return err
	}
	defer main.Close()
	tree, err := open(ctx, t.Dir)
	if err != nil {
		return err
	}
	defer tree.Close()
	switch {
	case !tree.LinkedTo(main.Repo): // an agent can change what leads git from there to a repository
		return fmt.Errorf("%s is no longer a worktree of %s", t.Dir, t.Main)
	case t.Base == "":
		return fmt.Errorf("no branch was checked out in %s", t.Main)
	case main.branch(ctx) != t.Base:
		return fmt.Errorf("%s is no longer on %s", t.Main, t.Base)
	case tree.branch(ctx) != t.Branch:
		return fmt.Errorf("%s is no longer on %s", t.Dir, t.Branch)
	}
	dirty, err := tree.git(ctx, "status", "--porcelain", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	if dirty != "" {
		return errors.New("there are uncommitted changes")
	}
	if !main.has(ctx, heads+t.Branch, heads+t.Base) {
		if err := t.rebase(ctx, tree); err != nil {
			return err
		}
	}
	if _, err := main.git(ctx, "merge", "--quiet", "--ff-only", heads+t.Branch); err != nil {
		return fmt.Errorf("%s cannot be moved forward: %w", t.Base, err)
	}
	return nil
}

func (t Tree) rebase(ctx context.Context, tree repo) error {
	if tree.Signed {
		return fmt.Errorf("it must be rebased on %s, and commit.gpgSign is set, but ralph does not sign commits: rebase it yourself", t.Base)
	}
	_, err := tree.git(ctx, "rebase", "--quiet", heads+t.Base)
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	conflicts, _ := tree.git(ctx, "diff", "--name-only", "--diff-filter=U")
	_, _ = tree.git(ctx, "rebase", "--abort")
	if conflicts != "" {
		return fmt.Errorf("it conflicts with %s in %s", t.Base, strings.ReplaceAll(conflicts, "\n", ", "))
	}
	return fmt.Errorf("it cannot be rebased on %s: %w", t.Base, err)
}

// Remove removes the worktree, and its branch if the main working tree contains it. A worktree with changes stays, and
// the error says so.
func (t Tree) Remove(ctx context.Context) error {
	r, err := open(ctx, t.Main)
	if err == nil {
		defer r.Close()
		_, err = r.git(ctx, "worktree", "remove", "--", t.Dir)
	}
	if err != nil {
		return fmt.Errorf("the worktree %s is kept: %w", t.Dir, err)
	}
	if !r.has(ctx, "HEAD", heads+t.Branch) {
		return fmt.Errorf("the branch %s is kept: it has commits that are nowhere else", t.Branch)
	}
	_, err = r.git(ctx, "branch", "--quiet", "-D", "--", t.Branch)
	return err
}
