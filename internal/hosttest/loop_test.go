//go:build hosts

package hosttest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var all = []client{claude, codex, gemini, qwen, copilot}

// The README's loop, from an empty directory to a running loop in two commands: the agent continues with the next box of the
// list until all are ticked, and then ends. After uninstall, ralph is not asked.
func TestLoop(t *testing.T) {
	for place, clients := range map[string][]client{"repository": all, "subdirectory": {claude}, "no git": {codex}} {
		for _, c := range clients {
			t.Run(c.host+", "+place, func(t *testing.T) {
				s := newScene(t, c)
				switch place {
				case "subdirectory":
					s.dir = filepath.Join(s.dir, "hello")
					s.write("README", "")
				case "no git":
					s.withoutGit()
				}
				s.ralph("init")
				s.ralph("install", c.host)
				s.trust()
				s.write("TODO.md", "- [ ] write hello.txt\n- [ ] add the date\n")
				r := s.run("Work through TODO.md", func(r request) reply {
					switch r.n {
					case 2:
						s.write("TODO.md", "- [x] write hello.txt\n- [ ] add the date\n")
					case 3:
						s.write("TODO.md", "- [x] write hello.txt\n- [x] add the date\n")
					}
					return reply{text: fmt.Sprintf("Worked %d.", r.n)}
				})
				s.wants(r, "Work through TODO.md", "TODO.md has open boxes: 2. Do the next one, then tick its box:\n\n- [ ] write hello.txt", "TODO.md has open boxes: 1. Do the next one, then tick its box:\n\n- [ ] add the date")
				if log := s.ralph("log"); strings.Count(log, "next-item") != 2 || strings.Count(log, "every box in TODO.md is ticked") != 1 {
					t.Errorf("the log is\n%s", log)
				}
				s.ralph("uninstall", c.host)
				s.write("TODO.md", "- [ ] one\n")
				s.asked = nil
				s.wants(s.run("And now?", func(request) reply { return reply{text: "Nothing."} }), "And now?")
			})
		}
	}
}

// wants asserts that the client ended well after requests with these texts.
func (s *scene) wants(r result, texts ...string) {
	s.t.Helper()
	if r.status != 0 || len(s.asked) != len(texts) {
		s.t.Fatalf("status %d, %d requests, want %d; other requests: %q\n%s", r.status, len(s.asked), len(texts), s.others, r.out)
	}
	for i, want := range texts {
		if !strings.Contains(s.asked[i].last, want) {
			s.t.Errorf("request %d lacks %q:\n%s", i+1, want, s.asked[i].last)
		}
	}
}

// The entry of --scope user is for every project. It fires in a project that the client does not trust: only Codex asks
// for trust in the entry itself.
func TestUserScope(t *testing.T) {
	for _, c := range []client{claude, codex, gemini, carefulQwen(), copilot} {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			s.ralph("install", c.host, "--scope", "user", "--policy", "ralph-wiggum")
			var args []string
			switch c.host {
			case codex.host:
				s.trustHooks()
			case gemini.host:
				args = []string{"--skip-trust"} // without which it does not start there
			}
			// It ends by its limit: the session file of Copilot CLI, in which a promise would stand, comes too late where the model
			// answers at once.
			s.ralph("start", "ralph-wiggum", "Make it green.", "--max", "2", "--promise", "GREEN")
			r := s.run("Make it green.", func(request) reply { return reply{text: "Still red."} }, args...)
			s.wants(r, "Make it green.", "Make it green.")
			if log := s.ralph("log"); strings.Count(log, "continue") != 1 || strings.Count(log, "stop") != 1 {
				t.Errorf("the log is\n%s", log)
			}
			s.ralph("uninstall", c.host, "--scope", "user")
			s.ralph("start", "ralph-wiggum", "Make it green.", "--promise", "GREEN")
			s.asked = nil
			s.wants(s.run("And now?", func(request) reply { return reply{text: "Nothing."} }, args...), "And now?")
		})
	}
}

// Codex and Copilot CLI find the hooks of the project above a subdirectory, and ralph finds the project. The others
// read only the settings of the directory that they are started in, and install reports that.
func TestSubfolder(t *testing.T) {
	for _, c := range all {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			s.ralph("init")
			s.write("TODO.md", "- [ ] one\n")
			project := s.dir
			s.write("deep/down/README", "")
			s.dir = filepath.Join(project, "deep", "down")
			out := s.ralph("install", c.host)
			s.dir = project
			s.trust()
			s.dir = filepath.Join(project, "deep", "down")
			s.env = append(s.env, "GEMINI_CLI_TRUST_WORKSPACE=true")
			r := s.run("Do it.", func(r request) reply {
				if r.n == 2 {
					s.write(filepath.Join(project, "TODO.md"), "- [x] one\n")
				}
				return reply{text: "Done."}
			})
			if strings.Contains(out, "Start "+map[string]string{claude.host: "Claude Code", gemini.host: "Gemini CLI", qwen.host: "Qwen Code"}[c.host]+" in "+project) {
				s.wants(r, "Do it.")
			} else {
				s.wants(r, "Do it.", "TODO.md has open boxes: 1.")
			}
		})
	}
}

// With nothing to do, the agent stops and the user sees nothing of ralph.
func TestIdle(t *testing.T) {
	for _, c := range all {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			s.ralph("init")
			s.write("TODO.md", "- [x] one\n")
			s.ralph("install", c.host)
			s.trust()
			r := s.run("Say hello.", func(request) reply { return reply{text: "Hello there."} })
			s.wants(r, "Say hello.")
			if strings.Contains(r.out, "TODO.md") || strings.Contains(r.out, "[ralph]") {
				t.Errorf("the user sees\n%s", r.out)
			}
			if log := s.ralph("log"); !strings.Contains(log, "every box in TODO.md is ticked") {
				t.Errorf("the hook did not run; the log is\n%s", log)
			}
		})
	}
}

// Beside another hook of the same event, both run. Gemini CLI and Qwen Code take comments in their settings.
func TestTwoHooks(t *testing.T) {
	for _, c := range all {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			s.ralph("init")
			other := map[string]string{
				claude.host:  `.claude/settings.json {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "LINE"}]}]}}`,
				codex.host:   `.codex/hooks.json {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "LINE"}]}]}}`,
				gemini.host:  `.gemini/settings.json { // of the team` + "\n" + `"hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "LINE"}]}]}}`,
				qwen.host:    `.qwen/settings.json { // of the team` + "\n" + `"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "LINE"}]}]}}`,
				copilot.host: `.github/hooks/ralph.json {"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "LINE"}]}}`,
			}[c.host]
			file, text, _ := strings.Cut(other, " ")
			seen := filepath.Join(s.home, "seen")
			s.write(file, strings.Replace(text, "LINE", "echo x >> "+seen, 1))
			s.ralph("install", c.host)
			s.trust()
			s.write("TODO.md", "- [ ] one\n")
			r := s.run("Do it.", func(r request) reply {
				if r.n == 2 {
					s.write("TODO.md", "- [x] one\n")
				}
				return reply{text: "Done."}
			})
			s.wants(r, "Do it.", "TODO.md has open boxes: 1.")
			if n := strings.Count(s.read(seen), "x"); n != 2 {
				t.Errorf("the other hook ran %d times, want 2", n)
			}
		})
	}
}

// A crash before any code of ralph runs ends a process with status 2, which hosts read as "continue". The entry of
// install lets the agent stop.
func TestCrash(t *testing.T) {
	for _, c := range all {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			s.write(".ralph/policy.yaml", "ralph: 1\nrules:\n  - name: on\n    continue: Go on.\n") // it asks for no other event than Stop
			s.ralph("install", c.host)
			s.trust()
			broken := filepath.Join(s.home, "broken")
			s.program(filepath.Join(broken, "ralph"), "echo ran >>"+broken+"/ran; echo 'fatal error: out of memory' >&2; exit 2")
			s.wants(s.run("Do it.", func(request) reply { return reply{text: "Done."} }), "Do it.")
			if s.read(filepath.Join(broken, "ran")) != "ran\n" {
				t.Error("the hook ran more than once")
			}
		})
	}
}

// A policy that lists SubagentStop sends a subagent on, and not the main agent. Gemini CLI has no such event.
func TestSubagent(t *testing.T) {
	for _, tt := range []struct {
		client client
		args   []string
		start  reply                    // the call that starts the subagent
		wait   func(agent string) reply // the call that waits for it, where that is another one
	}{
		{client: claude, start: reply{tool: "Agent", input: object{"description": "build", "prompt": "Build it.", "subagent_type": "general-purpose", "run_in_background": false}}},
		{
			client: codex,
			start:  reply{tool: "spawn_agent", space: "multi_agent_v1", input: object{"message": "Build it."}},
			wait: func(agent string) reply {
				return reply{tool: "wait_agent", space: "multi_agent_v1", input: object{"targets": []string{agent}}}
			},
		},
		{
			client: qwen, args: []string{"--yolo"},
			start: reply{tool: "agent", input: object{"description": "build", "prompt": "Build it.", "subagent_type": "general-purpose", "run_in_background": false}},
		},
		{client: copilot, start: reply{tool: "task", input: object{"name": "builder", "description": "build", "prompt": "Build it.", "agent_type": "general-purpose", "mode": "sync"}}},
	} {
		t.Run(tt.client.host, func(t *testing.T) {
			s := newScene(t, tt.client)
			s.write(".ralph/policy.yaml", `ralph: 1
events: [SubagentStop]
rules:
  - name: tests
    when: not said("TESTED")
    continue: Run the tests and say TESTED.
`)
			s.ralph("install", tt.client.host)
			s.trust()
			want := []string{"Have it built.", "Build it.", "Run the tests and say TESTED.", "TESTED"}
			r := s.run("Have it built.", func(r request) reply {
				_, agent, started := strings.Cut(r.last, `"agent_id":"`)
				switch {
				case started && tt.wait != nil:
					agent, _, _ = strings.Cut(agent, `"`)
					return tt.wait(agent)
				case strings.Contains(r.last, want[2]):
					return reply{text: "TESTED"}
				case strings.Contains(r.last, want[1]):
					return reply{text: "Built."}
				case strings.Contains(r.last, want[3]):
					return reply{text: "It is built."}
				}
				return tt.start
			}, tt.args...)
			if tt.wait != nil { // asked beside the subagent, before or after it
				s.asked = slices.DeleteFunc(s.asked, func(r request) bool { return strings.Contains(r.last, `"agent_id":"`) })
			}
			s.wants(r, want...)
			if log := s.ralph("log"); strings.Count(log, "continue") != 1 {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// Copilot also reads Claude Code's settings: the entry of install works there, and so does one whose arguments Copilot
// ignores.
func TestSharedSettings(t *testing.T) {
	for name, settings := range map[string]string{
		"as installed": "",
		"arguments":    `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ralph", "args": ["eval"], "timeout": 60}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, copilot)
			s.ralph("init")
			s.ralph("install", "claude-code")
			if settings != "" {
				s.write(".claude/settings.json", settings)
			}
			if out := s.ralph("install", "copilot"); !strings.Contains(out, "there is nothing to add") {
				t.Errorf("install says\n%s", out)
			}
			s.trust()
			s.write("TODO.md", "- [ ] one\n")
			r := s.run("Do it.", func(r request) reply {
				if r.n == 2 {
					s.write("TODO.md", "- [x] one\n")
				}
				return reply{text: "Done."}
			})
			s.wants(r, "Do it.", "TODO.md has open boxes: 1.")
		})
	}
}
