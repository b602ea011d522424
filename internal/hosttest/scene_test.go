//go:build hosts

package hosttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/host"
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
	{
		host:    "codex",
		program: ".bin/codex",
		args:    []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"},
		env:     func(string) []string { return []string{"SCRIPTED_KEY=made-up"} },
		files: map[string]string{".codex/config.toml": `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "URL/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
`},
		trust: func(s *scene) {
			config := filepath.Join(s.home, ".codex/config.toml")
			s.write(config, s.read(config)+fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", s.dir))
		},
		agent: &reply{tool: "spawn_agent", space: "multi_agent_v1", input: object{"message": "Build it."}},
		wait: func(agent string) reply {
			return reply{tool: "wait_agent", space: "multi_agent_v1", input: object{"targets": []string{agent}}}
		},
		shell: func(command string) reply { return reply{tool: "exec_command", input: object{"cmd": command}} },
		edit: func(file string) reply {
			return reply{tool: "exec_command", input: object{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + file + "\n+x\n*** End Patch\nEOF"}}
		},
	},
	{
		host:    "gemini",
		program: ".bin/gemini",
		args:    []string{"--yolo", "-p"},
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=made-up", "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		files: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
	},
	{
		host:    "qwen",
		program: ".bin/qwen",
		args:    []string{"--yolo", "-p"},
		env: func(url string) []string {
			return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=made-up", "OPENAI_MODEL=scripted"}
		},
		files: map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false}}`},
		agent: &reply{tool: "agent", input: object{"description": "build", "prompt": "Build it.", "subagent_type": "general-purpose", "run_in_background": false}},
		shell: func(command string) reply {
			return reply{tool: "run_shell_command", input: object{"command": command, "description": "run", "is_background": false}}
		},
		edit: func(file string) reply {
			return reply{tool: "write_file", input: object{"file_path": file, "content": "x\n"}}
		},
	},
	{
		host:    "copilot",
		program: ".bin/copilot",
		args:    []string{"--allow-all-tools", "-p"},
		env: func(url string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=made-up", "COPILOT_MODEL=scripted", "COPILOT_OFFLINE=true"}
		},
		trust: func(s *scene) {
			s.write(filepath.Join(s.home, ".copilot/config.json"), fmt.Sprintf(`{"trustedFolders": [%q]}`, s.dir))
		},
		agent: &reply{tool: "task", input: object{"name": "builder", "description": "build", "prompt": "Build it.", "agent_type": "general-purpose", "mode": "sync"}},
	},
	{
		host:    "kimi",
		program: ".bin/kimi",
		args:    []string{"-p"},
		env: func(url string) []string {
			return []string{"KIMI_MODEL_NAME=scripted", "KIMI_MODEL_PROVIDER_TYPE=openai", "KIMI_MODEL_BASE_URL=" + url + "/v1", "KIMI_MODEL_API_KEY=made-up"}
		},
		files: map[string]string{".kimi-code/config.toml": "telemetry = false\n"},
	},
	{
		host:    "droid",
		program: "@factory/cli-linux-" + arch + "/bin/droid",
		args:    []string{"exec", "--auto", "high", "-m", "custom:scripted-0"},
		env: func(string) []string {
			return []string{"FACTORY_API_KEY=made-up", "FACTORY_AIRGAP_ENABLED=true", "FACTORY_DISABLE_KEYRING=1", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false"}
		},
		files: map[string]string{".factory/settings.json": `{"customModels": [{"model": "scripted", "displayName": "scripted", "baseUrl": "URL/v1", "apiKey": "made-up", "provider": "generic-chat-completion-api"}]}`},
		agent: &reply{tool: "Task", input: object{"subagent_type": "worker", "description": "build", "prompt": "Build it.", "await": true}},
		shell: func(command string) reply {
			return reply{tool: "Execute", input: object{"summary": "run", "command": command, "riskLevelReason": "none", "riskLevel": "low"}}
		},
		edit: func(file string) reply {
			return reply{tool: "Create", input: object{"file_path": file, "content": "x\n"}}
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

// startedAgent is in what Codex says of a subagent that it started, for which the model then waits.
const startedAgent = `"agent_id":"`

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

// install writes the policy and lets ralph install the hook. A person adds what ralph only prints, for all projects.
func (s *scene) install(policy string) {
	s.t.Helper()
	s.write(".ralph/policy.yaml", policy)
	if s.row().Settings.TOML {
		s.command(ralphProgram, "trust", "--yes", "policy")
		out := s.command(ralphProgram, "install", s.host, "--scope", "user")
		entry := out[strings.Index(out, "[[hooks]]"):strings.LastIndex(out, "policy: ")]
		file := s.row().UserFile(func(name string) string { return map[string]string{"HOME": s.home}[name] })
		s.write(file, s.read(file)+entry[:strings.LastIndex(entry, "\n\n")])
	} else {
		s.command(ralphProgram, "install", s.host)
	}
	if s.trust != nil {
		s.trust(s)
	}
}

// uninstall reports whether ralph can take the hook out.
func (s *scene) uninstall() bool {
	if s.row().Settings.TOML {
		return false
	}
	s.command(ralphProgram, "uninstall", s.host)
	return true
}

func (s *scene) row() *host.Host {
	h, _ := host.Lookup(s.host)
	return h
}

// atMost returns n, or the host's own limit on continuations.
func (s *scene) atMost(n int) int {
	if most, _ := s.row().Limit(func(string) string { return "" }); most > 0 {
		return min(n, most)
	}
	return n
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

func (s *scene) read(path string) string {
	s.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
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
	s.asked = slices.DeleteFunc(s.asked, func(r request) bool { return strings.Contains(r.last, startedAgent) }) // beside the subagent
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
