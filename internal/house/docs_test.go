// Package house holds the tests of the repository as a whole. This one reads the documents: what they show is true.
package house

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// block is a fenced block of a page. A comment in the line before it says more: <!-- file: NAME --> writes it to a file of that name,
// <!-- from: PATH --> says of which file of the repository it is a part.
type block struct {
	at         string // page and line
	mark, name string
	lang, text string
}

var fence = regexp.MustCompile("(?ms)^(?:<!-- (file|from): (\\S+) -->\n+)?^```(\\w*)\n(.*?)^```$")

func blocks(page, src string) (all []block) {
	for _, m := range fence.FindAllStringSubmatch(src, -1) {
		line := 1 + strings.Count(src[:strings.Index(src, m[0])], "\n")
		all = append(all, block{fmt.Sprintf("%s:%d", page, line), m[1], m[2], m[3], m[4]})
	}
	return all
}

// pages returns the documents: path below the repository, and text.
func pages(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, _ := fs.Glob(os.DirFS(root), pattern)
		for _, name := range names {
			src, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			all[name] = strings.ReplaceAll(string(src), "\r\n", "\n")
		}
	}
	return all
}

// Each command of a console block runs in a directory of its page and prints what the page shows, where … stands for anything. Each
// policy passes ralph check, each file that is quoted has the quoted lines, and JSON is JSON.
func TestBlocks(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the pages show commands of a POSIX shell")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, root+"/cmd/ralph").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for page, src := range pages(t) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			s, all := newSession(t, bin, src), blocks(page, src)
			for _, b := range all {
				if b.mark == "file" && b.lang == "json" { // a policy may need a schema that the page shows below it
					s.file(b)
				}
			}
			for _, b := range all {
				switch {
				case b.mark == "file":
					s.file(b)
				case b.mark == "from":
					quoted(t, b)
				case b.lang == "go":
					t.Errorf("%s: say from which file this code is", b.at)
				case b.lang == "console":
					s.console(b)
				case b.lang == "json" && !json.Valid([]byte(b.text)):
					t.Errorf("%s: this is not JSON", b.at)
				}
			}
		})
	}
}

// session runs the commands of one page.
type session struct {
	t   *testing.T
	dir string // of the next command
	cwd string // the file in which a command leaves where it ended
	env []string
}

func newSession(t *testing.T, bin, src string) *session {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil && strings.Contains(src, " examples/") { // a page of which commands begin in the repository
		err = os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples")))
	}
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return &session{t: t, dir: dir, cwd: filepath.Join(home, "cwd"), env: []string{"HOME=" + home, "RALPH_STATE_DIR=" + filepath.Join(home, "state"),
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}}
}

// run runs a command where the last one ended.
func (s *session) run(command string) (string, error) {
	command = strings.ReplaceAll(command, "go run ./cmd/ralph", "ralph")
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command+"\nstatus=$?; pwd > "+s.cwd+"; exit $status")
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if at, err := os.ReadFile(s.cwd); err == nil {
		s.dir = strings.TrimSpace(string(at))
	}
	return string(out), err
}

// file writes a file. A policy must pass ralph check, and tests of one must pass.
func (s *session) file(b block) {
	path := filepath.Join(s.dir, filepath.FromSlash(b.name))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(b.text), 0o644)
	}
	var out string
	if policy, tests := strings.CutSuffix(b.name, "_test.yaml"); tests && err == nil {
		out, err = s.run("ralph test " + policy + ".yaml")
	} else if b.lang == "yaml" && err == nil {
		out, err = s.run("ralph check " + b.name)
	}
	if err != nil {
		s.t.Errorf("%s: %s: %v\n%s", b.at, b.name, err, out)
	}
}

// console runs the commands of a block. One without output shown must succeed.
func (s *session) console(b block) {
	for _, part := range strings.Split("\n"+b.text, "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		got, err := s.run(command)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", `[\s\S]*`)
		if pattern == "" && err != nil || pattern != "" && !regexp.MustCompile(`^\s*`+pattern+`\s*$`).MatchString(got) {
			s.t.Errorf("%s: $ %s\n--- want\n%s\n--- got (%v)\n%s", b.at, command, want, err, got)
		}
	}
}

// quoted checks that the lines of a block are in a file, without its indentation. A line … stands for any lines.
func quoted(t *testing.T, b block) {
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.name)))
	if err != nil {
		t.Error(err)
	}
	have := strings.Split(string(src), "\n")
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		i := slices.IndexFunc(have, func(l string) bool { return line == "…" || strings.TrimSpace(l) == line })
		if i < 0 {
			t.Errorf("%s: %s does not have this line there: %s", b.at, b.name, line)
			return
		}
		have = have[i:]
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noID    = regexp.MustCompile(`[^\w -]`)
)

// Each link within the repository leads to a page or directory that exists, and to a heading of it.
func TestLinks(t *testing.T) {
	all := pages(t)
	for page, src := range all {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(src, ""), -1) {
			path, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := page
			if path != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if fragment != "" && !slices.Contains(anchors(all[target]), fragment) {
				t.Errorf("%s: %s has no heading %s", page, target, fragment)
			}
		}
	}
}

// anchors returns what GitHub makes of the headings of a page.
func anchors(src string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(src, ""), -1) {
		all = append(all, strings.ReplaceAll(strings.ToLower(noID.ReplaceAllString(m[1], "")), " ", "-"))
	}
	return all
}
