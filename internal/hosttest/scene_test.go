//go:build hosts

package hosttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is more than any client needs. One that needs it hangs, and the test fails.
const patience = 2 * time.Minute

// A client is a coding agent as these tests run it.
type client struct {
	host     string // as ralph install names it
	program  string // below node_modules
	args     func(prompt string) []string
	env      func(url string) []string
	settings map[string]string // files of the home directory; URL stands for that of the model
}

var (
	claude = client{
		host:    "claude-code",
		program: "@anthropic-ai/claude-code-linux-" + arch + "/claude",
		args:    func(prompt string) []string { return []string{"-p", prompt} },
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=made-up", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	}
	codex = client{
		host:    "codex",
		program: ".bin/codex",
		args: func(prompt string) []string {
			return []string{"exec", "--skip-git-repo-check", prompt}
		},
		env: func(string) []string { return []string{"SCRIPTED_KEY=made-up"} },
		settings: map[string]string{".codex/config.toml": `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "URL/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
`},
	}
	gemini = client{
		host:    "gemini",
		program: ".bin/gemini",
		args:    func(prompt string) []string { return []string{"-p", prompt} },
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=made-up"}
		},
		settings: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
	}
	qwen = client{
		host:    "qwen",
		program: ".bin/qwen",
		args:    func(prompt string) []string { return []string{"-p", prompt} },
		env: func(url string) []string {
			return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=made-up", "OPENAI_MODEL=scripted"}
		},
		settings: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false}}`},
	}
	copilot = client{
		host:    "copilot",
		program: ".bin/copilot",
		args:    func(prompt string) []string { return []string{"-p", prompt} },
		env: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=made-up", "COPILOT_MODEL=scripted", "COPILOT_OFFLINE=true"}
		},
	}
)

// A scene is a client in an empty project, with its own home directory and a scripted model.
type scene struct {
	*server
	t      *testing.T
	client client
	dir    string // of the project
	home   string
	env    []string
}

func newScene(t *testing.T, c client) *scene {
	t.Helper()
	t.Parallel()
	base := t.TempDir()
	s := &scene{server: newServer(t), t: t, client: c, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for _, dir := range []string{s.dir, s.home, filepath.Join(base, "tmp")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(c.env(s.url),
		"HOME="+s.home, "TMPDIR="+filepath.Join(base, "tmp"), "TERM=dumb", "LANG=C.UTF-8", "CI=1", "NO_COLOR=1",
		"PATH="+filepath.Dir(ralphProgram)+":"+filepath.Join(clientsDir, "node_modules", ".bin")+":"+os.Getenv("PATH"),
		"RALPH_STATE_DIR="+filepath.Join(base, "state"))
	for name, text := range c.settings {
		s.write(filepath.Join(s.home, name), strings.ReplaceAll(text, "URL", s.url))
	}
	s.command("git", "init", "-q")
	return s
}

// withoutGit makes the project one of a user without git: no repository, and a PATH with no program of that name.
func (s *scene) withoutGit() {
	s.t.Helper()
	bin := filepath.Join(s.home, "bin")
	for _, program := range []string{"sh", "bash", "env", "node", "ps", "cat"} {
		if path, err := exec.LookPath(program); err == nil {
			s.write(filepath.Join(bin, "README"), "")
			if err := os.Symlink(path, filepath.Join(bin, program)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(s.dir, ".git")); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+filepath.Dir(ralphProgram)+":"+bin)
}

// write writes a file of the project, or of anywhere by an absolute path.
func (s *scene) write(name, text string) {
	s.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// program makes a shell script and puts its directory first on the PATH.
func (s *scene) program(name, lines string) {
	s.t.Helper()
	s.write(name, "#!/bin/sh\n"+lines+"\n")
	if err := os.Chmod(name, 0o755); err != nil {
		s.t.Fatal(err)
	}
	for i, v := range s.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			s.env[i] = "PATH=" + filepath.Dir(name) + ":" + path
		}
	}
}

func (s *scene) read(name string) string {
	s.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.dir, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// A result is how a process ended and what it wrote.
type result struct {
	out    string // stdout and stderr
	status int
}

// command runs a program in the project and fails the test if that fails.
func (s *scene) command(name string, args ...string) string {
	s.t.Helper()
	r := s.try(name, args...)
	if r.status != 0 {
		s.t.Fatalf("%s %s: status %d\n%s", name, strings.Join(args, " "), r.status, r.out)
	}
	return r.out
}

// ralph runs ralph in the project.
func (s *scene) ralph(args ...string) string {
	s.t.Helper()
	return s.command(ralphProgram, args...)
}

// try runs a program in the project, in the scene's environment and in a separate process group, which ends with it.
func (s *scene) try(name string, args ...string) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var found error
	if !filepath.IsAbs(name) {
		name, found = exec.LookPath(name)
	}
	if found != nil {
		s.t.Fatal(found)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	_ = kill() // what it left in its group
	var status *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &status) && !errors.Is(err, exec.ErrWaitDelay) {
		s.t.Fatalf("%s: %v\nother requests: %q\n%s", name, err, s.others, out.String())
	}
	return result{out.String(), cmd.ProcessState.ExitCode()}
}

// run runs the client on a prompt until it ends by itself. The model follows the script.
func (s *scene) run(prompt string, model script, args ...string) result {
	s.t.Helper()
	s.script = model
	return s.try(filepath.Join(clientsDir, "node_modules", s.client.program), append(s.client.args(prompt), args...)...)
}
