package docs_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/reference"
)

// section is a part of a page, whose rows are data.
type section struct {
	title string
	rows  [][]string
}

// sections reads a file of testdata: titles after #, and rows of columns between tabs.
func sections(t *testing.T, name string) (all []section) {
	src, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "# "); ok {
			all = append(all, section{title: title})
		} else {
			last := &all[len(all)-1]
			last.rows = append(last.rows, strings.Split(line, "\t"))
		}
	}
	return all
}

// place is a file or directory that ralph reads or writes.
type place struct{ path, use, when string }

func placesInProject() []place {
	return []place{
		{".ralph/policy.yaml, .ralph/NAME.yaml", "read", "Policies; the first is the default. `ralph init` writes them."},
		{".ralph/NAME_test.yaml", "read and write", "`ralph test`; `ralph init` and `ralph test --write` write them."},
		{".ralph/config.yaml", "read", "Values of params, at each event."},
		{".ralph/off", "read", "At each event; `ralph pause` writes it and `ralph resume` removes it."},
		{".ralph/archive", "read and write", "The effect `archive`, `ralph stop`, `ralph start --force`, `ralph status`. Has a `.gitignore`."},
		{".ralph/runs/ID", "read and write", "`ralph run`: events and the agent's output. `.ralph/runs` has a `.gitignore`."},
		{".ralph/until.yaml, .ralph/until.json", "read and write", "`ralph until`: its policy and its loop. At its end the second moves into the archive."},
		{"files that facts name", "read", "When a rule needs the fact. Effects and `ralph start` write them."},
		{"programs and scripts that a policy runs", "read", "For their digests: `ralph trust`, and before each start."},
		{"settings of a host", "read and write", "The [files of each host](hosts.md#files): `ralph install`, `uninstall` and `until` with its hook; `doctor` and `status` read them."},
		{".claude/PLUGIN.local.md", "read", "`ralph doctor`: settings of plugins."},
	}
}

func placesElsewhere(stateFile func(name string) string) []place {
	return []place{
		{"files named on the command line", "read", "`--policy`, `--input`, `--prompt` and others."},
		{".ralph, .git", "looked for", "From the working directory upwards, to find [the project](../security.md#which-directory-is-the-project)."},
		{".git, gitdir, .ralph/NAME.yaml, .ralph/config.yaml", "read", "In a git worktree that lacks these files: those of its main tree."},
		{"the session file of the hook input", "read", "When a rule needs it, from its end. Else `~/.claude/projects/*/SESSION.jsonl`, for Claude Code and unknown hosts."},
		{"~/.claude/tasks/LIST/*.json", "read", "`tasks` facts."},
		{"~/…", "read", "Facts whose path begins with `~/` in the policy itself."},
		{"your settings of a host", "read and write", "The same with `--scope user`, and `ralph until` where the host has no settings for you in one project."},
		{"~/.gemini/trustedFolders.json, ~/.qwen/trustedFolders.json, ~/.copilot/config.json", "read", "`ralph install` and `doctor`: whether the host trusts the directory."},
		{"~/.codex/config.toml, ~/.gemini/extensions/ralph/gemini-extension.json", "read", "`ralph install` and `doctor`: whether ralph's plugin is installed."},
		{"/etc/claude-code/managed-settings.json", "read", "`ralph doctor` and `status`: settings of the administrator. On macOS `/Library/Application Support/ClaudeCode/managed-settings.json`, on Windows `C:\\Program Files\\ClaudeCode\\managed-settings.json`."},
		{"~/.claude/projects, ~/.codex/sessions, ~/.gemini/tmp, ~/.gemini/projects.json, ~/.qwen/projects, ~/.copilot/session-state", "read", "`ralph run`: the session file of the iteration."},
		{"/proc/[0-9]*, on Linux", "read", "`ralph run`: the processes that an agent started."},
		{"/proc/self/exe, on Linux", "read", "`ralph run`: its watch is the same file."},
		{"/proc/self/mountinfo, /proc/*/cgroup, on Linux", "read", "The control group of a program that starts."},
		{stateFile("memoryDir") + "/, " + stateFile("lockDir") + "/, " + stateFile("cleanStamp"), "read and write", "Counts and memory of loops, at each event that a policy is for."},
		{stateFile("resetDir") + "/", "write", "`ralph reset`: the memories that it moved."},
		{stateFile("orderDir") + "/, " + stateFile("hintDir") + "/", "read and write", "`ralph stop`, `start`, `pause`, `resume` and `hint`; each event reads them."},
		{stateFile("trustDir") + "/", "read and write", "Trusted projects and approvals: `ralph trust`, `start` and `init`."},
		{stateFile("runDir") + "/, STATE/worktrees/", "read and write", "`ralph run`, `status` and `stop`; hooks read which runs are under way."},
		{"STATE/.ralph/runs/ID", "read and write", "`ralph until` with an agent: what `ralph run` has in `.ralph/runs/ID`."},
		{stateFile("logName") + ", " + stateFile("logRotated") + ", .2, …", "read and write", "The decision log."},
		{stateFile("textDir") + "/", "read and write", "The text of each policy that decided."},
		{"ralph-test-*, ralph-git-*", "write", "In the directory for temporary files, removed at the end: `ralph test`, and the configuration for git."},
		{"what git reads", "read", "`git` facts and `ralph run --worktree`: the repository, and your `~/.config/git/ignore` and `~/.config/git/attributes`."},
	}
}

// The page names every variable and every file, and the sources name no other.
func TestEnvironmentPage(t *testing.T) {
	p := reference.New(t, "environment", "Environment and files")
	p.Text("Every variable that ralph reads and every file that it reads or writes. Policies can read more variables, as `env.NAME`. Those by which ralph knows an agent's session are on the page of [hosts](../hosts.md#sessions). [Security](../security.md) describes what ralph does with them.")
	known := map[string]bool{}
	used := byPolicies(t)
	for _, section := range sections(t, "environment.txt") {
		p.Section(2, section.title)
		read := slices.ContainsFunc(section.rows, func(row []string) bool { return len(used[row[0]]) > 0 })
		rows := [][]string{{"variable", "meaning", "policies that read it"}}
		for _, v := range section.rows {
			names := strings.Split(v[0], ", ")
			for _, name := range names {
				if known[name] {
					t.Errorf("%s is there twice", name)
				}
				known[name] = section.title != "Of libraries"
			}
			policies := "-"
			if names := used[v[0]]; len(names) > 0 {
				policies = reference.Code(names...)
			}
			rows = append(rows, []string{reference.Code(names...), v[1], policies})
		}
		if section.title == "What programs get" {
			p.Text("Programs that a policy runs get ralph's environment with `RALPH_OFF=1` and `RALPH_PROGRAM`, and without the variables that make an interpreter, the loader or git load a file or start a program: %s. Also left out are `GIT_CONFIG_KEY_…`, `GIT_CONFIG_VALUE_…`, and `_JAVA_OPTIONS` with an option that loads a file. `ralph explain` names what a program did not get. "+
				"git itself gets, of the variables that begin with `GIT_`, only those of this table, `GIT_AUTHOR_…` and `GIT_COMMITTER_…`, and `GIT_CONFIG_…` where it lists your configuration for ralph.",
				reference.Code(taken(t)...))
		}
		if !read {
			for i := range rows {
				rows[i] = rows[i][:2]
			}
		}
		p.Table(rows...)
	}

	names := constants(t, "internal/store")
	stateFile := func(name string) string {
		v, ok := names[name]
		if !ok {
			t.Fatalf("there is no constant internal/store.%s", name)
		}
		return "STATE/" + constant.StringVal(v)
	}
	files := func(title, about string, all []place) {
		p.Section(2, title)
		p.Text("%s", about)
		rows := [][]string{{"file", "use", "when"}}
		for _, f := range all {
			words := f.path
			if strings.ContainsAny(words, "/.") {
				words = reference.Code(strings.Split(f.path, ", ")...)
			}
			rows = append(rows, []string{words, f.use, f.when})
		}
		p.Table(rows...)
	}
	files("Files of the project", "All paths are below the root of the project.", placesInProject())
	files("Files elsewhere", "`~` is the home directory, and STATE [ralph's own directory](../security.md#what-it-writes).", placesElsewhere(stateFile))
	p.Check()

	// Whatever the sources name is on the page.
	seen := map[string]bool{"PATH": true}          // by exec.LookPath
	for _, name := range host.SessionVariables() { // TestSessionVariables has them
		known[name], seen[name] = true, true
	}
	for _, name := range taken(t) {
		known[name], seen[name] = true, true
	}
	for name, at := range variablesOf(t) {
		seen[name] = true
		if !known[name] {
			t.Errorf("%s reads or sets %s, which is not on the page: add it to variables", at, name)
		}
	}
	for name, policies := range used {
		seen[name] = true
		if !known[name] {
			t.Errorf("%s reads env.%s, which is not on the page: add it to variables", policies, name)
		}
	}
	for name, own := range known {
		if own && !seen[name] {
			t.Errorf("nothing reads %s any more", name)
		}
	}
	page := ""
	for _, f := range placesInProject() {
		page += f.path + " " + f.when + "\n"
	}
	for _, f := range placesElsewhere(stateFile) {
		page += f.path + " " + f.when + "\n"
	}
	for path, at := range named(t, regexp.MustCompile(`^(\.[a-z][a-z-]*[a-z](/[a-z./]*[a-z])?|(/(etc|Library|usr|opt|var|tmp|proc|dev)/|[A-Z]:\\).*)$`), "host") {
		if !strings.Contains(page, path) && !slices.Contains(notFiles, path) {
			t.Errorf("%s names the file %s, which is not on the page: add it to placesInProject or placesElsewhere", at, path)
		}
	}
}

// notFiles look like hidden or absolute files: the endings of names, and a made-up place in the world of a test.
var notFiles = strings.Fields(".bat .cmd .css .end .exe .fi .js .json .jsonl .live .lock .md .nf .pause .required .sql .stop .tmp .txt .yaml .yml /usr/bin/")

// named returns the strings of the sources that match, in full or by the first group of the pattern, with a place each.
func named(t *testing.T, shape *regexp.Regexp, except ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	eachFile(t, func(name string, src []byte) {
		if slices.Contains(except, path.Dir(name)) {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && shape.MatchString(text) {
					out[text] = name + ":" + strconv.Itoa(fset.Position(n.Pos()).Line)
				}
			}
			return true
		})
	})
	return out
}

// byPolicies returns the shipped policies that read a variable, by its name.
func byPolicies(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	env := regexp.MustCompile(`\benv\.(\w+)`)
	err := fs.WalkDir(examples.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".yaml" || strings.HasSuffix(name, "_test.yaml") {
			return err
		}
		src, err := fs.ReadFile(examples.FS, name)
		if err != nil {
			return err
		}
		policy := strings.TrimSuffix(path.Base(name), ".yaml")
		for _, m := range env.FindAllStringSubmatch(string(src), -1) {
			if !slices.Contains(out[m[1]], policy) {
				out[m[1]] = append(out[m[1]], policy)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// variablesOf returns the variables that the sources name, with a place each: strings that look like a variable, and literals that
// are read as one.
func variablesOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for text, at := range named(t, regexp.MustCompile(`^([A-Z][A-Z0-9]*(_[A-Z0-9]+)+(=[^ ]*)?|LC_ALL|HOME|USERPROFILE)$`)) {
		name, _, _ := strings.Cut(text, "=")
		out[name] = at
	}
	read := regexp.MustCompile(`\b(?:[gG]et|[lL]ookup)?[eE]nv\("(\w+)"\)`)
	eachFile(t, func(name string, src []byte) {
		for _, m := range read.FindAllSubmatch(src, -1) {
			out[string(m[1])] = name
		}
	})
	return out
}

// taken returns the variables that programs do not get.
func taken(t *testing.T) (out []string) {
	t.Helper()
	eachFile(t, func(name string, src []byte) {
		if name == "internal/process/environment.go" {
			list := regexp.MustCompile(`(?s)\nfunc Loading\(.*?\n}\n`).Find(src)
			for _, m := range regexp.MustCompile(`"([A-Z_\d]+)"`).FindAllSubmatch(list, -1) {
				out = append(out, string(m[1]))
			}
		}
	})
	if len(out) == 0 {
		t.Fatal("internal/process/environment.go has no list of variables")
	}
	return out
}

// eachFile reads the files of ralph's packages, without their tests.
func eachFile(t *testing.T, f func(name string, src []byte)) {
	t.Helper()
	for _, pkg := range packages(t) {
		files, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f(pkg+"/"+filepath.Base(file), src)
		}
	}
}
