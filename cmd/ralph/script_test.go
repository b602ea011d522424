package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each script in testdata/script is a session at a terminal, followed by the files that
// it needs. It starts in an empty project with its own home directory, state directory
// and PATH, so that nothing of the user who runs the tests is read or changed. The
// language is that of the Go command's own scripts:
//
//	exec PROGRAM ARG…        run it; it must succeed, after a ! it must fail
//	advice RE                run the command that a line of the last program's output that matches RE names, as it
//	                         is printed there; it must succeed, after a ! it must fail, and must not print the line again.
//	                         What asks a person gets --yes
//	wish                     what follows is a person's, until spent
//	spent N M                since then N programs ran, and M files were written with cp
//	status N                 the exit status of the program that ran last
//	stdout RE, stderr RE     what it printed matches; after a ! it does not
//	stdin FILE               what the next program reads
//	cmp FILE1 FILE2          both are equal; stdout and stderr are files too. TIME in
//	                         FILE2 matches any time such as 2026-11-20T12:00:00Z
//	exists FILE…             they exist; after a ! they do not
//	grep RE FILE             the file matches; after a ! it does not
//	cp, rm, mkdir, chmod, symlink, cd, env NAME=VALUE
//
// A script that names stop.json without having it gets the stop of the session s1.
//
// A word in brackets before a line, [unix] or [windows], limits it to that system.
// $PROGRAM is the path of the program, $WORK the directory of project and home.
// $NAME is replaced outside of single quotes. With UPDATE_SCRIPTS=1 in the
// environment, a cmp that fails writes what the program printed into the script.
// With -short, as with the race detector, only scripts run whose program starts agents or serves:
// in the others no goroutine meets another.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("there are no scripts", err)
	}
	bin, followed := linkProgram(t), &followed{}
	for _, file := range scripts {
		if testing.Short() && !slices.ContainsFunc([]string{"run", "until", "view"}, func(command string) bool {
			return strings.HasPrefix(filepath.Base(file), command)
		}) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScript(t, file, bin, followed)
		})
	}
	t.Cleanup(func() { // when all of them have run
		if only := flag.Lookup("test.run").Value.String(); !t.Failed() && !testing.Short() && runtime.GOOS != "windows" && !strings.Contains(only, "/") {
			followed.check(t)
		}
	})
}

// linkProgram makes a directory for the PATH with the program in it.
func linkProgram(t *testing.T) (dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	name := filepath.Join(dir, "ralph")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if os.Symlink(self, name) == nil || os.Link(self, name) == nil {
		return dir
	}
	src, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(name, src, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A script is one session.
type script struct {
	t        *testing.T
	file     string
	followed *followed
	printed  map[string]string // the lines that named commands, by the command
	archive  archive
	env      []string
	dir      string // where it is
	stdin    string // for the next program
	stdout   string // of the last one
	stderr   string
	status   int
	updated  bool
	line     int
	programs int // since the last wish
	copies   int // the same
}

func runScript(t *testing.T, file, bin string, followed *followed) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(work, name) }
	s := &script{t: t, file: file, followed: followed, printed: map[string]string{}, archive: parseArchive(src), dir: at("project"), env: []string{
		"WORK=" + work, quickExit, "HOME=" + at("home"), "USERPROFILE=" + at("home"), "LocalAppData=" + at("home"),
		"RALPH_STATE_DIR=" + at("state"), "TZ=UTC", "NO_COLOR=1", "TMPDIR=" + at("tmp"), "TEMP=" + at("tmp"),
		"PROGRAM=" + filepath.Join(bin, "ralph"), "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
	}}
	for _, dir := range []string{"home", "project", "tmp"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(s.archive.comment, "stop.json") {
		stop := `{"session_id": "s1", "hook_event_name": "Stop", "cwd": ".", "stop_hook_active": false}` + "\n"
		if err := os.WriteFile(s.path("stop.json"), []byte(stop), 0o644); err != nil { // a file of the script replaces it
			t.Fatal(err)
		}
	}
	for _, f := range s.archive.files {
		name := s.path(f.name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(f.data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(s.archive.comment) {
		s.line++
		s.run(strings.TrimSpace(line))
	}
	if s.updated {
		if err := os.WriteFile(file, s.archive.format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *script) fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s:%d: %s\nstatus %d\nstdout:\n%s\nstderr:\n%s", s.file, s.line, fmt.Sprintf(format, args...), s.status, s.stdout, s.stderr)
}

// run runs one line.
func (s *script) run(line string) {
	s.t.Helper()
	words := s.words(line)
	if len(words) > 0 && strings.HasPrefix(words[0], "[") {
		if words[0] == "[unix]" && runtime.GOOS == "windows" || words[0] == "[windows]" && runtime.GOOS != "windows" {
			return
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	not := words[0] == "!"
	if not {
		words = words[1:]
	}
	name, args := words[0], words[1:]
	needs := map[string]int{"exec": 1, "status": 1, "stdout": 1, "stderr": 1, "stdin": 1, "cmp": 2, "exists": 1, "grep": 2, "cp": 2, "rm": 1, "old": 1, "mkdir": 1, "chmod": 2, "symlink": 3, "cd": 1, "env": 1, "advice": 1, "wish": 0, "spent": 2}
	if n, ok := needs[name]; !ok || len(args) < n {
		s.fatalf("there is no such command, or it lacks a word: %s", line)
	}
	var err error
	switch name {
	case "exec":
		s.exec(args)
		if (s.status != 0) != not {
			s.fatalf("%s: unexpected exit status", line)
		}
	case "advice":
		s.advice(args[0])
		if (s.status != 0) != not {
			s.fatalf("%s: unexpected exit status", line)
		}
	case "wish":
		s.programs, s.copies = 0, 0
	case "spent":
		if spent := []string{strconv.Itoa(s.programs), strconv.Itoa(s.copies)}; !slices.Equal(spent, args) {
			s.fatalf("%d programs ran, and %d files were written", s.programs, s.copies)
		}
	case "status":
		if args[0] != strconv.Itoa(s.status) {
			s.fatalf("expected the exit status %s", args[0])
		}
	case "stdout", "stderr", "grep":
		text := map[string]string{"stdout": s.stdout, "stderr": s.stderr}[name]
		if name == "grep" {
			text = s.read(args[1])
		}
		if regexp.MustCompile("(?m)"+args[0]).MatchString(text) == not {
			s.fatalf("%s: it is otherwise\n%s", line, text)
		}
	case "stdin":
		s.stdin = s.read(args[0])
	case "cmp":
		s.compare(args[0], args[1])
	case "exists":
		for _, arg := range args {
			if _, err := os.Lstat(s.path(arg)); (err == nil) == not {
				s.fatalf("%s: it is otherwise", line)
			}
		}
	case "cp":
		s.copies++
		err = os.WriteFile(s.path(args[1]), []byte(s.read(args[0])), 0o644)
	case "rm":
		err = os.RemoveAll(s.path(args[0]))
	case "old": // its last change was three days ago
		days := time.Now().AddDate(0, 0, -3)
		err = os.Chtimes(s.path(args[0]), days, days)
	case "mkdir":
		err = os.MkdirAll(s.path(args[0]), 0o755)
	case "chmod":
		var mode uint64
		if mode, err = strconv.ParseUint(args[0], 8, 32); err == nil {
			err = os.Chmod(s.path(args[1]), os.FileMode(mode))
		}
	case "symlink": // symlink NAME -> TARGET
		err = os.Symlink(args[2], s.path(args[0]))
	case "cd":
		s.dir = s.path(args[0])
	case "env":
		s.env = append(s.env, args...)
	}
	if err != nil {
		s.fatalf("%s: %v", line, err)
	}
}

func (s *script) exec(args []string) {
	s.t.Helper()
	s.programs++
	env := s.env
	program := args[0]
	if !filepath.IsAbs(program) {
		for _, dir := range filepath.SplitList(s.getenv("PATH")) {
			for _, ext := range []string{"", ".exe"} {
				if info, err := os.Stat(filepath.Join(dir, program+ext)); err == nil && info.Mode().IsRegular() && filepath.IsAbs(dir) {
					program = filepath.Join(dir, program+ext)
					break
				}
			}
			if filepath.IsAbs(program) {
				break
			}
		}
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, env, strings.NewReader(s.stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.fatalf("%v: %v", args, err)
	}
	s.stdin, s.stdout, s.stderr, s.status = "", stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	s.followed.add(s.printed[strings.Join(args, " ")])
	for line := range strings.Lines(s.stdout + s.stderr) {
		if command := commandIn(strings.TrimSpace(line)); command != "" {
			s.printed[command] = line
		}
	}
}

func (s *script) advice(re string) {
	s.t.Helper()
	for line := range strings.Lines(s.stdout + s.stderr) {
		line = strings.TrimSpace(line)
		command := commandIn(line)
		if command == "" || !regexp.MustCompile(re).MatchString(line) {
			continue
		}
		if strings.HasPrefix(command, "ralph trust") || strings.HasPrefix(command, "ralph reset") {
			command += " --yes" // the person's answer
		}
		s.exec([]string{"sh", "-c", command})
		if strings.Contains(s.stdout+s.stderr, line) {
			s.fatalf("%s prints again: %s", command, line)
		}
		s.followed.add(line)
		return
	}
	s.fatalf("no line that matches %s names a command", re)
}

func (s *script) compare(got, want string) {
	s.t.Helper()
	expected, text := s.read(want), s.read(got)
	if strings.Contains(expected, "TIME") {
		text = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllString(text, "TIME")
	}
	diff := cmp.Diff(strings.Split(expected, "\n"), strings.Split(text, "\n"))
	if diff == "" {
		return
	}
	i := slices.IndexFunc(s.archive.files, func(f archived) bool { return f.name == want })
	if os.Getenv("UPDATE_SCRIPTS") != "" && i >= 0 {
		s.archive.files[i].data, s.updated = s.read(got), true
		return
	}
	s.fatalf("%s and %s differ (-want +got):\n%s", got, want, diff)
}

func (s *script) read(name string) string {
	s.t.Helper()
	switch name {
	case "stdout":
		return s.stdout
	case "stderr":
		return s.stderr
	}
	f, err := os.Open(s.path(name))
	if err != nil {
		s.fatalf("%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		s.fatalf("%v", err)
	}
	return string(data)
}

func (s *script) path(name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

func (s *script) getenv(name string) string {
	for _, v := range slices.Backward(s.env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// words splits a line at blanks. Single quotes keep them, and two of them inside
// are one; a # at the start of a word begins a comment.
func (s *script) words(line string) []string {
	var words []string
	var word strings.Builder
	inWord, quoted, start := false, false, 0
	flush := func(end int) { word.WriteString(os.Expand(line[start:end], s.getenv)) }
	for i := 0; i <= len(line); i++ {
		switch {
		case quoted && i == len(line):
			s.fatalf("a quote is not closed: %s", line)
		case quoted && line[i] == '\'' && i+1 < len(line) && line[i+1] == '\'':
			word.WriteString(line[start : i+1])
			i++
			start = i + 1
		case quoted && line[i] == '\'':
			word.WriteString(line[start:i])
			quoted, start = false, i+1
		case quoted:
		case i == len(line) || line[i] == ' ' || line[i] == '\t':
			if inWord {
				flush(i)
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case line[i] == '#' && !inWord:
			return words
		default:
			if !inWord {
				inWord, start = true, i
			}
			if line[i] == '\'' {
				flush(i)
				quoted, start = true, i+1
			}
		}
	}
	return words
}
