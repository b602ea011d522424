package temporal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A run has a place: the worker with a clone of its repository, in which the run has a branch. Each attempt of an iteration
// has a work tree and a branch of its own, which begin at the run's branch. What an agent made is committed to the attempt's
// branch, and the run's branch moves forward to it, and never back. Only commits move between machines.

// places are the trees of the runs that a worker has.
type places struct {
	project string // the top of the clone
	common  string // its git directory, by which an agent's .git is not asked
	dir     string // of the trees
	remote  string // to which the branches of runs are pushed, "" for none
}

// errElsewhere means that a worker has no branch of a run, and no remote to fetch it from.
var errElsewhere = errors.New("the branch of the run is not here")

func openPlaces(ctx context.Context, project, dir, remote string) (places, error) {
	p := places{project: project, dir: dir, remote: remote}
	top, err := p.git(ctx, project, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
	if err != nil {
		return p, fmt.Errorf("a worker needs a clone of the project: %w", err)
	}
	p.project, p.common, _ = strings.Cut(top, "\n")
	if remote != "" {
		if _, err := p.git(ctx, p.project, "remote", "get-url", "--", remote); err != nil {
			return p, fmt.Errorf("--remote must name a remote of %s: %w", p.project, err)
		}
	}
	return p, os.MkdirAll(dir, 0o700)
}

// git runs git and returns its output without the last line end. No hook and no pager runs, and nothing asks a person.
func (p places) git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "branch.autoSetupMerge=false", "-c", "user.name=ralph", "-c", "user.email=ralph@localhost",
		"-c", "core.packedRefsTimeout=10000", "-c", "core.filesRefLockTimeout=10000"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if tree, ok := strings.CutPrefix(dir, p.dir+string(filepath.Separator)); ok && p.dir != "" { // whatever an agent wrote into .git
		cmd.Env = append(cmd.Env, "GIT_DIR="+filepath.Join(p.common, "worktrees", tree), "GIT_WORK_TREE="+dir)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git %s: %s", args[0], cmp.Or(said, err.Error()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

const heads = "refs/heads/"

// branchOf returns the name of a run's branch.
func branchOf(run string) string { return "ralph/" + run }

// tree returns the directory of an attempt's tree, or with "" of the tree that has the run's branch.
func (p places) tree(run, attempt string) string { return filepath.Join(p.dir, dotted(run, attempt)) }

func dotted(run, attempt string) string {
	if attempt == "" {
		return run
	}
	return run + "." + strings.ReplaceAll(attempt, "/", ".")
}

// settle makes this worker the place of a run, whose branch begins at a commit. A branch that is here stays; with a remote
// it moves forward to the one there.
func (p places) settle(ctx context.Context, run, base string) error {
	branch := heads + branchOf(run)
	if p.remote != "" {
		if at, err := p.git(ctx, p.project, "ls-remote", "--", p.remote, branch); err != nil {
			return err
		} else if at != "" {
			at, _, _ = strings.Cut(at, "\t")
			if _, err := p.git(ctx, p.project, "fetch", "--quiet", "--no-tags", p.remote, branch); err != nil {
				return err
			}
			if _, err := p.git(ctx, p.project, "update-ref", branch, at, ""); err == nil {
				return nil
			}
			return p.merge(ctx, run, at) // it is here, too
		}
	}
	if _, err := p.git(ctx, p.project, "rev-parse", "--verify", "--quiet", branch); err == nil {
		return nil
	}
	if base == "" {
		return errElsewhere
	}
	if _, err := p.git(ctx, p.project, "cat-file", "-e", base+"^{commit}"); err != nil && p.remote != "" {
		if _, err := p.git(ctx, p.project, "fetch", "--quiet", "--no-tags", p.remote, base); err != nil {
			return err
		}
	}
	_, err := p.git(ctx, p.project, "update-ref", branch, base, "")
	if err == nil {
		err = p.push(ctx, run)
	}
	return err
}

// open returns a clean tree of the run's branch, in which the policy decides. What a killed worker left there is gone: it is
// decided again.
func (p places) open(ctx context.Context, run string) (dir string, err error) {
	return p.add(ctx, run, "", "--detach", heads+branchOf(run))
}

// begin returns the tree of an attempt. It begins at the run's branch.
func (p places) begin(ctx context.Context, run, attempt string) (dir string, err error) {
	return p.add(ctx, run, attempt, "-b", branchOf(dotted(run, attempt)), heads+branchOf(run))
}

func (p places) add(ctx context.Context, run, attempt string, args ...string) (string, error) {
	dir := p.tree(run, attempt)
	if err := p.remove(ctx, run, attempt); err != nil {
		return "", err
	}
	last := len(args) - 1
	args = append([]string{"worktree", "add", "--quiet"}, append(args[:last:last], dir, args[last])...)
	_, err := p.git(ctx, p.project, args...)
	return dir, err
}

// keep commits what is in a tree and git does not ignore. It returns the commit, which contains the run's branch; that is
// the commit itself if nothing changed. Whatever an agent did to branches and HEAD, nothing of it is lost.
func (p places) keep(ctx context.Context, run, attempt, message string) (commit string, err error) {
	dir, base := p.tree(run, attempt), heads+branchOf(run)
	if _, err := p.git(ctx, dir, "add", "--all"); err != nil {
		return "", err
	}
	tree, err := p.git(ctx, dir, "write-tree")
	if err != nil {
		return "", err
	}
	parents := []string{base}
	if head, err := p.git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		_, forward := p.git(ctx, dir, "merge-base", "--is-ancestor", base, head)
		if old, _ := p.git(ctx, dir, "rev-parse", head+"^{tree}"); old == tree && forward == nil {
			commit = head
		}
		if parents = []string{head}; forward != nil {
			parents = []string{base, head}
		}
	}
	if commit == "" {
		args := []string{"commit-tree", tree, "-m", message}
		for _, parent := range parents {
			args = append(args, "-p", parent)
		}
		if commit, err = p.git(ctx, dir, args...); err != nil {
			return "", err
		}
	}
	if attempt != "" {
		_, err = p.git(ctx, p.project, "update-ref", heads+branchOf(dotted(run, attempt)), commit)
	}
	return commit, err
}

// merge moves the run's branch forward to a commit, also on the remote. To do it again does nothing.
func (p places) merge(ctx context.Context, run, commit string) error {
	branch := heads + branchOf(run)
	old, err := p.git(ctx, p.project, "rev-parse", "--verify", branch)
	if err != nil {
		return err
	}
	if _, err := p.git(ctx, p.project, "merge-base", "--is-ancestor", commit, old); err != nil {
		if _, err := p.git(ctx, p.project, "merge-base", "--is-ancestor", old, commit); err != nil {
			return fmt.Errorf("%s has moved, and does not lead to %s", branchOf(run), commit)
		}
		if _, err := p.git(ctx, p.project, "update-ref", branch, commit, old); err != nil {
			return err
		}
	}
	return p.push(ctx, run)
}

func (p places) push(ctx context.Context, run string) error {
	if p.remote == "" {
		return nil
	}
	_, err := p.git(ctx, p.project, "push", "--quiet", p.remote, heads+branchOf(run))
	return err
}

// remove removes a tree, and the branch of an attempt if the run's branch has all of it.
func (p places) remove(ctx context.Context, run, attempt string) error {
	dir := p.tree(run, attempt)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if _, err := p.git(ctx, p.project, "worktree", "prune"); err != nil || attempt == "" {
		return err
	}
	own := heads + branchOf(dotted(run, attempt))
	if _, err := p.git(ctx, p.project, "merge-base", "--is-ancestor", own, heads+branchOf(run)); err == nil {
		_, err = p.git(ctx, p.project, "update-ref", "-d", own)
		return err
	}
	return nil // no such branch, or it has more
}

// salvage commits what attempts of a run left that this worker did not finish, and removes their trees. Their branches stay.
func (p places) salvage(ctx context.Context, run string) error {
	dirs, err := filepath.Glob(filepath.Join(p.dir, run+".*"))
	for _, dir := range dirs {
		attempt := strings.TrimPrefix(filepath.Base(dir), run+".")
		if _, keep := p.keep(ctx, run, attempt, "what a lost iteration left"); keep != nil {
			err = errors.Join(err, keep)
			continue
		}
		err = errors.Join(err, p.remove(ctx, run, attempt))
	}
	return err
}
