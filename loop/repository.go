package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/gitsafe"
)

// repository runs git so that nothing in the repository starts a program, see [gitsafe]. Besides, the work tree is the one
// in which the repository was found.
type repository struct {
	dir, top string
	settings gitsafe.Settings
}

// usageStatus is how git ends that does not know an option.
const usageStatus = 129

// findRepository finds the repository of a folder as git does, but for a bare one.
func findRepository(dir string) (r repository, ok bool) {
	for top := dir; ; top = filepath.Dir(top) {
		info, err := os.Stat(filepath.Join(top, ".git"))
		if err == nil && info.IsDir() {
			_, err = os.Lstat(filepath.Join(top, ".git", "HEAD")) // git passes over a folder without
		}
		if err == nil {
			return repository{dir: dir, top: top, settings: gitsafe.Always()}, true
		}
		if top == filepath.Dir(top) {
			return repository{}, false
		}
	}
}

// git runs one command of git.
func (r repository) git(ctx context.Context, args ...string) finished {
	env := slices.DeleteFunc(childEnv(), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(gitKept(), name)
	})
	env = append(append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_WORK_TREE="+r.top), r.settings.Env()...)
	program, err := gitsafe.Program(r.top)
	if err != nil {
		return finished{found: errors.Is(err, gitsafe.ErrInside), err: err}
	}
	return process{argv: append([]string{program, "--no-pager"}, args...), dir: r.dir, env: env}.run(ctx)
}

// gitKept are the variables of git that say where the user's configuration is and how
// far up a repository is looked for.
func gitKept() []string {
	return []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"}
}

// disarm adds settings against the programs that the repository names. It gives how git listed all settings, and why
// the repository cannot be asked safely, or "".
func (r *repository) disarm(ctx context.Context) (f finished, problem string) {
	f = r.git(ctx, gitsafe.List()...)
	switch {
	case !f.found || f.late || f.err != nil || f.code != 0 && f.code != usageStatus:
		return f, ""
	case f.stdout.cut:
		return f, fmt.Sprintf("the configuration of the repository has more than %d MiB", maxOutput>>20)
	}
	settings, err := r.settings.Disarm(string(f.stdout.kept))
	if err != nil {
		return f, err.Error()
	}
	r.settings = settings
	return f, ""
}
