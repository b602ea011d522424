// Package web shares what tests, benchmarks and pictures of ralph view need: a project whose decisions a real ralph makes, the
// server, and a browser. It may change in any version. Its module is its own, so that importers of ralph do not get its dependencies.
package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Checklist is a policy that continues while TODO.md has open boxes.
const Checklist = `ralph: 1
description: Works through TODO.md, one box at a time
facts:
  todo: {checklist: TODO.md}
let:
  open: filter(todo, not .done)
measure:
  done: count(todo, .done)
  total: len(todo)
progress: len(open)
limits: {continuations: 300, repeats: 100}
rules:
  - include: ralph:guards/waiting
  - name: asks
    when: last_assistant_message startsWith "QUESTION"
    stop: "The agent asks: ${last_assistant_message}"
  - name: done
    when: len(open) == 0
    stop: every box is ticked
    success: true
  - name: next
    continue: "Next: ${open[0].text}"
`

// Build builds ralph into a directory and returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	program := filepath.Join(dir, "ralph")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/ralph")
	cmd.Dir = filepath.Dir(filepath.Dir(string(module)))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// settings has hooks for the policies of the worlds.
const settings = `{"hooks": {"Stop": [{"hooks": [
  {"type": "command", "command": "ralph eval"},
  {"type": "command", "command": "ralph eval --policy release"}
]}]}}
`

// World is a project and ralph's own files, in a directory of their own.
type World struct {
	Program   string // ralph
	Dir, Home string // of the project, and of the user
	State     string // ralph's own files
}

// NewWorld makes a world in a directory, with the policy above.
func NewWorld(program, dir string) (*World, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	w := &World{Program: program, Dir: filepath.Join(dir, "home", "project"), Home: filepath.Join(dir, "home"), State: filepath.Join(dir, "state")}
	return w, errors.Join(w.Write(".ralph/policy.yaml", Checklist), w.Write(".claude/settings.json", settings), w.Write("TODO.md", "- [x] plan\n- [ ] one\n- [ ] two\n"))
}

// Write writes a file of the project.
func (w *World) Write(name, text string) error {
	name = filepath.Join(w.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// Log returns the path of the decision log.
func (w *World) Log() string { return filepath.Join(w.State, "decisions.jsonl") }

// Command returns a ralph process in the project.
func (w *World) Command(ctx context.Context, stdin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Dir, cmd.Stdin = w.Dir, strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home, "USERPROFILE=" + w.Home, "RALPH_STATE_DIR=" + w.State, "TZ=UTC"}
	return cmd
}

// Ralph runs ralph in the project and returns what it printed.
func (w *World) Ralph(ctx context.Context, stdin string, args ...string) (string, error) {
	out, err := w.Command(ctx, stdin, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("ralph %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// Eval lets a session of an agent end its turn with a message. It returns what ralph answered.
func (w *World) Eval(ctx context.Context, session, message string, args ...string) (string, error) {
	event, err := json.Marshal(map[string]any{"session_id": session, "hook_event_name": "Stop", "cwd": w.Dir, "last_assistant_message": message, "stop_hook_active": false})
	if err != nil {
		return "", err
	}
	return w.Ralph(ctx, string(event), append([]string{"eval"}, args...)...)
}

// Fill makes so many decisions of so many sessions, two at a time. The agent asks in every tenth.
func (w *World) Fill(ctx context.Context, decisions, sessions int) error {
	next := make(chan int)
	errs := make(chan error, 2)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	for range cap(errs) {
		workers.Go(func() {
			for i := range next {
				message := fmt.Sprintf("decision-%d", i)
				if i%10 == 9 {
					message = fmt.Sprintf("QUESTION of decision-%d: which one?", i)
				}
				if _, err := w.Eval(ctx, fmt.Sprintf("session-%d", i%sessions), message); err != nil {
					errs <- err
					cancel()
					return
				}
			}
		})
	}
	for i := 0; i < decisions && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return ctx.Err()
	}
}

// Server is a running ralph view.
type Server struct {
	URL  string // opens the page, once
	Base string // http://127.0.0.1:PORT
	PID  int
	stop func() error
}

// View starts ralph view.
func (w *World) View(ctx context.Context, args ...string) (*Server, error) {
	cmd := w.Command(ctx, "", append([]string{"view"}, args...)...)
	var problems strings.Builder
	cmd.Stderr = &problems
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return nil, fmt.Errorf("ralph view printed no address: %s", problems.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	s := &Server{URL: strings.TrimSpace(line), PID: cmd.Process.Pid}
	s.Base, _, _ = strings.Cut(s.URL, "/?")
	s.stop = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("ralph view: %w\n%s", err, problems.String())
		}
		return nil
	}
	return s, nil
}

// Close ends the server and waits for it.
func (s *Server) Close() error { return s.stop() }
