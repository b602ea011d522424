package release_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the licences, the version, and the copies that plugins have of each other's files")

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(src))
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// The marketplaces lead to the plugin.
func TestMarketplaces(t *testing.T) {
	var claude struct {
		Plugins []struct{ Name, Source string }
	}
	readJSON(t, ".claude-plugin/marketplace.json", &claude)
	var codex struct {
		Plugins []struct {
			Name   string
			Source struct{ Path string }
		}
	}
	readJSON(t, ".agents/plugins/marketplace.json", &codex)
	for host, path := range map[string]string{"Claude Code": claude.Plugins[0].Source, "Codex": codex.Plugins[0].Source.Path} {
		if path != "./plugins/ralph" {
			t.Errorf("the marketplace of %s leads to %s", host, path)
		}
	}
}

// A command of the plugin may run the commands of ralph that it names, and nothing else without the user's consent: no other program,
// no tool that writes, and neither ralph trust nor ralph install.
func TestCommandPermissions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "plugins", "ralph", "commands", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no commands", err)
	}
	granted := regexp.MustCompile(`(?m)^allowed-tools: (.+)$`)
	harmless := regexp.MustCompile(`^Bash\(ralph (start ralph-wiggum|status|log|explain|stop):\*\)$`)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(strings.TrimPrefix(string(src), "---\n"), "\n---\n")
		m := granted.FindStringSubmatch(head)
		if m == nil {
			t.Errorf("%s: it names no tools, so it asks at each step", filepath.Base(file))
			continue
		}
		for _, tool := range strings.Split(m[1], ", ") {
			if !harmless.MatchString(tool) {
				t.Errorf("%s: it allows %s", filepath.Base(file), tool)
			}
			if words, _, _ := strings.Cut(strings.TrimPrefix(tool, "Bash("), ":"); !strings.Contains(body, "`"+words) {
				t.Errorf("%s: it allows %s and does not use it", filepath.Base(file), tool)
			}
		}
		if strings.Contains(body, "!`") {
			t.Errorf("%s: it runs a program before the agent reads it", filepath.Base(file))
		}
	}
}

// The agent learns the same of policies on every host.
func TestSkillCopies(t *testing.T) {
	const skill = "skills/ralph-policy/SKILL.md"
	want, err := os.ReadFile(filepath.Join(root(t), "plugins", "ralph", filepath.FromSlash(skill)))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root(t), "plugins", "gemini", filepath.FromSlash(skill))
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("plugins/gemini differs from plugins/ralph; go test ./internal/release -update copies it\n%s", diff)
	}
}

// pluginHooks returns the command lines of a plugin by event.
func pluginHooks(t *testing.T, plugin string) map[string]string {
	t.Helper()
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Type, Command string
				Timeout       int
			}
		}
	}
	readJSON(t, "plugins/"+plugin+"/hooks/hooks.json", &file)
	lines := map[string]string{}
	for event, groups := range file.Hooks {
		if len(groups) != 1 || len(groups[0].Hooks) != 1 || groups[0].Hooks[0].Type != "command" || groups[0].Hooks[0].Timeout == 0 {
			t.Fatalf("%s: one command with a timeout is expected at %s", plugin, event)
		}
		lines[event] = groups[0].Hooks[0].Command
	}
	return lines
}

// The line of a plugin never ends with status 2. Without ralph it lets the agent stop, and reports that in a project
// that has a policy.
func TestPluginHooks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it runs sh")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for plugin, stop := range map[string]string{"ralph": "Stop", "gemini": "AfterAgent"} {
		lines := pluginHooks(t, plugin)
		for _, event := range slices.Sorted(maps.Keys(lines)) {
			for _, tt := range []struct {
				name, ralph string
				policy      bool
				stdout      string
				status      int
			}{
				{name: "ralph answers", ralph: "#!/bin/sh\ncat; echo \"$@\"\n", stdout: "the event\neval --scope user --policy ralph-wiggum --policy .ralph/policy.yaml\n"},
				{name: "ralph crashes as it starts", ralph: "#!/bin/sh\nexit 2\n", policy: true, status: 1},
				{name: "there is no ralph and no policy"},
				{name: "there is no ralph", policy: true, stdout: "systemMessage"},
			} {
				t.Run(plugin+"/"+event+"/"+tt.name, func(t *testing.T) {
					bin, project := t.TempDir(), t.TempDir()
					if tt.ralph != "" {
						writeFile(t, filepath.Join(bin, "ralph"), tt.ralph)
					}
					if tt.policy {
						if err := os.Mkdir(filepath.Join(project, ".ralph"), 0o755); err != nil {
							t.Fatal(err)
						}
					}
					if cat, err := exec.LookPath("cat"); err != nil || os.Symlink(cat, filepath.Join(bin, "cat")) != nil {
						t.Skip("there is no cat")
					}
					cmd := exec.Command(sh, "-c", lines[event])
					cmd.Dir, cmd.Env, cmd.Stdin = project, []string{"PATH=" + bin}, strings.NewReader("the event\n")
					out, _ := cmd.Output()
					want := tt.stdout
					if want == "systemMessage" {
						var notice struct{ SystemMessage string }
						if event != stop {
							want = ""
						} else if err := json.Unmarshal(out, &notice); err != nil || !strings.Contains(notice.SystemMessage, "github.com/ralph-sdk/ralph#install") {
							t.Errorf("%v, stdout %q", err, out)
						} else {
							want = string(out)
						}
					}
					if string(out) != want || cmd.ProcessState.ExitCode() != tt.status {
						t.Errorf("status %d, stdout %q; want %d, %q", cmd.ProcessState.ExitCode(), out, tt.status, want)
					}
				})
			}
		}
	}
}
