package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// The test binary is the command, too: called by one of these names it is ralph, or
// a ralph whose sources misbehave in every way that there is.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "ralph":
		main()
	case "bad-ralph":
		badMain()
	}
	if signal.Ignored(syscall.SIGHUP) { // by nohup: the programs of the scripts must not inherit that
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}

// quickExit keeps a process that was built with -race from sleeping before it ends.
const quickExit = "GORACE=atexit_sleep_ms=0"

func badMain() {
	protect()
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, sources: []loop.Source{
		bad{"panics", func() { panic("boom") }},
		bad{"overflows", func() { overflow(0) }},
		bad{"panics_elsewhere", func() {
			go panic("boom")
			select {}
		}},
		bad{"hangs", func() { select {} }},
		bad{"spins", func() {
			for time.Now().Unix() > 0 { // for ever
			}
		}},
	}}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}

// bad is a fact source that never returns a value.
type bad struct {
	name string
	do   func()
}

func (b bad) Kind() rules.SourceKind { return rules.SourceKind{Name: b.name, Doc: "A test's."} }

func (b bad) Gather(context.Context, loop.Query) rules.Value {
	b.do()
	return rules.Value{Status: rules.Missing}
}

// overflow needs all the stack that there is.
func overflow(n int) int {
	var frame [256]int
	frame[n%256] = n
	if n < 0 { // it never is
		return n
	}
	return overflow(n+1) + frame[(n+1)%256]
}

// hook is one call of a hook, with its own project.
type hook struct {
	command string // "ralph" if empty
	dir     string
	store   string
	args    []string
	stdin   io.Reader // the event of a stop if nil
	env     []string
	stdout  io.Writer // result.stdout if nil
	stderr  io.Writer

	prepare func(*exec.Cmd) // changes how the process is started
}

// result is how a process ended.
type result struct {
	stdout, stderr string
	status         int // -1 if a signal ended it
	state          *os.ProcessState
}

// newHook makes a project with these files; ralph eval is called with args.
func newHook(t testing.TB, files map[string]string, args ...string) hook {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return hook{dir: dir, store: t.TempDir(), args: append([]string{"eval"}, args...)}
}

// event is the input of a stop in the project, with these fields changed.
func (h hook) event(fields map[string]any) string {
	all := map[string]any{"session_id": "s-1", "hook_event_name": "Stop", "cwd": h.dir, "stop_hook_active": false}
	for name, v := range fields {
		all[name] = v
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts always encode
	}
	return string(b)
}

func (h hook) cmd() *exec.Cmd {
	name := h.command
	if name == "" {
		name = "ralph"
	}
	self, err := os.Executable()
	if err != nil {
		panic(err) // there is no test to run then
	}
	cmd := exec.Command(self, h.args...)
	cmd.Args[0] = name
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), quickExit, "RALPH_STATE_DIR="+h.store, "RALPH_OFF=", "CLAUDE_PROJECT_DIR=", "CLAUDE_SESSION_ID=")
	cmd.Env = append(cmd.Env, h.env...)
	cmd.Stdin = h.stdin
	if h.stdin == nil {
		cmd.Stdin = strings.NewReader(h.event(nil))
	}
	if h.prepare != nil {
		h.prepare(cmd)
	}
	return cmd
}

func (h hook) run(t testing.TB) result {
	t.Helper()
	cmd := h.cmd()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = h.stdout, h.stderr
	if h.stdout == nil {
		cmd.Stdout = &stdout
	}
	if h.stderr == nil {
		cmd.Stderr = &stderr
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState}
}

// answer reads the one JSON object on stdout, or nothing.
func (r result) answer(t testing.TB) (a struct{ Decision, Reason, SystemMessage string }) {
	t.Helper()
	if r.stdout == "" {
		return a
	}
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	if err := dec.Decode(&a); err != nil {
		t.Fatalf("%v in %q", err, r.stdout)
	}
	if dec.More() {
		t.Errorf("more than one answer: %q", r.stdout)
	}
	return a
}

// letsGo checks that a hook let the agent stop and reported why.
func (r result) letsGo(t testing.TB, notice, stderr string) {
	t.Helper()
	a := r.answer(t)
	if r.status != 0 || a.Decision != "" {
		t.Errorf("status %d, decision %q", r.status, a.Decision)
	}
	if !strings.Contains(a.SystemMessage, notice) {
		t.Errorf("notice %q, want %q in it", a.SystemMessage, notice)
	}
	if !strings.Contains(r.stderr, stderr) || r.stderr == "" && stderr != "" {
		t.Errorf("stderr %q, want %q in it", r.stderr, stderr)
	}
}

// A newcomer finds the way: so many commands and flags are enough. A name has one letter, and a letter one name.
func TestCommandsAndFlags(t *testing.T) {
	commands, flags := 0, 0
	names, letters := map[string]string{}, map[string]string{} // each with its counterpart
	var count func(c *cobra.Command)
	count = func(c *cobra.Command) {
		seen := func(f *pflag.Flag) {
			if f.Name == "help" { // which every command has
				return
			}
			flags++
			if letter, ok := names[f.Name]; ok && letter != f.Shorthand {
				t.Errorf("%s: --%s has the letter %q, and %q elsewhere", c.Name(), f.Name, f.Shorthand, letter)
			}
			if name := letters[f.Shorthand]; name != "" && name != f.Name {
				t.Errorf("%s: -%s is --%s, and --%s elsewhere", c.Name(), f.Shorthand, f.Name, name)
			}
			if names[f.Name] = f.Shorthand; f.Shorthand != "" {
				letters[f.Shorthand] = f.Name
			}
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			if fs.AddFlag(f); strings.Count(fs.FlagUsages(), "default") > 1 {
				t.Errorf("%s: help prints more than one default: %s", c.Name(), fs.FlagUsages())
			}
		}
		c.LocalNonPersistentFlags().VisitAll(seen)
		c.PersistentFlags().VisitAll(seen)
		for _, sub := range c.Commands() {
			commands++
			count(sub)
		}
	}
	root := commandTree()
	root.InitDefaultVersionFlag()
	count(root)
	if commands > 25 || flags > 105 || len(names) > 50 {
		t.Errorf("%d commands with %d flags of %d names, want at most 25 with 105 of 50", commands, flags, len(names))
	}
	t.Logf("%d commands, %d flags, %d names", commands, flags, len(names))
}
