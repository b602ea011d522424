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
	"sync"
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
	trees   *sync.Mutex
}

// inTurn makes a change of the trees after all others: git fails if it adds a tree and sees another one that is half there.
func (p places) inTurn(change func() error) error {
	p.trees.Lock()
	defer p.trees.Unlock()
	return change()
}

// errElsewhere means that a worker has no branch of a run, and no remote to fetch it from.
var errElsewhere = errors.New("the branch of the run is not here")

func openPlaces(ctx context.Context, project, dir, remote string) (places, error) {
	p := places{project: project, dir: dir, remote: remote, trees: new(sync.Mutex)}
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
		cmd.Env = append(cmd.Env, "GIT_DIR="+p.own(tree), "GIT_WORK_TREE="+dir)
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

// tree returns the directory of an attempt's tree.
func (p places) tree(run, attempt string) string { return filepath.Join(p.dir, dotted(run, attempt)) }

func dotted(run, attempt string) string { return run + "." + strings.ReplaceAll(attempt, "/", ".") }

// settle makes this worker the place of a run, whose branch begins at a commit. A branch that is here stays; with a remote
// it moves forward to the one there.
func (p places) settle(ctx context.Context, run, base string) error {
	branch := heads + branchOf(run)
	if p.remote != "" {
		there, err := p.git(ctx, p.project, "ls-remote", "--", p.remote, branch, latest(run))
		if err != nil {
			return err
		}
		at, fetch := "", []string{"fetch", "--quiet", "--no-tags", p.remote}
		for line := range strings.Lines(there) {
			commit, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if fetch = append(fetch, ref); ref == branch {
				at = commit
			}
		}
		if at != "" {
			if _, err := p.git(ctx, p.project, fetch...); err != nil {
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

// begin returns the clean tree of an attempt, on a branch of its own that begins at the run's branch. What a killed worker left
// of others is committed to their branches first: nothing else works on the run.
func (p places) begin(ctx context.Context, run, attempt string) (dir string, err error) {
	if err := p.salvage(ctx, run); err != nil {
		return "", err
	}
	dir = p.tree(run, attempt)
	own := branchOf(dotted(run, attempt))
	return dir, p.inTurn(func() error {
		_, err := p.git(ctx, p.project, "worktree", "add", "--quiet", "-B", own, dir, heads+branchOf(run))
		return err
	})
}

// keep commits what is in a tree and git does not ignore to the attempt's branch, and removes the tree. The commit contains the
// run's branch; it is "" if there is nothing new. Whatever an agent did to branches and HEAD, nothing of it is lost.
func (p places) keep(ctx context.Context, run, attempt, message string) (commit string, err error) {
	dir, base := p.tree(run, attempt), heads+branchOf(run)
	_ = os.Remove(filepath.Join(p.own(dir), "index.lock")) // of a killed git
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
	own := heads + branchOf(dotted(run, attempt))
	if at, _ := p.git(ctx, p.project, "rev-parse", base); at == commit {
		_, err = p.git(ctx, p.project, "update-ref", "-d", own)
		return "", errors.Join(err, p.remove(dir))
	}
	if _, err = p.git(ctx, p.project, "update-ref", own, commit); err == nil {
		err = p.remove(dir)
	}
	return commit, err
}

// latest is the ref on a remote with the latest attempt of a run, whether it counts or not.
func latest(run string) string { return "refs/ralph/" + run }

// offer puts the commit of an attempt on the remote, so that another worker can merge it.
func (p places) offer(ctx context.Context, run, commit string) error {
	if p.remote == "" || commit == "" {
		return nil
	}
	_, err := p.git(ctx, p.project, "push", "--quiet", "--force", p.remote, commit+":"+latest(run))
	return err
}

// merge moves the run's branch forward to a commit, also on the remote, and removes the branches of attempts that it has. To do
// it again does nothing.
func (p places) merge(ctx context.Context, run, commit string) error {
	branch := heads + branchOf(run)
	old, err := p.git(ctx, p.project, "rev-parse", "--verify", branch)
	if err != nil {
		return err
	}
	if commit == "" {
		commit = old // an iteration that changed nothing
	}
	if _, err := p.git(ctx, p.project, "merge-base", "--is-ancestor", commit, old); err != nil {
		if _, err := p.git(ctx, p.project, "merge-base", "--is-ancestor", old, commit); err != nil {
			return fmt.Errorf("%s has moved, and does not lead to %s", branchOf(run), commit)
		}
		if _, err := p.git(ctx, p.project, "update-ref", branch, commit, old); err != nil {
			return err
		}
	}
	own, err := p.git(ctx, p.project, "for-each-ref", "--format=%(refname)", "--merged="+branch, branch+".*")
	for ref := range strings.FieldsSeq(own) {
		_, gone := p.git(ctx, p.project, "update-ref", "-d", ref)
		err = errors.Join(err, gone)
	}
	return errors.Join(err, p.push(ctx, run))
}

func (p places) push(ctx context.Context, run string) error {
	if p.remote == "" {
		return nil
	}
	_, err := p.git(ctx, p.project, "push", "--quiet", p.remote, heads+branchOf(run))
	return err
}

// own returns the directory in which git keeps what belongs to a tree.
func (p places) own(dir string) string {
	return filepath.Join(p.common, "worktrees", filepath.Base(dir))
}

// remove removes a tree, whatever a killed git left of it.
func (p places) remove(dir string) error {
	return p.inTurn(func() error { return errors.Join(os.RemoveAll(dir), os.RemoveAll(p.own(dir))) })
}

// salvage commits what attempts of a run left that no worker finished, to their branches, and removes their trees. The run "*"
// is every one of this clone.
func (p places) salvage(ctx context.Context, run string) (err error) {
	dirs, _ := filepath.Glob(filepath.Join(p.dir, run+".*"))
	for _, dir := range dirs {
		if _, gone := os.Stat(p.own(dir)); gone != nil && run == "*" {
			continue // of another clone
		}
		name, attempt, _ := strings.Cut(filepath.Base(dir), ".")
		if _, broken := p.git(ctx, dir, "rev-parse", "--git-dir"); broken != nil {
			err = errors.Join(err, p.remove(dir)) // git was killed before the agent started
		} else if _, keep := p.keep(ctx, name, attempt, "what a lost attempt left"); keep != nil {
			err = errors.Join(err, keep)
		}
	}
	return err
}
