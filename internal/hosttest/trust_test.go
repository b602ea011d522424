//go:build hosts

package hosttest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// trust makes a client trust the directory and, for Codex, each hook as it is now, as its user would.
func (s *scene) trust() {
	s.t.Helper()
	trusted := fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, s.dir)
	switch s.client.host {
	case codex.host:
		s.trustFolder()
		s.trustHooks()
	case gemini.host:
		s.write(filepath.Join(s.home, ".gemini/trustedFolders.json"), trusted)
	case qwen.host:
		s.write(filepath.Join(s.home, ".qwen/trustedFolders.json"), trusted)
	case copilot.host:
		s.write(filepath.Join(s.home, ".copilot/config.json"), fmt.Sprintf(`{"trustedFolders": [%q]}`, s.dir))
	}
}

// trustFolder makes Codex trust only the directory, not its hooks.
func (s *scene) trustFolder() {
	s.t.Helper()
	s.appendTo(".codex/config.toml", fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", s.dir))
}

// trustHooks makes Codex trust each hook as it is now.
func (s *scene) trustHooks() {
	s.t.Helper()
	for _, h := range s.codexHooks() {
		s.appendTo(".codex/config.toml", fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash))
	}
}

func (s *scene) appendTo(name, text string) {
	s.t.Helper()
	s.write(filepath.Join(s.home, name), s.read(filepath.Join(s.home, name))+text)
}

type codexHook struct{ Key, CurrentHash string }

// codexHooks asks Codex for its hooks, as ralph doctor does.
func (s *scene) codexHooks() []codexHook {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(clientsDir, "node_modules", codex.program), "app-server")
	cmd.Dir, cmd.Env = s.dir, s.env
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	fmt.Fprintf(in, `{"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "hosttest", "version": "1"}}}
{"method": "initialized"}
{"id": 2, "method": "hooks/list", "params": {"cwds": [%q]}}
`, s.dir)
	for answers := json.NewDecoder(out); ; {
		var answer struct {
			ID     int
			Result struct{ Data []struct{ Hooks []codexHook } }
		}
		if err := answers.Decode(&answer); err != nil {
			s.t.Fatal(err)
		}
		if answer.ID == 2 {
			return answer.Result.Data[0].Hooks
		}
	}
}

// carefulQwen asks its user to trust folders, which Qwen Code does only if its settings say so.
func carefulQwen() client {
	c := qwen
	const file = ".qwen/settings.json"
	c.settings = map[string]string{file: strings.Replace(c.settings[file], `"auth"`, `"folderTrust": {"enabled": true}, "auth"`, 1)}
	return c
}

// Without the trust that a client requires, its hook does not fire, and install and doctor report that. With it, the
// hook fires and doctor reports nothing.
func TestTrust(t *testing.T) {
	for _, c := range []struct {
		client client
		args   []string // with which the client runs in a directory that it does not trust
		says   string
	}{
		{codex, nil, "Codex does not trust this directory"},
		{gemini, []string{"--skip-trust"}, "Gemini CLI does not trust this directory"},
		{carefulQwen(), nil, "Qwen Code does not trust this directory"},
		{copilot, nil, "Copilot CLI does not trust this directory"},
	} {
		t.Run(c.client.host, func(t *testing.T) {
			s := newScene(t, c.client)
			s.ralph("init")
			if out := s.ralph("install", c.client.host); !strings.Contains(out, c.says) {
				t.Errorf("install does not say %q:\n%s", c.says, out)
			}
			s.write("TODO.md", "- [ ] one\n")
			gated := func(says string, args ...string) {
				t.Helper()
				before := len(s.asked)
				if r := s.run("Do it.", func(request) reply { return reply{text: "Done."} }, args...); r.status != 0 || len(s.asked)-before != 1 {
					t.Errorf("without trust: status %d, %d requests\n%s", r.status, len(s.asked)-before, r.out)
				}
				if out := s.try(ralphProgram, "doctor").out; !strings.Contains(out, says) || !strings.Contains(out, "[host-trust]") {
					t.Errorf("doctor does not say %q:\n%s", says, out)
				}
			}
			gated(c.says, c.args...)
			if c.client.host == codex.host {
				s.trustFolder()
				gated("Codex skips the entry until you trust it")
				s.write(filepath.Join(s.home, ".codex/config.toml"), strings.ReplaceAll(codex.settings[".codex/config.toml"], "URL", s.url))
			}
			s.trust()
			before := len(s.asked)
			r := s.run("Do it.", func(request) reply {
				if len(s.asked) == before+2 {
					s.write("TODO.md", "- [x] one\n")
				}
				return reply{text: "Done."}
			})
			if r.status != 0 || len(s.asked)-before != 2 {
				t.Errorf("with trust: status %d, %d requests\n%s", r.status, len(s.asked)-before, r.out)
			}
			if out := s.try(ralphProgram, "doctor").out; strings.Contains(out, "host-trust") {
				t.Errorf("with trust, doctor says:\n%s", out)
			}
		})
	}
}
