// Package git asks git about a work tree and starts no program that a repository or a configuration names.
//
// git reads only a configuration that this package writes: the values of the keys in [kept], with which git cannot start anything. For
// that, a temporary common directory (GIT_COMMON_DIR) has this configuration and links to the objects, references and work trees of the
// repository; git then sees neither the repository's configuration nor its hooks. The home directory, the system's configuration and
// GIT_* of the environment are hidden in the same way. A bare repository is never used, since a clone can contain one, nor a repository
// that a file .git names and that does not name that work tree.
//
// It leaves out everything that changes a repository. Start with [Read].
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
)

// Status is what git says of a path.
type Status struct {
	Dirty   bool
	Changed []string // paths from the repository's top, as git status lists them, sorted; a new directory ends with a slash
	Branch  string   // "" if HEAD is detached
	Ahead   int      // commits that its upstream lacks
}

const (
	timeout   = 2 * time.Second // of a Read without a deadline
	maxOutput = 1 << 20         // bytes that git may print
)

// kept are the configuration keys that git may read. They say how files, names and objects are stored, and which branch tracks which.
// None of them names a program.
const kept = `^(core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|longpaths|fscache|autocrlf|eol|trustctime` +
	`|checkstat|excludesfile|attributesfile|sparsecheckout|sparsecheckoutcone)|extensions\..*|branch\..*\.(remote|merge)|remote\..*\.fetch)$`

// left are extensions without effect once the rest of the configuration is gone: git lists the values of a work tree, and objects are not
// fetched.
var left = []string{"extensions.worktreeconfig", "extensions.partialclone"}

// Read asks git about a path below a project, with a configuration of ralph's own: nothing that the repository's configuration names is
// run. The path is literal. Without git, a repository, or anything at the path, now or in the last commit, the error is fs.ErrNotExist. If
// ctx has no deadline, Read takes two seconds at most.
func Read(ctx context.Context, project, path string) (Status, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	r, err := find(project)
	if err != nil {
		return Status{}, err
	}
	out, err := inside(ctx, r, project, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=normal", "--ignore-submodules=dirty", "--", path)
	if err != nil {
		return Status{}, err
	}
	s := parse(strings.ToValidUTF8(out, "\ufffd"))
	if _, err := os.Lstat(filepath.Join(project, path)); errors.Is(err, fs.ErrNotExist) && !s.Dirty { // nothing there is not clean
		return Status{}, fmt.Errorf("there is no %s: %w", path, fs.ErrNotExist)
	}
	return s, nil
}

// Tracked reports whether git tracks a file. Without git or a repository it does not.
func Tracked(ctx context.Context, file string) bool {
	dir := filepath.Dir(file)
	r, err := find(dir)
	if err != nil {
		return false
	}
	out, err := inside(ctx, r, dir, "ls-files", "-z", "--", filepath.Base(file))
	return err == nil && out != ""
}

// inside runs git for a repository that points back, with a configuration of its own.
func inside(ctx context.Context, r *repo, dir string, args ...string) (string, error) {
	g, err := newGit(r, dir)
	if err != nil {
		return "", err
	}
	if err := g.pointsBack(ctx, r); err != nil {
		return "", err
	}
	own, err := os.MkdirTemp("", "ralph-git-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(own)
	if err := g.hide(ctx, r, own); err != nil {
		return "", err
	}
	return g.run(ctx, args...)
}

// git runs git for one work tree.
type git struct {
	program, dir string
	env          []string // changes of the environment
}

// newGit refuses a git in the work tree or the main one: a repository can bring it, and an agent can change it.
func newGit(r *repo, dir string) (*git, error) {
	program, err := process.Find("git", "")
	if err != nil {
		return nil, fmt.Errorf("there is no program git: %w", fs.ErrNotExist)
	}
	main, _ := MainTree(Looks{}, r.top)
	for _, tree := range []string{r.top, cmp.Or(main, r.top)} {
		if rel, err := filepath.Rel(resolve(Looks{}, "", tree), resolve(Looks{}, "", program)); err == nil && filepath.IsLocal(rel) {
			return nil, fmt.Errorf("the git that PATH finds, %s, is in the project, so it is not started", program)
		}
	}
	g := &git{program: program, dir: dir}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(strings.ToUpper(name), "GIT_") {
			g.env = append(g.env, name) // it goes
		}
	}
	g.env = append(g.env, "LC_ALL=C", "GIT_DIR="+r.dir, "GIT_COMMON_DIR="+r.common, "GIT_WORK_TREE="+r.top,
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	return g, nil
}

func (g *git) run(ctx context.Context, args ...string) (string, error) {
	res, err := process.Run(ctx, process.Command{
		Path: g.program, Args: append([]string{"--no-pager", "--literal-pathspecs"}, args...), Dir: g.dir, Env: g.env, Limit: maxOutput,
	})
	switch said, _, _ := strings.Cut(strings.TrimPrefix(string(res.Stderr), "fatal: "), "\n"); {
	case err != nil:
		return "", err
	case res.Code != 0:
		return "", fmt.Errorf("git %s ended with status %d: %s", args[0], res.Code, said)
	case len(res.Stdout) > maxOutput:
		return "", fmt.Errorf("git printed more than %d MiB", maxOutput>>20)
	}
	return string(res.Stdout), nil
}

// pointsBack returns an error unless the repository that a file .git names also names the work tree: by gitdir as that of a linked one,
// or by core.worktree as that of a submodule. Anyone can write a file that names another repository.
func (g *git) pointsBack(ctx context.Context, r *repo) error {
	link := filepath.Join(r.top, ".git")
	if info, err := os.Stat(link); r.linked || err == nil && info.IsDir() {
		return nil
	}
	if r.dir == "" {
		return fmt.Errorf("%s does not lead to a repository", link)
	}
	tree, err := "", errors.New("it names none")
	if r.common == r.dir {
		tree, err = g.run(ctx, "config", "--file", filepath.Join(r.dir, "config"), "--no-includes", "--null", "core.worktree")
	}
	if err != nil || resolve(Looks{}, r.dir, strings.TrimSuffix(tree, "\x00")) != resolve(Looks{}, "", r.top) {
		return fmt.Errorf("%s names a repository that does not name it, so it is not used", link)
	}
	return nil
}

// hide makes a common directory that has all of the repository but its configuration and hooks, and lets git use it from now on.
func (g *git) hide(ctx context.Context, r *repo, own string) error {
	listed, err := g.run(ctx, "config", "--null", "--get-regexp", kept)
	if err != nil {
		return err
	}
	for _, name := range []string{"objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees"} {
		at := filepath.Join(r.common, name)
		if _, err := os.Stat(at); err != nil {
			continue
		}
		if err := os.Symlink(at, filepath.Join(own, name)); err != nil {
			return fmt.Errorf("git cannot be kept from the configuration of the repository: %w", err)
		}
	}
	g.env = append(g.env, "GIT_COMMON_DIR="+own, "HOME="+own, "XDG_CONFIG_HOME="+own, "GIT_CONFIG_NOSYSTEM=1")
	return os.WriteFile(filepath.Join(own, "config"), []byte(configuration(listed)), 0o600)
}

// configuration returns the text of a configuration with the values that git listed.
func configuration(listed string) string {
	home, _ := os.UserHomeDir()
	settings := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	all := []string{ // git's defaults, which the list can change
		"core.excludesfile\n" + filepath.Join(settings, "git", "ignore"), "core.attributesfile\n" + filepath.Join(settings, "git", "attributes"),
	}
	all = append(all, strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00")...)
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var b strings.Builder
	for _, setting := range append(all, "core.bare\nfalse") {
		key, value, isSet := strings.Cut(setting, "\n")
		i := strings.LastIndexByte(key, '.')
		if i < 0 || slices.Contains(left, key) {
			continue
		}
		if !isSet {
			value = "true" // git's value for a key without one
		} else if below, ok := strings.CutPrefix(value, "~/"); ok {
			value = filepath.Join(home, below)
		}
		section, sub, isSub := strings.Cut(key[:i], ".")
		if isSub {
			section += ` "` + quoted.Replace(sub) + `"`
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, key[i+1:], quoted.Replace(value))
	}
	return b.String()
}

// parse reads the second porcelain format with NUL after every entry.
func parse(out string) (s Status) {
	before := map[string]int{"1": 7, "2": 8, "u": 9, "?": 0} // fields that end with a space each, then the path
	entries := strings.Split(out, "\x00")
	for i := 0; i < len(entries); i++ {
		kind, rest, _ := strings.Cut(entries[i], " ")
		n, isPath := before[kind]
		if parts := strings.SplitN(rest, " ", n+1); isPath && len(parts) > n {
			s.Changed = append(s.Changed, parts[n])
		}
		switch name, value, _ := strings.Cut(rest, " "); {
		case kind == "2":
			i++ // the old name is an entry of its own
		case kind == "#" && name == "branch.head" && value != "(detached)":
			s.Branch = value
		case kind == "#" && name == "branch.ab":
			_, _ = fmt.Sscanf(value, "+%d", &s.Ahead)
		}
	}
	slices.Sort(s.Changed)
	s.Changed = slices.Compact(s.Changed)
	s.Dirty = len(s.Changed) > 0
	return s
}
