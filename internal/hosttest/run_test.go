//go:build hosts

package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// agents are the clients as users give them to ralph run, and the call of their shell tool.
var agents = []struct {
	client
	adapter run.Adapter
	args    []string
	tool    string
	input   func(script string) map[string]any
}{
	{claude, run.Claude(), []string{"-p", "--allowedTools", "Bash"}, "Bash", described},
	{codex, run.Codex(), []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}, "exec_command",
		func(script string) map[string]any { return map[string]any{"cmd": script} }},
	{gemini, run.Gemini(), []string{"-y"}, "run_shell_command", described},
	{qwen, run.Qwen(), []string{"-y"}, "run_shell_command",
		func(script string) map[string]any { return map[string]any{"command": script, "is_background": false} }},
	{copilot, run.Copilot(), []string{"--allow-all-tools"}, "bash", described},
}

func described(script string) map[string]any {
	return map[string]any{"command": script, "description": "Work"}
}

// threeSteps ends after three iterations.
const threeSteps = `ralph: 1
rules:
  - name: done
    when: run.iteration >= 3
    stop: three are done
  - name: again
    continue: "-do step ${run.iteration + 1}."
`

// results records the adapter's results of the iterations.
type results struct {
	run.Adapter
	all []run.Result
}

func (r *results) Output() run.Output { return &resultsOf{r.Adapter.Output(), r} }

type resultsOf struct {
	run.Output
	r *results
}

func (o *resultsOf) Result(p run.Process) run.Result {
	res := o.Output.Result(p)
	o.r.all = append(o.r.all, res)
	return res
}

// loop runs a client by threeSteps.
func (s *scene) loop(ctx context.Context, a run.Adapter, args []string, opts ...run.Option) (outcomes []run.Outcome, end run.Event, all []run.Result) {
	s.t.Helper()
	program, diags := rules.LoadBytes(ctx, "steps.yaml", []byte(threeSteps), rules.Config{})
	if program == nil {
		s.t.Fatal(diags.Err())
	}
	seen := &results{Adapter: a}
	env := append(s.env, "GEMINI_CLI_TRUST_WORKSPACE=true")
	r, err := run.New(program, seen, append(opts, run.WithDir(s.dir), run.WithEnv(env), run.WithArgs(s.agent(args)...))...)
	if err != nil {
		s.t.Fatal(err)
	}
	for ev := range r.Run(ctx) {
		if ev.Kind == run.IterationEnd {
			outcomes = append(outcomes, ev.Outcome)
			s.t.Logf("iteration %d: %s %s", ev.Iteration, ev.Outcome, ev.Problem)
		}
		end = ev
	}
	s.alone()
	return outcomes, end, seen.all
}

// agent is the command line of the client with some arguments.
func (s *scene) agent(args []string) []string {
	return append([]string{filepath.Join(clientsDir, "node_modules", s.client.program)}, args...)
}

// alone checks that no process of the project is left over.
func (s *scene) alone() {
	s.t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if cwd, err := os.Readlink(filepath.Join(dir, "cwd")); err == nil && strings.HasPrefix(cwd, s.dir) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			s.t.Errorf("%s is left over: %q", dir, bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
}

// hang makes a named pipe, and a shell script that writes to it and never ends. The channel is closed after it has
// written.
func (s *scene) hang() (script string, started <-chan struct{}) {
	s.t.Helper()
	pipe := filepath.Join(s.dir, "started") // some shell tools may not leave the project
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		s.t.Fatal(err)
	}
	c := make(chan struct{})
	go func() {
		defer close(c)
		if f, err := os.Open(pipe); err == nil {
			_, _ = f.Read(make([]byte, 1)) // a pipe that is closed early would end the script
			f.Close()
		}
	}()
	s.t.Cleanup(func() { // for a script that never ran
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			_, _ = f.WriteString("\n")
			<-c
			f.Close()
		}
	})
	return "echo started > " + pipe + "; tail -f /dev/null", c
}

func TestRun(t *testing.T) {
	for _, a := range agents {
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			s.script = func(r request) reply {
				if strings.Contains(r.text, "step 2") && !strings.Contains(r.text, "one two") {
					return reply{tool: a.tool, input: a.input("echo one two")}
				}
				return reply{text: "Hello there."}
			}
			outcomes, end, all := s.loop(t.Context(), a.adapter, a.args)
			if diff := cmp.Diff([]run.Outcome{run.OK, run.OK, run.OK}, outcomes); diff != "" || end.Ended != run.Stopped || end.Rule != "done" {
				t.Fatalf("it ends with %+v (-want +got)\n%s", end, diff)
			}
			sessions := map[string]bool{}
			for i, res := range all {
				sessions[res.Session] = true
				if res.Text != "Hello there." || res.Transcript == "" || a.adapter.Reports().Tokens != (res.Tokens+res.Used > 0) || a.adapter.Reports().Cost != (res.Cost != nil) {
					t.Errorf("iteration %d: %+v", i+1, res)
				}
			}
			if len(sessions) != 3 {
				t.Errorf("the sessions are %v, want three", sessions)
			}
			text := ""
			for _, r := range s.asked {
				text += r.last
			}
			for _, step := range []string{"-do step 1.", "-do step 2.", "-do step 3."} {
				if !strings.Contains(text, step) {
					t.Errorf("the model was not asked to %q", step)
				}
			}
		})
	}
}

// The session continues: the model sees what came before, and its tokens are counted once.
func TestRunContinues(t *testing.T) {
	for _, a := range agents {
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			s.script = func(request) reply { return reply{text: "Hello there."} }
			outcomes, end, all := s.loop(t.Context(), a.adapter, a.args, run.WithContinue())
			if diff := cmp.Diff([]run.Outcome{run.OK, run.OK, run.OK}, outcomes); diff != "" {
				t.Fatalf("it ends with %+v (-want +got)\n%s", end, diff)
			}
			if all[0].Session == "" || all[0].Session != all[1].Session || all[1].Session != all[2].Session {
				t.Errorf("the sessions are %q, %q and %q", all[0].Session, all[1].Session, all[2].Session)
			}
			if last := s.asked[len(s.asked)-1]; !strings.Contains(last.text, "step 1") || !strings.Contains(last.text, "step 3") {
				t.Errorf("the model was asked %q", last.text)
			}
			first := max(all[0].Tokens, all[0].Used)
			if got := end.Totals.Tokens; got != 3*first {
				t.Errorf("%d tokens, want three times %d", got, first)
			}
		})
	}
}

func TestRunUnauthorized(t *testing.T) {
	for _, a := range agents {
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			s.script = func(request) reply { return reply{fails: 401} }
			outcomes, end, _ := s.loop(t.Context(), a.adapter, a.args)
			if diff := cmp.Diff([]run.Outcome{run.Auth}, outcomes); diff != "" || end.Ended != run.NoAccess {
				t.Errorf("it ends with %+v (-want +got)\n%s", end, diff)
			}
		})
	}
}

// An iteration that takes too long is ended with its shell tool.
func TestRunTimeout(t *testing.T) {
	for _, a := range agents {
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			script, started := s.hang()
			s.script = func(request) reply { return reply{tool: a.tool, input: a.input(script)} }
			outcomes, end, _ := s.loop(t.Context(), a.adapter, a.args, run.WithIteration(20*time.Second), run.WithLimits(run.Limits{Iterations: 1}))
			if diff := cmp.Diff([]run.Outcome{run.Timeout}, outcomes); diff != "" || end.Ended != run.AtLimit {
				t.Errorf("it ends with %+v (-want +got)\n%s\nthe model was last asked %q", end, diff, s.asked[len(s.asked)-1].last)
			}
			select {
			case <-started:
			default:
				t.Error("the shell tool did not run")
			}
		})
	}
}

func TestRunCancelled(t *testing.T) {
	for _, a := range agents {
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			script, started := s.hang()
			s.script = func(request) reply { return reply{tool: a.tool, input: a.input(script)} }
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			go func() {
				<-started
				cancel()
			}()
			outcomes, end, _ := s.loop(ctx, a.adapter, a.args)
			if diff := cmp.Diff([]run.Outcome{run.Interrupted}, outcomes); diff != "" || end.Ended != run.Cancelled {
				t.Errorf("it ends with %+v (-want +got)\n%s", end, diff)
			}
		})
	}
}

// A run that is killed in its second iteration is resumed with that iteration.
func TestRunResumed(t *testing.T) {
	for _, a := range agents {
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			s.env = append(s.env, "GEMINI_CLI_TRUST_WORKSPACE=true")
			s.write("steps.yaml", threeSteps)
			script, started := s.hang()
			var killed atomic.Bool
			s.script = func(r request) reply {
				if strings.Contains(r.text, "step 2") && !killed.Load() {
					return reply{tool: a.tool, input: a.input(script)}
				}
				return reply{text: "Hello there."}
			}
			cmd := exec.Command(ralphProgram, append([]string{"run", "--policy", "steps.yaml", "--format", "json", "--"}, s.agent(a.args)...)...)
			var out bytes.Buffer
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			giveUp := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			go func() {
				<-started
				killed.Store(true)
				cmd.Process.Kill()
			}()
			cmd.Wait()
			giveUp.Stop()
			if !killed.Load() {
				t.Fatalf("the shell tool did not run:\n%.2000s", out.String())
			}
			again := s.try(ralphProgram, "run", "--resume", "--format", "json")
			s.alone()
			logs, _ := filepath.Glob(filepath.Join(s.dir, run.Dir, "*", "run.jsonl"))
			if len(logs) != 1 {
				t.Fatalf("the runs are %q\n%s", logs, again.out)
			}
			var got []string
			for line := range strings.Lines(s.read(logs[0])) {
				var ev run.Event
				if err := json.Unmarshal([]byte(line), &ev); err != nil {
					t.Fatal(err)
				}
				switch ev.Kind {
				case run.IterationEnd:
					got = append(got, string(ev.Outcome))
				case run.RunEnd:
					got = append(got, string(ev.Ended))
				}
			}
			if diff := cmp.Diff([]string{"ok", "lost", "ok", "stopped"}, got); diff != "" {
				t.Errorf("status %d (-want +got)\n%s\n%s", again.status, diff, again.out)
			}
		})
	}
}
