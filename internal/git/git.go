// Package git runs git in a way that starts no program named by a repository or a configuration.
//
// git reads only a configuration that ralph writes: the values of the keys in [kept], with which git cannot start
// anything. For that, ralph creates a common directory (GIT_COMMON_DIR) with that configuration and with links to the
// objects, references and work trees of the repository. git then sees neither the repository's configuration nor its
// hooks, and unknown files of a repository have no effect. The home directory and the system's configuration are hidden
// in the same way.
//
// Start with [Find] or [At], then [Repo.Open].
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/internal/process"
)

var (
	// ErrInside reports that git in PATH is a file of the project.
	ErrInside = errors.New("the git that PATH finds is in the project, so it is not started")
	// ErrLong reports that git printed more than is kept.
	ErrLong = errors.New("git printed more than 1 MiB")
)

const (
	maxOutput  = 1 << 20                // bytes of git's output to keep
	maxMessage = 2 << 10                // bytes of its messages in an error
	maxTime    = 10 * time.Minute       // for one command
	maxConfig  = 10 * time.Second       // for reading the configuration
	grace      = 200 * time.Millisecond // to end when asked
)

// kept are the configuration keys that git may read, "*" for a subsection. They configure how files, names and objects
// are stored, who commits, and which branch tracks which. None of them names a program.
var kept = strings.Fields(`
	core.repositoryformatversion core.filemode core.symlinks core.ignorecase core.precomposeunicode core.longpaths core.fscache
	core.autocrlf core.eol core.trustctime core.checkstat core.sharedrepository core.logallrefupdates
	core.excludesfile core.attributesfile core.sparsecheckout core.sparsecheckoutcone
	extensions.objectformat extensions.compatobjectformat extensions.refstorage extensions.relativeworktrees
	extensions.submodulepathconfig extensions.preciousobjects extensions.noop extensions.noop-v1
	user.name user.email user.useconfigonly author.name author.email committer.name committer.email i18n.commitencoding
	branch.*.remote branch.*.merge remote.*.fetch`)

// left are extensions without effect once the rest of the repository's configuration is gone: git lists the values of a
// work tree, and objects are not fetched.
var left = []string{"extensions.worktreeconfig", "extensions.partialclone"}

// linked are the entries of a repository's common directory that git needs.
var linked = []string{"objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees"}

// Repo is a repository with one of its working trees.
type Repo struct {
	Top    string // the working tree
	Signed bool   // commits must be signed, which ralph cannot do; set by Open
	cwd    string // where git runs
	dir    string // the working tree's own data, such as HEAD and the index
	common string // the shared data

	program string
	own     string // the common directory for git, "" before Open
}

// Open prepares to run git. The caller must close r unless it returns an error.
func (r *Repo) Open(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if r.program, err = r.find(); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, maxConfig) // the configuration may include pipes
	defer cancel()
	listed, err := r.run(short, environ("GIT_CONFIG_"), "config", "--list", "--null")
	if errors.Is(err, ErrLong) {
		return fmt.Errorf("the configuration of the repository has more than %d MiB", maxOutput>>20)
	} else if err != nil {
		return err
	}
	config, err := r.config(listed)
	if err != nil {
		return err
	}
	if r.own, err = os.MkdirTemp("", "ralph-git-"); err != nil {
		return err
	}
	for _, name := range linked {
		at := filepath.Join(r.common, name)
		if _, err := os.Stat(at); err != nil && name != "packed-refs" && name != "worktrees" { // may be created later
			continue
		}
		if err := os.Symlink(at, filepath.Join(r.own, name)); err != nil {
			return fmt.Errorf("git cannot be kept from the configuration of the repository: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(r.own, "config"), []byte(config), 0o600)
}

// Close removes what Open created.
func (r *Repo) Close() {
	if r.own != "" {
		_ = os.RemoveAll(r.own)
	}
}

// find returns the path of git. It rejects one in the working tree or the main one: a repository can bring it, and an
// agent can change it.
func (r *Repo) find() (string, error) {
	found, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(found)
	if err != nil {
		return "", err
	}
	for _, top := range []string{r.Top, cmp.Or(r.Main(), r.Top)} {
		if top, err = filepath.EvalSymlinks(top); err != nil {
			return "", err
		}
		if rel, err := filepath.Rel(top, resolved); err == nil && filepath.IsLocal(rel) {
			return "", ErrInside
		}
	}
	return found, nil
}

// config returns the configuration for git, given its listing of the user's and the repository's.
func (r *Repo) config(listed string) (string, error) {
	user := home.OfProcess()
	settings := cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(user, ".config"))
	var b strings.Builder
	set := func(key, value string) {
		section, name := cutKey(key)
		section, sub, isSub := strings.Cut(section, ".")
		if isSub {
			section += ` "` + quoted.Replace(sub) + `"`
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", section, name, quoted.Replace(value))
	}
	set("core.excludesfile", filepath.Join(settings, "git", "ignore")) // git's default
	set("core.attributesfile", filepath.Join(settings, "git", "attributes"))
	for setting := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		key, value, isSet := strings.Cut(setting, "\n")
		if !isSet {
			value = "true" // git's value for a key without one
		}
		section, name := cutKey(key)
		pattern := key
		if section, _, ok := strings.Cut(section, "."); ok {
			pattern = section + ".*." + name
		}
		switch {
		case slices.Contains(kept, pattern):
			if strings.HasSuffix(key, "sfile") {
				value = r.file(user, value)
			}
			set(key, value)
		case section == "extensions" && !slices.Contains(left, key):
			return "", fmt.Errorf("the repository has the extension %q, which ralph does not know", name)
		case key == "commit.gpgsign":
			r.Signed = !slices.Contains([]string{"", "false", "no", "off", "0"}, strings.ToLower(value))
		}
	}
	set("core.bare", "false")
	set("gc.auto", "0")
	set("maintenance.auto", "false")
	return b.String(), nil
}

// file returns the path of a file in a configuration, or "" if it is not a regular file: git would wait for a pipe.
func (r *Repo) file(user, path string) string {
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(user, below)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(r.Top, path)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// cutKey cuts a key before its last part.
func cutKey(key string) (section, name string) {
	i := max(strings.LastIndexByte(key, '.'), 0)
	return key[:i], key[i+1:]
}

// Run runs git and returns its output. The error has git's message; it is [context.DeadlineExceeded] or
// [context.Canceled] if the context, or git's time limit, ended it.
func (r *Repo) Run(ctx context.Context, args ...string) (string, error) {
	if r.own == "" {
		return "", errors.New("the repository is not open")
	}
	return r.run(ctx, append(environ("GIT_AUTHOR_", "GIT_COMMITTER_"),
		"GIT_COMMON_DIR="+r.own, "HOME="+r.own, "XDG_CONFIG_HOME="+r.own, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:",
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0"), args...)
}

// environ returns the environment for git: of git's variables only those with a prefix.
func environ(prefixes ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		v = strings.ToUpper(v)
		return strings.HasPrefix(v, "GIT_") && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(v, p) })
	})
}

func (r *Repo) run(ctx context.Context, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	args = append([]string{"git", "--no-pager", "--literal-pathspecs"}, args...)
	out, errs := process.Output{Left: maxOutput}, process.Output{Left: maxMessage}
	exit, err := process.Command{
		Args: args, Path: r.program, Dir: r.cwd, Env: append(env, "LC_ALL=C", "GIT_DIR="+r.dir, "GIT_WORK_TREE="+r.Top),
		Stdout: &out, Stderr: &errs, Grace: grace, Asked: true, // it removes its locks
	}.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s was ended: %w", args[3], ctx.Err())
	case err != nil:
		return "", err
	case exit.Code != 0:
		return "", errors.New(strings.TrimPrefix(cmp.Or(strings.TrimSpace(errs.String()), exit.String()), "fatal: "))
	case out.Cut:
		return string(out.Kept), ErrLong
	}
	return string(out.Kept), nil
}

// Pipes returns an error if the repository has a pipe, for which git would wait.
func (r *Repo) Pipes() error {
	for _, root := range slices.Compact([]string{r.Top, r.dir, r.common}) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Type().IsRegular() || root == r.Top && !strings.Contains(filepath.ToSlash(path[len(root):]), "/.git") {
				return nil // git opens no other pipes of a working tree
			}
			if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
				return fmt.Errorf("%s is a pipe, for which git would wait", path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
