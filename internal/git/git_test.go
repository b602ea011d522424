package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is a directory with a home directory and a repository with one commit.
type world struct {
	t         *testing.T
	dir, repo string
}

func newWorld(t *testing.T, initialize string) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no git, or no shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	w := &world{t, dir, filepath.Join(dir, "repo")}
	w.sh(dir, "git config --global user.name n; git config --global user.email e@x; git config --global protocol.file.allow always; git config --global init.defaultBranch main")
	w.sh(dir, "git init -q "+initialize+" repo; mkdir repo/a repo/b; echo one > repo/a/f; echo two > repo/b/g; touch -d 2020-01-01 repo/*/*; cd repo; git add .; git commit -qm first")
	return w
}

func (w *world) sh(dir, script string) string {
	w.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func TestRead(t *testing.T) {
	w := newWorld(t, "")
	for _, c := range []struct {
		script, path string
		want         Status
	}{
		{":", ".", Status{Branch: "main"}},
		{"echo x > b/g", "a", Status{Branch: "main"}},
		{"git mv a/f 'a/new\nname'; echo x > a/n; mkdir a/d; echo x > a/d/e", "a", Status{true, []string{"a/d/", "a/n", "a/new\nname"}, "main", 0}},
		{": > .git/index.lock", "b", Status{true, []string{"b/g"}, "main", 0}}, // the agent is committing
		{"rm .git/index.lock; git checkout -q --detach", "b", Status{true, []string{"b/g"}, "", 0}},
		{"touch -- --help", "--help", Status{true, []string{"--help"}, "", 0}},
		{"git rm -qf b/g", "b/g", Status{true, []string{"b/g"}, "", 0}}, // it was there
	} {
		w.sh(w.repo, c.script)
		got, err := Read(t.Context(), w.repo, c.path)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.script, err, diff)
		}
	}
}

func TestNothingThere(t *testing.T) {
	w := newWorld(t, "")
	for _, path := range []string{"none", "*", ":(top)", "a/none"} { // a path is literal
		if s, err := Read(t.Context(), w.repo, path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %+v, %v", path, s, err)
		}
	}
	if _, err := Read(t.Context(), w.dir, "."); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a repository: %v", err)
	}
	w.sh(w.dir, "mkdir bin; cp $(command -v git) repo/git")
	t.Setenv("PATH", filepath.Join(w.dir, "bin"))
	if _, err := Read(t.Context(), w.repo, "."); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without git: %v", err)
	}
	t.Setenv("PATH", w.repo)
	if _, err := Read(t.Context(), w.repo, "."); err == nil || !strings.Contains(err.Error(), "is in the project") {
		t.Errorf("with git in the project: %v", err)
	}
}

// A git that does not end by itself ends with the context.
func TestReadEnds(t *testing.T) {
	w := newWorld(t, "")
	w.sh(w.dir, "mkdir slow; mkfifo begun; printf '#!/bin/sh\necho > %s/begun\nsleep 1000\n' \"$PWD\" > slow/git; chmod +x slow/git")
	t.Setenv("PATH", filepath.Join(w.dir, "slow")+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := Read(ctx, w.repo, ".")
		ended <- err
	}()
	if _, err := os.ReadFile(filepath.Join(w.dir, "begun")); err != nil { // waits until git runs
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A pipe where git has a file holds no read longer than its context.
func TestPipes(t *testing.T) {
	for _, script := range []string{
		"rm .git/config; mkfifo .git/config",
		"rm .git/HEAD; mkfifo .git/HEAD",
		"rm .git/index; mkfifo .git/index",
		"mkfifo .git/packed-refs; rm -r .git/refs/heads/*",
		"mkdir -p .git/info; rm -f .git/info/exclude; mkfifo .git/info/exclude",
		"mkdir -p .git/objects/info; mkfifo .git/objects/info/alternates; rm -r .git/objects/??",
		"mkfifo .git/commondir",
		"mkfifo ../pipe; git config include.path ../../pipe",
		"mkfifo ../pipe; git config core.excludesFile ../../pipe",
		"mkfifo .gitignore",
		"mkfifo .gitattributes; touch a/f",
		"git init -q sub; rm sub/.git/HEAD; mkfifo sub/.git/HEAD",
	} {
		t.Run(script, func(t *testing.T) {
			w := newWorld(t, "")
			w.sh(w.repo, script)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/10)
			defer cancel()
			if got, err := Read(ctx, w.repo, "."); err == nil && got.Branch != "main" {
				t.Errorf("%+v", got) // one that git does not open
			}
		})
	}
}

// A repository is what its user's git sees, with all settings that a user may have.
func TestReadIsTheUsers(t *testing.T) {
	for name, c := range map[string]struct{ initialize, script, at string }{
		"a conflict":                     {"", "git checkout -qb o; echo o > a/f; git commit -qam o; git checkout -q main; echo m > a/f; git commit -qam m; git merge -q o || true", ""},
		"SHA-256":                        {"--object-format=sha256", "echo x > a/f", ""},
		"line endings of the user":       {"", `git config --global core.autocrlf true; printf 'one\r\n' > a/f`, ""},
		"line endings of the repository": {"", `git config core.autocrlf input; printf 'one\r\n' > a/f; printf 'b\r\n' > n`, ""},
		"attributes of the user":         {"", `mkdir -p ~/.config/git; echo '* text eol=crlf' > ~/.config/git/attributes; printf 'one\r\n' > a/f`, ""},
		"no file mode":                   {"", "git config core.fileMode false; chmod +x a/f", ""},
		"a key without a value":          {"", "printf '[core]\\nsymlinks\\n' >> .git/config; ln -s x l", ""},
		"a sparse checkout and index":    {"", "git sparse-checkout set --sparse-index a; echo x > a/f", ""},
		"files that the user ignores":    {"", "mkdir -p ~/.config/git; echo n > ~/.config/git/ignore; touch n m", ""},
		"an excludes file":               {"", "git config --global core.excludesFile '~/x'; echo n > ~/x; touch n m", ""},
		"an included file":               {"", "git config --global includeIf.gitdir:~/repo/.path inc; git config -f ~/inc core.excludesFile '~/x'; echo n > ~/x; touch n m", ""},
		"info/exclude":                   {"", "mkdir -p .git/info; echo n > .git/info/exclude; touch n m", ""},
		"packed references":              {"", "git pack-refs --all; git gc -q", ""},
		"an upstream":                    {"", "git clone -q . ../c; cd ../c; git commit -q --allow-empty -m c; cd ../repo; git commit -q --allow-empty -m r; cd ../c; git fetch -q", "c"},
		"a branch with an odd name":      {"", `git clone -q . ../c; cd ../c; git checkout -qb 'a"b.c#]' --track origin/main; git commit -q --allow-empty -m c`, "c"},
		"a shared clone":                 {"", "git clone -q --shared . ../c; echo x > ../c/a/f", "c"},
		"a shallow clone":                {"", "git commit -q --allow-empty -m r; git clone -q --depth 1 file://$PWD ../c", "c"},
		"a linked work tree":             {"", "git worktree add -q -b side ../c; echo x > ../c/a/f", "c"},
		"one of a bare repository":       {"", "git clone -q --bare . ../bare.git; git -C ../bare.git worktree add -q -b side ../c; echo x > ../c/a/f", "c"},
		"a submodule":                    {"", "git init -q ../s; cd ../s; git submodule -q add ../repo m; git commit -qm m; echo x > m/a/f", "s/m"},
		"around a submodule":             {"", "git init -q ../s; cd ../s; git submodule -q add ../repo m; git commit -qm m; git -C m commit -q --allow-empty -m x; echo x > m/a/f", "s"},
		"a directory elsewhere":          {"--separate-git-dir=elsewhere", `git config core.worktree "$PWD"; echo x > a/f`, ""},
		"a link to a directory":          {"", "mv .git ../g; ln -s ../g .git; echo x > a/f", ""},
		"a subdirectory":                 {"", "echo x > a/f; echo x > b/g", "repo/a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.initialize)
			w.sh(w.repo, c.script)
			at := filepath.Join(w.dir, c.at)
			if c.at == "" {
				at = w.repo
			}
			cmd := exec.Command("git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty", ".")
			cmd.Dir = at
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read(t.Context(), at, ".")
			if diff := cmp.Diff(parse(string(want)), got); diff != "" || err != nil {
				t.Errorf("%v (-user's +ralph's)\n%s", err, diff)
			}
		})
	}
}

// No configuration of a repository starts a program that git status otherwise runs. RUN leaves a trace.
func TestReadRunsNoProgram(t *testing.T) {
	const filtered = "echo 'f filter=x' > .gitattributes; echo f > f; git add .; git commit -qm f; touch -d 2021-01-01 f; "
	for name, c := range map[string]struct{ script, at string }{
		"a file system monitor":       {"git config core.fsmonitor 'RUN; false'", ""},
		"a filter":                    {filtered + "git config filter.x.clean 'RUN; cat'", ""},
		"a filter that must work":     {filtered + "git config filter.x.clean 'RUN; cat'; git config filter.x.required true", ""},
		"a filter process":            {filtered + "git config filter.x.process 'RUN; false'", ""},
		"a filter of the user":        {filtered + "git config --global filter.x.clean 'RUN; cat'", ""},
		"a filter in a file included": {filtered + "git config -f inc filter.x.clean 'RUN; cat'; git config includeIf.onbranch:main.path ../inc", ""},
		"a filter of a work tree":     {filtered + "git config extensions.worktreeConfig true; git config --worktree filter.x.clean 'RUN; cat'", ""},
		"a filter of an odd name":     {filtered + `echo 'f filter=A.b=c.clean"' > .gitattributes; git config 'filter.A.b=c.clean".clean' 'RUN; cat'`, ""},
		"a hook":                      {"printf '#!/bin/sh\nRUN\n' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change; touch -d 2021-01-01 a/f", ""},
		"a hook elsewhere":            {"mkdir h; printf '#!/bin/sh\nRUN\n' > h/post-index-change; chmod +x h/*; git config core.hooksPath h; touch -d 2021-01-01 a/f", ""},
		"the monitor of a submodule":  {"git clone -q . ../s; git submodule -q add ../s m; git -C m config core.fsmonitor 'RUN; false'", ""},
		"a bare repository":           {"git init -q --bare m; git --git-dir=m config core.bare false; git --git-dir=m config core.worktree .; git --git-dir=m config core.fsmonitor 'RUN; false'", "m"},
		"a value that ends a line":    {`git config branch.main.merge "$(printf 'a\n[core]\n\tfsmonitor = RUN; false')"; git config core.fsmonitor 'RUN; false'`, ""},
		"objects that are fetched": {`id=$(git rev-parse HEAD:a/f); git mv a/f a/n; echo x >> a/n; git add .; rm .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)
			git config core.repositoryFormatVersion 1; git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.url .; git config remote.origin.uploadpack 'RUN; false'`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "")
			trace := filepath.Join(w.dir, "ran")
			w.sh(w.repo, strings.ReplaceAll(c.script, "RUN", "touch "+trace))
			_ = os.Remove(trace) // by the script itself
			w.sh(w.dir, "cp -a repo again")
			_, err := Read(t.Context(), filepath.Join(w.repo, c.at), ".")
			if _, missing := os.Stat(trace); missing == nil {
				t.Errorf("the program ran; error %v", err)
			}
			again := exec.Command("git", "status", "--porcelain")
			again.Dir = filepath.Join(w.dir, "again", c.at)
			out, _ := again.CombinedOutput()
			if _, missing := os.Stat(trace); missing != nil {
				t.Skipf("this git does not run it: %s", out)
			}
		})
	}
}

// An agent that runs in a hook of git has variables that lead to another repository, and programs.
func TestEnvironment(t *testing.T) {
	w := newWorld(t, "")
	w.sh(w.dir, "git init -q -b other other")
	t.Setenv("GIT_DIR", filepath.Join(w.dir, "other/.git"))
	t.Setenv("GIT_WORK_TREE", filepath.Join(w.dir, "other"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(w.dir, "index"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", "touch "+filepath.Join(w.dir, "ran"))
	got, err := Read(t.Context(), w.repo, ".")
	if diff := cmp.Diff(Status{Branch: "main"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "ran")); err == nil {
		t.Error("the program ran")
	}
}

// A file .git counts only if the repository that it names also names the work tree; then its main work tree is known. Otherwise there is
// none, also not that of a directory above.
func TestGitFilePointsBack(t *testing.T) {
	for name, c := range map[string]struct{ script, want, main string }{
		"a linked work tree":                {"git worktree add -q -b side ../c", "", "repo"},
		"one of a bare repository":          {"git clone -q --bare . ../bare.git; git -C ../bare.git worktree add -q -b side ../c", "", ""},
		"a repository":                      {"git init -q ../c", "", ""},
		"a submodule":                       {"git init -q ../s; cd ../s; git submodule -q add ../repo m; mv m ../c; git -C $PWD config -f .git/modules/m/config core.worktree ../../../../c; echo \"gitdir: $PWD/.git/modules/m\" > ../c/.git", "", ""},
		"a quoted path":                     {"mkdir '../a\"b#'; git init -q --separate-git-dir=../g '../a\"b#'; git -C '../a\"b#' config core.worktree '../a\"b#'; ln -s 'a\"b#' ../c", "", ""},
		"another repository":                {"mkdir ../c; echo gitdir: ../repo/.git > ../c/.git", "does not name it", ""},
		"another work tree's":               {"git worktree add -q -b side ../d; cp -r ../d ../c", "does not name it", ""},
		"another core.worktree":             {"mkdir ../c; git config core.worktree ../../repo; echo gitdir: ../repo/.git > ../c/.git", "does not name it", ""},
		"an included core.worktree":         {"mkdir ../c; printf '[core]\nworktree=../../c\n' > ../inc; git config include.path ../../inc; echo gitdir: ../repo/.git > ../c/.git", "does not name it", ""},
		"a file, with another's data":       {"mkdir -p ../c/x; cp .git/HEAD ../c/x; cd ../c; echo ../../repo/.git > x/commondir; echo $PWD/.git > x/gitdir; echo gitdir: x > .git", "does not name it", ""},
		"a pipe":                            {"mkdir ../c; mkfifo ../c/.git", "does not lead to a repository", ""},
		"in a repository, another one":      {"mkdir -p ../c; git init -q ..; echo gitdir: repo/.git > ../c/.git", "does not lead to a repository", ""},
		"in a repository, another's really": {"mkdir -p ../c; git init -q ..; echo gitdir: ../repo/.git > ../c/.git", "does not name it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "")
			w.sh(w.repo, c.script)
			dir := filepath.Join(w.dir, "c")
			_, err := Read(t.Context(), dir, ".")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v, want %q", err, c.want)
			}
			main, ok := MainTree(Looks{}, dir)
			if want := filepath.Join(w.dir, c.main); ok != (c.main != "") || ok && main != want {
				t.Errorf("the main work tree is %q, want %q", main, want)
			}
		})
	}
}
