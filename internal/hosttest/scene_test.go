//go:build hosts

package hosttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is more than any client needs. One that needs it hangs, and the test fails.
const patience = 2 * time.Minute

// client is a row of the table of clients: a coding agent as these tests run it.
type client struct {
	host    string // as ralph install names it
	program string // below node_modules
	args    []string
	env     func(url string) []string
	files   map[string]string // of the home directory; URL is that of the model
	trust   func(s *scene)    // does what a person confirms after ralph install; nil: nothing
	agent   *reply            // the call that starts a subagent with "Build it."; nil: hooks are not asked for those
	wait    func(agent string) reply
	edit    func(file string) reply // nil: ralph does not read what its session file says of tools
	shell   func(command string) reply
}

// arch is what npm calls this machine.
var arch = map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]

var clientRows = []client{
	{
		host:    "claude-code",
		program: "@anthropic-ai/claude-code-linux-" + arch + "/claude",
		args:    []string{"--allowedTools=Bash,Write", "-p"},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=made-up", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
		agent: &reply{tool: "Agent", input: object{"description": "build", "prompt": "Build it.", "subagent_type": "general-purpose", "run_in_background": false}},
		edit: func(file string) reply {
			return reply{tool: "Write", input: object{"file_path": file, "content": "x\n"}}
		},
		shell: func(command string) reply {
			return reply{tool: "Bash", input: object{"command": command, "description": "run"}}
		},
	},
}

// each runs a test for each client that the machine has.
func each(t *testing.T, test func(t *testing.T, s *scene)) {
	for _, c := range clientRows {
		t.Run(c.host, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(clientsDir, "node_modules", c.program)); err != nil {
				t.Skip("npm has no such client for this machine: ", err)
			}
			t.Parallel()
			test(t, newScene(t, c))
		})
	}
}

// scene is a client in an empty project, with a home directory and a model of its own.
type scene struct {
	*model
	client
	t         *testing.T
	dir, home string // dir is the project
	env       []string
}

func newScene(t *testing.T, c client) *scene {
	t.Helper()
	base := t.TempDir()
	s := &scene{model: newModel(t), t: t, client: c, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for _, dir := range []string{s.dir, s.home, filepath.Join(base, "tmp")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(c.env(s.url),
		"HOME="+s.home, "TMPDIR="+filepath.Join(base, "tmp"), "TERM=dumb", "LANG=C.UTF-8", "CI=1", "NO_COLOR=1",
		"PATH="+filepath.Dir(ralphProgram)+":"+filepath.Join(clientsDir, "node_modules", ".bin")+":"+os.Getenv("PATH"),
		"RALPH_STATE_DIR="+filepath.Join(base, "state"))
	for name, text := range c.files {
		s.write(filepath.Join(s.home, name), strings.ReplaceAll(text, "URL", s.url))
	}
	s.command("git", "init", "-q")
	return s
}

// install writes the policy and lets ralph install the hook.
func (s *scene) install(policy string) {
	s.t.Helper()
	s.write(".ralph/policy.yaml", policy)
	s.command(ralphProgram, "install", s.host)
	if s.trust != nil {
		s.trust(s)
	}
}

// path returns that of a file of the project, or an absolute one.
func (s *scene) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}

func (s *scene) write(name, text string) {
	s.t.Helper()
	name = s.path(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// command runs a program in the project, in the scene's environment and in a process group that ends with it, and returns what it wrote.
// The test fails if it fails.
func (s *scene) command(name string, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		s.t.Fatalf("%s %q: %v\nother requests: %q\n%s", name, args, err, s.others, out.String())
	}
	_ = kill() // what it left in its group
	return out.String()
}

// run runs the client on a prompt until it ends by itself. The model follows the script, and must be asked with these texts, no more.
func (s *scene) run(prompt string, script func(request) reply, want ...string) (out string) {
	s.t.Helper()
	s.script, s.asked = script, nil
	out = s.command(filepath.Join(clientsDir, "node_modules", s.program), append(slices.Clone(s.args), prompt)...)
	want = append([]string{prompt}, want...)
	for i, w := range want {
		if i < len(s.asked) && !strings.Contains(s.asked[i].last, w) {
			s.t.Errorf("request %d lacks %q:\n%s", i+1, w, s.asked[i].last)
		}
	}
	if len(s.asked) != len(want) {
		s.t.Fatalf("%d requests, want %d; other requests: %q\n%s", len(s.asked), len(want), s.others, out)
	}
	return out
}

// logs asserts that ralph decided so often, and with these outcomes.
func (s *scene) logs(outcomes ...string) {
	s.t.Helper()
	var got []string
	log := s.command(ralphProgram, "log")
	for line := range strings.Lines(log) {
		if fields := strings.Fields(line); len(fields) > 2 {
			got = append(got, fields[2])
		}
	}
	if !slices.Equal(got, outcomes) {
		s.t.Errorf("ralph decided %q, want %q:\n%s", got, outcomes, log)
	}
}
