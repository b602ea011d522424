package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// bin is the directory with the ralph that the documents describe, and its scripted agent.
var bin string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ralph-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../cmd/ralph", "../examples/run/scripted-agent", "../examples/embed/quickstart", "../examples/embed/checklist")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	bin = dir
	return m.Run()
}

// Every block of every document is true.
func TestDocuments(t *testing.T) {
	for _, name := range documents(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := readDocument(t, name)
			s := &session{t: t, dir: workspace(t, d), home: t.TempDir()}
			for _, b := range d.blocks {
				at := fmt.Sprintf("%s:%d", name, b.line)
				if b.file != "" {
					s.write(b.file, b.text)
				}
				switch b.lang {
				case "console":
					s.console(at, b.text)
				case "yaml":
					if b.file == "" && b.from == "" {
						checkPolicy(t, at, b)
					}
				case "expr":
					checkExpressions(t, at, b, s.dir)
				case "json":
					var v any
					if err := json.Unmarshal([]byte(b.text), &v); err != nil {
						t.Errorf("%s: %v", at, err)
					}
				case "yaml check": // for TestChecksPage
				case "toml":
					var v any
					if err := toml.Unmarshal([]byte(b.text), &v); err != nil {
						t.Errorf("%s: %v", at, err)
					}
				case "go", "sql":
					if b.from == "" {
						t.Errorf("%s: say from which file this code is", at)
					}
				case "sh", "text", "ini", "markdown", "mermaid":
				default:
					t.Errorf("%s: a block of the language %q is not tested", at, b.lang)
				}
				if b.from != "" {
					checkQuote(t, at, b)
				}
			}
		})
	}
}

// workspace is a directory in which a document's commands run, with a copy of examples if they name it.
func workspace(t *testing.T, d document) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.blocks, func(b block) bool { return strings.Contains(b.text, "examples/") }) {
		return dir
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root(t), "examples"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// session runs the commands of one document. Their directory and its files stay
// from one block to the next.
type session struct {
	t    *testing.T
	dir  string // where the next command runs
	home string
	path string // PATH after ralph, that of this process if empty
}

func (s *session) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *session) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// console runs the commands of a block and compares what they print.
func (s *session) console(at, text string) {
	s.t.Helper()
	needShell(s.t)
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(text, -1)[1:] {
		command, want, _ := strings.Cut(part, "\n")
		for strings.HasSuffix(command, `\`) {
			var more string
			more, want, _ = strings.Cut(want, "\n")
			command += "\n" + more
		}
		got := s.shell(command)
		if !matches(want, got) {
			s.t.Errorf("%s: $ %s\n(-document +ralph)\n%s", at, command, cmp.Diff(want, got))
		}
	}
}

func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no shell to run the commands with")
	}
}

func (s *session) shell(command string) string {
	s.t.Helper()
	// In the repository programs are run from their source.
	command = regexp.MustCompile(`go run \./\S*\b(ralph|quickstart)\b`).ReplaceAllString(command, "$1")
	where := filepath.Join(s.home, "pwd")
	cmd := exec.Command("sh", "-c", command+"\npwd -P >"+where)
	path := s.path
	if path == "" {
		path = os.Getenv("PATH")
	}
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + path,
		"HOME=" + s.home, "RALPH_STATE_DIR=" + filepath.Join(s.home, "state"), "LC_ALL=C.UTF-8", "TMPDIR=" + s.home,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("$ %s\n%v\n%s", command, err, out)
	}
	dir, err := os.ReadFile(where)
	if err != nil {
		s.t.Fatal(err)
	}
	s.dir = strings.TrimSpace(string(dir))
	return string(out)
}

// The README's loop works as it is typed, wherever a newcomer types it.
func TestFirstLoop(t *testing.T) {
	needShell(t)
	var blocks []block
	for _, b := range readDocument(t, "README.md").blocks {
		if b.lang == "console" && (strings.Contains(b.text, "mkdir hello") || strings.Contains(b.text, "> TODO.md")) {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("the README has %d blocks of its loop, want 2", len(blocks))
	}
	for place, prepare := range map[string]func(*testing.T, *session){
		"a fresh directory":           func(*testing.T, *session) {},
		"this checkout":               func(t *testing.T, s *session) { s.shell("git clone -q " + root(t) + " . && mkdir -p .ralph .claude") },
		"a subdirectory":              func(t *testing.T, s *session) { s.shell("git init -q . && mkdir sub && cd sub") },
		"a subdirectory of a project": func(t *testing.T, s *session) { s.shell("ralph init && ralph pause && mkdir sub && cd sub") },
		"no git": func(t *testing.T, s *session) {
			s.path = t.TempDir()
			for _, name := range []string{"sh", "mkdir"} {
				if at, err := exec.LookPath(name); err == nil && os.Symlink(at, filepath.Join(s.path, name)) != nil {
					t.Skip("there are no symbolic links")
				}
			}
		},
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(filepath.Join(root(t), ".git")); err != nil && place == "this checkout" {
				t.Skip("it is none")
			}
			s := &session{t: t, dir: workspace(t, document{}), home: t.TempDir()}
			prepare(t, s)
			for _, b := range blocks {
				s.console(fmt.Sprintf("README.md:%d", b.line), b.text)
			}
			// The hook, as it is in the settings.
			var settings struct {
				Hooks map[string][]struct{ Hooks []struct{ Command string } }
			}
			if err := json.Unmarshal([]byte(s.read(".claude/settings.json")), &settings); err != nil {
				t.Fatal(err)
			}
			s.write("stop.json", `{"session_id": "s1", "hook_event_name": "Stop", "cwd": "`+s.dir+`", "stop_hook_active": false}`)
			hook := settings.Hooks["Stop"][0].Hooks[0].Command + " <stop.json"
			if got := s.shell("(" + hook + ")"); !strings.Contains(got, `{"decision":"block"`) || !strings.Contains(got, "- [ ] write hello.txt") {
				t.Errorf("with open boxes the hook prints\n%s", got)
			}
			s.write("TODO.md", "- [x] write hello.txt\n")
			if got := s.shell("(" + hook + ")"); got != "" {
				t.Errorf("with no open box the hook prints\n%s", got)
			}
		})
	}
}

// matches compares an output with what a document shows of it. Blanks at the end
// of a line and blank lines at the end do not count.
func matches(want, got string) bool {
	tidy := func(s string) string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.TrimRightFunc(lines[i], unicode.IsSpace)
		}
		return strings.TrimRight(strings.Join(lines, "\n"), "\n")
	}
	var re strings.Builder
	re.WriteString(`\A`)
	for _, line := range strings.SplitAfter(tidy(want)+"\n", "\n") {
		if line == "…\n" {
			re.WriteString(`(?:.*\n)*?`)
			continue
		}
		re.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*?"))
	}
	re.WriteString(`\z`)
	return regexp.MustCompile(re.String()).MatchString(tidy(got) + "\n")
}

// checkPolicy loads a policy, or a fragment that with completes.
func checkPolicy(t *testing.T, at string, b block) {
	t.Helper()
	src := []byte(b.text)
	whole := strings.HasPrefix(strings.TrimLeft(stripComments(b.text), "\n"), "ralph:")
	if !whole {
		src = complete(t, at, b.text, b.with)
	}
	_, findings := rules.Load(t.Context(), fstest.MapFS{"policy.yaml": {Data: src}}, "policy.yaml", loop.Config())
	if whole && len(findings) > 0 || findings.Err() != nil {
		t.Errorf("%s:\n%s\n%s", at, findings.Format(), src)
	}
}

func stripComments(s string) string {
	return regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(s, "")
}

// complete makes a policy of a fragment: top-level keys, or only rules.
func complete(t *testing.T, at, fragment, with string) []byte {
	t.Helper()
	if strings.HasPrefix(strings.TrimSpace(stripComments(fragment)), "- ") {
		fragment = "rules:\n" + fragment
	}
	policy := map[string]any{"ralph": 1}
	for _, src := range []string{with, fragment} {
		var part map[string]any
		if err := yaml.Unmarshal([]byte(src), &part); err != nil {
			t.Fatalf("%s: %v\n%s", at, err, src)
		}
		for key, v := range part {
			if have, ok := policy[key].(map[string]any); ok {
				for k, item := range v.(map[string]any) {
					have[k] = item
				}
				continue
			}
			policy[key] = v
		}
	}
	out, err := yaml.Marshal(policy)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	return out
}

// checkExpressions works out each line "EXPRESSION → VALUE" in the project dir.
func checkExpressions(t *testing.T, at string, b block, dir string) {
	t.Helper()
	for line := range strings.Lines(b.text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  # ")
		if line == "" {
			continue
		}
		expression, want, ok := strings.Cut(line, "→")
		if !ok {
			t.Errorf("%s: %q has no →", at, line)
			continue
		}
		rule, err := yaml.Marshal(map[string]any{"rules": []any{map[string]any{"name": "value", "continue": "=${" + strings.TrimSpace(expression) + "}"}}})
		if err != nil {
			t.Fatal(err)
		}
		src := complete(t, at, string(rule), b.with)
		program, findings := rules.Load(t.Context(), fstest.MapFS{"policy.yaml": {Data: src}}, "policy.yaml", loop.Config())
		if program == nil {
			t.Errorf("%s: %s\n%s", at, line, findings.Format())
			continue
		}
		if got := reason(t, program, dir); got != strings.TrimSpace(want) {
			t.Errorf("%s: %s\nis %s", at, line, got)
		}
	}
}

// reason lets an agent stop and returns the reason that the agent gets, in one line.
func reason(t *testing.T, p *rules.Program, dir string) string {
	t.Helper()
	l, err := loop.New(p, loop.WithRoot(dir), loop.WithState(filepath.Join(t.TempDir(), "state")))
	if err != nil {
		t.Fatal(err)
	}
	input := []byte(`{"session_id": "s1", "hook_event_name": "Stop", "cwd": ".", "last_assistant_message": "Task 2 is done."}`)
	_, ev, err := host.Read(input, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := l.Preview(t.Context(), ev)
	return strings.ReplaceAll(strings.TrimPrefix(d.Verdict.Reason, "="), "\n", "⏎")
}

// checkQuote looks for a block in the file that it quotes. A line of … replaces lines that are left out; indentation
// that all lines share does not count.
func checkQuote(t *testing.T, at string, b block) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(b.from)))
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if regexp.MustCompile(`(?m)^package `).MatchString(b.text) && b.text != string(src) {
		t.Errorf("%s: this is not the whole of %s:\n%s", at, b.from, cmp.Diff(string(src), b.text))
	}
	for _, part := range regexp.MustCompile(`(?m)^\s*…\n`).Split(b.text, -1) {
		if !strings.Contains(string(src), part) && !containsIndented(string(src), part) {
			t.Errorf("%s: this is not in %s:\n%s", at, b.from, part)
		}
	}
}

// containsIndented looks for part in src where every line has the same white space
// in front.
func containsIndented(src, part string) bool {
	for _, indent := range []string{"\t", "\t\t", "  ", "    "} {
		if strings.Contains(src, regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(part, indent+"$1")) {
			return true
		}
	}
	return false
}

// Links lead somewhere: to files of the repository and to headings in them.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, name := range documents(t) {
		d := readDocument(t, name)
		for _, m := range link.FindAllStringSubmatch(d.text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := name
			if target != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
				if _, err := os.Stat(filepath.Join(root(t), file)); err != nil {
					t.Errorf("%s: the link %s leads nowhere", name, m[1])
					continue
				}
			}
			if anchor != "" && !headings(readDocument(t, file))[anchor] {
				t.Errorf("%s: there is no heading for the link %s", name, m[1])
			}
		}
	}
}

// headings returns the anchors of a document's headings, as code hosts make them.
func headings(d document) map[string]bool {
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(d.text, -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		out[anchor] = true
	}
	return out
}

// A line of prose has at most 200 characters, so that a change of a sentence is a change of a line. Tables, comments and
// front matter are not prose.
func TestLines(t *testing.T) {
	other := regexp.MustCompile(`(?s)\A---\n.*?\n---\n|<!--.*?-->`)
	for _, name := range documents(t) {
		text := other.ReplaceAllString(readDocument(t, name).text, "")
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(line); n > 201 && !strings.HasPrefix(line, "|") { // with its line end
				t.Errorf("%s: break this line of %d characters:\n%s", name, n-1, line)
			}
		}
	}
}
