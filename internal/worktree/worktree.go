// Package worktree gives a run a git worktree and a branch of its own, and brings the branch back.
//
// It promises that nothing is lost: a branch that cannot be brought back stays, with its worktree. It runs git as the
// user would, but starts no program that the repository names, and without variables that lead git to another repository.
//
// Start with [Add].
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/gitsafe"
)

// Tree is a git worktree that Add made.
type Tree struct {
	Main   string // the main working tree
	Dir    string // the worktree
	Branch string // that is checked out in it
	Base   string // branch of the main working tree when the worktree was made, "" if none was checked out
}

// Add makes a worktree of the repository at main in dir, with a new branch at HEAD. The error says what to do.
func Add(ctx context.Context, main, dir, branch string) (Tree, error) {
	t := Tree{Main: main, Dir: dir, Branch: branch}
	if err := suitable(ctx, main); err != nil {
		return t, err
	}
	t.Base, _ = git(ctx, main, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return t, err
	}
	if _, err := git(ctx, main, "worktree", "add", "-b", branch, "--", dir, "HEAD"); err != nil {
		return t, fmt.Errorf("the worktree cannot be made: %w", err)
	}
	return t, nil
}

// suitable says why no worktree can be made of a repository.
func suitable(ctx context.Context, main string) error {
	top, err := git(ctx, main, "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("a worktree needs a git repository: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(top); err != nil || resolved != main {
		return fmt.Errorf("a worktree is made of a whole repository, and %s lies within %s: give --project %[2]s", main, top)
	}
	if _, err := git(ctx, main, "rev-parse", "--verify", "HEAD^{commit}"); err != nil {
		return errors.New("the repository has no commit yet: make one")
	}
	return nil
}

// Missing gives those of some files that exist in a working tree and that its HEAD does not have, so that a new worktree lacks
// them. The error says why there can be no worktree.
func Missing(ctx context.Context, main string, files []string) ([]string, error) {
	if err := suitable(ctx, main); err != nil {
		return nil, err
	}
	var missing []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(main, filepath.FromSlash(f))); err != nil {
			continue
		}
		if _, err := git(ctx, main, "cat-file", "-e", "HEAD:./"+f); err != nil {
			missing = append(missing, f)
		}
	}
	return missing, nil
}

// Merge brings the branch into the branch that it came from, by a fast-forward, and rebases it before where that branch has moved on. Then it removes the
// worktree and the branch. The error says why not, and what is left.
func (t Tree) Merge(ctx context.Context) error {
	kept := func(why string, args ...any) error {
		return fmt.Errorf("%s; the work is on the branch %s in %s", fmt.Sprintf(why, args...), t.Branch, t.Dir)
	}
	if t.Base == "" {
		return kept("no branch was checked out in %s", t.Main)
	}
	if now, _ := git(ctx, t.Main, "symbolic-ref", "--quiet", "--short", "HEAD"); now != t.Base {
		return kept("%s is not on %s any more", t.Main, t.Base)
	}
	if err := t.ours(ctx); err != nil {
		return kept("%v", err)
	}
	dirty, err := git(ctx, t.Dir, "status", "--porcelain", "--ignore-submodules=dirty")
	if err != nil {
		return kept("%v", err)
	}
	if dirty != "" {
		return kept("there are uncommitted changes")
	}
	if _, err := git(ctx, t.Main, "merge-base", "--is-ancestor", t.Base, t.Branch); err != nil {
		if _, err := git(ctx, t.Dir, "rebase", "--quiet", t.Base); err != nil {
			conflicts, _ := git(ctx, t.Dir, "diff", "--name-only", "--diff-filter=U")
			_, _ = git(ctx, t.Dir, "rebase", "--abort")
			if conflicts != "" {
				return kept("it conflicts with %s in %s", t.Base, strings.Join(strings.Fields(conflicts), ", "))
			}
			return kept("it cannot be rebased on %s: %v", t.Base, err)
		}
	}
	if _, err := git(ctx, t.Main, "merge", "--quiet", "--ff-only", t.Branch); err != nil {
		return kept("%s cannot be moved forward: %v", t.Base, err)
	}
	return t.Remove(ctx)
}

// ours checks that git takes the worktree for what Add made: an agent can write what leads git from there to a repository.
func (t Tree) ours(ctx context.Context) error {
	var common []string
	for _, dir := range []string{t.Main, t.Dir} {
		said, err := git(ctx, dir, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
		if err != nil {
			return err
		}
		top, repository, _ := strings.Cut(said, "\n")
		if !sameDir(top, dir) {
			return fmt.Errorf("git takes %s for the working tree of %s", top, dir)
		}
		common = append(common, repository)
	}
	if !sameDir(common[0], common[1]) {
		return fmt.Errorf("%s is not a worktree of %s any more", t.Dir, t.Main)
	}
	return nil
}

func sameDir(a, b string) bool {
	x, errX := filepath.EvalSymlinks(a)
	y, errY := filepath.EvalSymlinks(b)
	return errX == nil && errY == nil && x == y
}

// Remove removes the worktree, and its branch if that has nothing that the main working tree lacks. A worktree with changes stays, and the error says so.
func (t Tree) Remove(ctx context.Context) error {
	if _, err := gitIn(ctx, []string{t.Main, t.Dir}, "worktree", "remove", "--", t.Dir); err != nil {
		return fmt.Errorf("the worktree %s stays: %w", t.Dir, err)
	}
	if _, err := git(ctx, t.Main, "merge-base", "--is-ancestor", t.Branch, "HEAD"); err != nil {
		return fmt.Errorf("the branch %s stays: it has commits that are nowhere else", t.Branch)
	}
	_, err := git(ctx, t.Main, "branch", "--quiet", "-D", "--", t.Branch)
	return err
}

// maxMessage is how much of what git says goes into an error.
const maxMessage = 2 << 10

// maxList is how much configuration a repository may have.
const maxList = 1 << 20

// git runs git in a directory and gives what it prints. Its error is what it says. It starts no program that the repository names.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return gitIn(ctx, []string{dir}, args...)
}

// gitIn is git in the first of some directories, where it goes to the others too: each worktree can have a configuration of its own.
func gitIn(ctx context.Context, dirs []string, args ...string) (string, error) {
	settings := gitsafe.Always()
	for i, dir := range dirs {
		if _, err := os.Stat(dir); err != nil && i > 0 {
			continue
		}
		listed, err := run(ctx, dir, settings, gitsafe.List()...)
		if err == nil && len(listed) > maxList {
			err = fmt.Errorf("the configuration of the repository has more than %d MiB", maxList>>20)
		}
		if err == nil {
			settings, err = settings.Disarm(listed)
		}
		if err != nil {
			return "", err
		}
	}
	out, err := run(ctx, dirs[0], settings, args...)
	return strings.TrimSpace(out), err
}

func run(ctx context.Context, dir string, settings gitsafe.Settings, args ...string) (string, error) {
	program, err := gitsafe.Program(dir)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"--no-pager"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		return strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") || slices.Contains([]string{
			"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS",
		}, name)
	}), append(settings.Env(), "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(strings.ToValidUTF8(errs.String(), "\ufffd"))
		if len(said) > maxMessage {
			said = said[:maxMessage] + "…"
		}
		if said == "" {
			said = err.Error()
		}
		return "", errors.New(strings.TrimPrefix(said, "fatal: "))
	}
	return out.String(), nil
}
