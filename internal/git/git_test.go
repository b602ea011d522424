package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/git"
)

// world is a directory with a home directory and a repository with one commit.
type world struct {
	t         *testing.T
	dir, repo string
}

func newWorld(t *testing.T, initialize ...string) *world {
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
	w.sh(dir, "git init -q "+strings.Join(initialize, " ")+" repo; mkdir repo/a repo/b; echo one > repo/a/f; echo two > repo/b/g; touch -d 2020-01-01 repo/*/*; cd repo; git add .; git commit -qm first")
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

// A repository is what its user's git sees, with all settings that a user may have.
func TestStatusIsTheUsers(t *testing.T) {
	for name, c := range map[string]struct{ initialize, script, at string }{
		"nothing":                        {"", "", ""},
		"changes":                        {"", "echo x > a/f; echo y > new; git mv b/g b/h; git rm -q --cached a/f", ""},
		"a conflict":                     {"", "git checkout -qb o; echo o > a/f; git commit -qam o; git checkout -q main; echo m > a/f; git commit -qam m; git merge -q o || true", ""},
		"a detached HEAD":                {"", "git checkout -q --detach", ""},
		"SHA-256":                        {"--object-format=sha256", "echo x > a/f", ""},
		"line endings of the user":       {"", `git config --global core.autocrlf true; printf 'one\r\n' > a/f`, ""},
		"line endings of the repository": {"", `git config core.autocrlf input; printf 'one\r\n' > a/f; printf 'b\r\n' > n`, ""},
		"line endings by attributes":     {"", `echo '* text eol=crlf' > .gitattributes; printf 'one\r\n' > a/f`, ""},
		"attributes of the user":         {"", `mkdir -p ~/.config/git; echo '* text eol=crlf' > ~/.config/git/attributes; printf 'one\r\n' > a/f`, ""},
		"no file mode":                   {"", "git config core.fileMode false; chmod +x a/f", ""},
		"file mode":                      {"", "chmod +x a/f", ""},
		"no symbolic links":              {"", "ln -s x l; git add l; git commit -qm l; git config core.symlinks false; rm l; printf x > l", ""},
		"case":                           {"", "git config core.ignoreCase true; mv a/f a/F", ""},
		"a sparse checkout":              {"", "git sparse-checkout set a", ""},
		"a sparse checkout by patterns":  {"", "git sparse-checkout set --no-cone /b/", ""},
		"a sparse checkout and index":    {"", "git sparse-checkout set --sparse-index a; echo x > a/f", ""},
		"files that the user ignores":    {"", "mkdir -p ~/.config/git; echo n > ~/.config/git/ignore; touch n m", ""},
		"an excludes file":               {"", "git config --global core.excludesFile '~/x'; echo n > ~/x; touch n m", ""},
		"one of the project":             {"", "git config core.excludesFile x; echo n > x; touch n m; git add x", ""},
		"an included file":               {"", "git config --global includeIf.gitdir:~/repo/.path inc; git config -f ~/inc core.excludesFile '~/x'; echo n > ~/x; touch n m", ""},
		"info/exclude":                   {"", "mkdir -p .git/info; echo n > .git/info/exclude; touch n m", ""},
		"packed references":              {"", "git pack-refs --all; git gc -q", ""},
		"an upstream":                    {"", "git clone -q . ../c; cd ../c; git commit -q --allow-empty -m c; cd ../repo; git commit -q --allow-empty -m r; cd ../c; git fetch -q", "c"},
		"a branch with an odd name":      {"", `git clone -q . ../c; cd ../c; git checkout -qb 'a"b.c#]' --track origin/main; git commit -q --allow-empty -m c`, "c"},
		"a shared clone":                 {"", "git clone -q --shared . ../c", "c"},
		"a shallow clone":                {"", "git commit -q --allow-empty -m r; git clone -q --depth 1 file://$PWD ../c", "c"},
		"a linked work tree":             {"", "git worktree add -q -b side ../c; echo x > ../c/a/f", "c"},
		"one of a bare repository":       {"", "git clone -q --bare . ../bare.git; git -C ../bare.git worktree add -q -b side ../c; echo x > ../c/a/f", "c"},
		"one with its configuration":     {"", "git worktree add -q -b side ../c; git config extensions.worktreeConfig true; git -C ../c config --worktree core.fileMode false; chmod +x ../c/a/f", "c"},
		"a submodule":                    {"", "git init -q ../s; cd ../s; git submodule -q add ../repo m; git commit -qm m; echo x > m/a/f", "s/m"},
		"around a submodule":             {"", "git init -q ../s; cd ../s; git submodule -q add ../repo m; git commit -qm m; git -C m commit -q --allow-empty -m x; echo x > m/a/f", "s"},
		"a directory elsewhere":          {"--separate-git-dir=elsewhere", `git config core.worktree "$PWD"; echo x > a/f`, ""},
		"a link to a directory":          {"", "mv .git ../g; ln -s ../g .git; echo x > a/f", ""},
		"a split index":                  {"", "git update-index --split-index; echo x > a/f; git add a/f; echo y > n", ""},
		"an untracked cache":             {"", "git update-index --untracked-cache; touch n; git status", ""},
		"a subdirectory":                 {"", "echo x > a/f; echo x > b/g", "repo/a"},
		"filters, hooks, aliases": {"", `git config filter.lfs.clean 'tr a-z A-Z'; git config filter.lfs.required true; echo 'c filter=lfs' > .gitattributes; echo two > c; touch -d 2020-01-01 c
			git config core.hooksPath hooks; git config alias.st status; git config remote.origin.url x; git add .; git commit -qm lfs; touch n`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.initialize)
			if c.initialize == "--separate-git-dir=elsewhere" {
				c.initialize = ""
			}
			w.sh(w.repo, c.script)
			at := filepath.Join(w.dir, c.at)
			if c.at == "" {
				at = w.repo
			}
			args := []string{"--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty"}
			cmd := exec.Command("git", args...)
			cmd.Dir = at
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			r := w.open(at)
			got, err := r.Run(t.Context(), args...)
			if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
				t.Errorf("%v (-user's +ralph's)\n%s", err, diff)
			}
		})
	}
}

// A file .git counts only if the repository that it names also names the working tree. Otherwise there is none, also not
// that of a directory above.
func TestGitFilePointsBack(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a linked work tree":                {"git worktree add -q -b side ../c", ""},
		"a submodule":                       {"git init -q ../s; cd ../s; git submodule -q add ../repo m; mv m ../c; git -C $PWD config -f .git/modules/m/config core.worktree ../../../../c; echo \"gitdir: $PWD/.git/modules/m\" > ../c/.git", ""},
		"a quoted path":                     {"mkdir '../a\"b#'; git init -q --separate-git-dir=../g '../a\"b#'; git -C '../a\"b#' config core.worktree '../a\"b#'; ln -s 'a\"b#' ../c", ""},
		"another repository":                {"mkdir ../c; echo gitdir: ../repo/.git > ../c/.git", "does not name it"},
		"another work tree's":               {"git worktree add -q -b side ../d; cp -r ../d ../c", "does not name it"},
		"another core.worktree":             {"mkdir ../c; git config core.worktree ../../repo; echo gitdir: ../repo/.git > ../c/.git", "does not name it"},
		"an included core.worktree":         {"mkdir ../c; printf '[core]\nworktree=../../c\n' > ../inc; git config include.path ../../inc; echo gitdir: ../repo/.git > ../c/.git", "does not name it"},
		"a directory, with another's data":  {"git init -q ../c; echo ../../repo/.git > ../c/.git/commondir", "does not name it"},
		"a file, with another's data":       {"mkdir -p ../c/x; cp .git/HEAD ../c/x; cd ../c; echo ../../repo/.git > x/commondir; echo $PWD/.git > x/gitdir; echo gitdir: x > .git", "does not name it"},
		"in a repository, another one":      {"mkdir -p ../c; git init -q ..; echo gitdir: repo/.git > ../c/.git", "does not lead to a repository"},
		"in a repository, another's really": {"mkdir -p ../c; git init -q ..; echo gitdir: ../repo/.git > ../c/.git", "does not name it"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "")
			w.sh(w.repo, c.script)
			_, err := git.Find(filepath.Join(w.dir, "c"))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v, want %q", err, c.want)
			}
		})
	}
}

func (w *world) open(dir string) *git.Repo {
	w.t.Helper()
	r, err := git.Find(dir)
	w.t.Cleanup(r.Close)
	if err == nil {
		err = r.Open(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// git sees the keys that ralph keeps, and its own, whatever the repository and the user set.
func TestConfiguration(t *testing.T) {
	w := newWorld(t)
	w.sh(w.repo, `git config core.fsmonitor x; git config filter.x.clean x; git config --global hook.x.command x; git config core.eol lf
		git config --global user.email 'a"\ b'; git config branch.main.merge "$(printf 'a\n[core]\n\tfsmonitor = x')"; git config 'branch.]"\.remote' r; printf '[core]\nsymlinks\n' >> .git/config`)
	got, err := w.open(w.repo).Run(t.Context(), "config", "--list", "--show-scope")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`core.excludesfile=HOME/.config/git/ignore
core.attributesfile=HOME/.config/git/attributes
user.name=n
user.email=a"\ b
core.repositoryformatversion=0
core.filemode=true
core.logallrefupdates=true
core.eol=lf
branch.main.merge=a
[core]
	fsmonitor = x
branch.]"\.remote=r
core.symlinks=true
core.bare=false
gc.auto=0
maintenance.auto=false
`, "HOME", w.dir)
	if diff := cmp.Diff(want, strings.ReplaceAll(got, "local\t", "")); diff != "" {
		t.Error(diff)
	}
}

// What git must know to read a repository is not left out silently.
func TestUnknownExtension(t *testing.T) {
	w := newWorld(t)
	w.sh(w.repo, "git config extensions.odd 1")
	r, err := git.At(w.repo)
	if err == nil {
		err = r.Open(t.Context())
	}
	if err == nil || err.Error() != `the repository has the extension "odd", which ralph does not know` {
		t.Errorf("error %v", err)
	}
}

// git that waits for a pipe is ended with the context.
func TestRunEnds(t *testing.T) {
	w := newWorld(t)
	r := w.open(w.repo)
	w.sh(w.repo, "mkfifo pipe")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := r.Run(ctx, "hash-object", "--", "pipe")
		ended <- err
	}()
	f, err := os.OpenFile(filepath.Join(w.repo, "pipe"), os.O_WRONLY, 0) // waits until git reads
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Nothing of ralph's is left in the file system.
func TestClose(t *testing.T) {
	w := newWorld(t)
	t.Setenv("TMPDIR", w.sh(w.dir, "mkdir tmp; printf $PWD/tmp"))
	r := w.open(w.repo)
	if left, _ := os.ReadDir(filepath.Join(w.dir, "tmp")); len(left) != 1 {
		t.Errorf("while it is open: %v", left)
	}
	r.Close()
	if left, _ := os.ReadDir(filepath.Join(w.dir, "tmp")); len(left) != 0 {
		t.Errorf("after it is closed: %v", left)
	}
}
