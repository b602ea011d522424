package loop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// repository runs git so that nothing in the repository starts a program: an agent, or
// the author of the repository, can write its configuration. Configuration on the command
// line goes before that of the repository, so git gets there
//
//   - no file system monitor, no hooks, no bare repository that lies in a folder;
//   - for each filter that the repository defines, what the user's own configuration
//     says of it, else nothing.
//
// Besides, submodules are not entered, since they have configurations of their own;
// objects that are absent are not fetched; and the work tree is the one in which the
// repository was found.
type repository struct {
	dir, top string
	settings [][2]string
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
			return repository{dir: dir, top: top, settings: [][2]string{
				{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull}, {"safe.bareRepository", "explicit"},
			}}, true
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
	env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_WORK_TREE="+r.top, "GIT_CONFIG_COUNT="+strconv.Itoa(len(r.settings)))
	for i, s := range r.settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s[0], "GIT_CONFIG_VALUE_"+n+"="+s[1])
	}
	return process{argv: append([]string{"git", "--no-pager"}, args...), dir: r.dir, env: env}.run(ctx)
}

// gitKept are the variables of git that say where the user's configuration is and how
// far up a repository is looked for.
func gitKept() []string {
	return []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"}
}

// disarm adds settings against the filters that the repository defines. It gives how
// git listed all settings, and why the repository cannot be asked safely, or "".
func (r *repository) disarm(ctx context.Context) (f finished, problem string) {
	f = r.git(ctx, "config", "--list", "--null", "--show-scope")
	switch {
	case !f.found || f.late || f.err != nil || f.code != 0 && f.code != usageStatus:
		return f, ""
	case f.stdout.cut:
		return f, fmt.Sprintf("the configuration of the repository has more than %d MiB", maxOutput>>20)
	}
	fields := strings.Split(string(f.stdout.kept), "\x00") // a scope, a setting, a scope, …
	users, defined := map[string]string{}, map[string]bool{}
	counts := false // git before 2.31 does not know the variables that hold r.settings
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		switch scope := fields[i]; {
		case scope == "command":
			counts = true
		case !strings.HasPrefix(key, "filter."):
		case scope == "system" || scope == "global":
			users[key] = value
		default:
			defined[key] = true
		}
	}
	for key := range defined {
		value, ok := users[key]
		if !ok && strings.HasSuffix(key, ".required") {
			value = "false" // nothing is no filter, and no failure
		}
		r.settings = append(r.settings, [2]string{key, value})
	}
	if !counts {
		return f, "this git cannot be kept from running programs of the repository: git 2.31 or later is needed"
	}
	return f, ""
}
