//go:build hosts

package hosttest

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/host"
)

// A teller says where a client keeps the file of a session, and how it runs commands and writes files.
type teller struct {
	files       string // below the home directory
	args        []string
	run         func(command string) reply
	write       func(file string) reply
	tellsFailed bool
}

func tellers() map[string]teller {
	shell := func(tool, key string) func(string) reply {
		return func(command string) reply {
			input := map[string]any{key: command}
			if key == "command" {
				input["description"] = "run"
			}
			return reply{tool: tool, input: input}
		}
	}
	write := func(tool, path, content string) func(string) reply {
		return func(file string) reply { return reply{tool: tool, input: map[string]any{path: file, content: "x\n"}} }
	}
	patch := func(file string) reply {
		return shell("exec_command", "cmd")("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + file + "\n+x\n*** End Patch\nEOF")
	}
	return map[string]teller{
		claude.host: {".claude/projects/*/*.jsonl", []string{"--allowedTools", "Bash,Write"}, shell("Bash", "command"), write("Write", "file_path", "content"), true},
		codex.host:  {".codex/sessions/*/*/*/*.jsonl", []string{"--dangerously-bypass-approvals-and-sandbox"}, shell("exec_command", "cmd"), patch, true},
		// Without a terminal Gemini CLI notes no failure.
		gemini.host:  {".gemini/tmp/*/chats/*.jsonl", []string{"--yolo"}, shell("run_shell_command", "command"), write("write_file", "file_path", "content"), false},
		qwen.host:    {".qwen/projects/*/chats/*.jsonl", []string{"--yolo"}, shell("run_shell_command", "command"), write("write_file", "file_path", "content"), true},
		copilot.host: {".copilot/session-state/*/events.jsonl", []string{"--allow-all-tools"}, shell("bash", "command"), write("create", "path", "file_text"), true},
	}
}

// session reads the one session file that the client wrote.
func (s *scene) session(files string) *host.Session {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.home, files))
	if err != nil || len(found) != 1 {
		s.t.Fatalf("there are %d session files: %q %v", len(found), found, err)
	}
	session, err := host.ReadSession(s.t.Context(), found[0], host.SessionOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

// The session file of each client shows what the agent ran and how that ended, what it edited, what it used, and since when.
func TestSessionFile(t *testing.T) {
	for _, c := range []client{claude, codex, gemini, qwen, copilot} {
		t.Run(c.host, func(t *testing.T) {
			s, tell := newScene(t, c), tellers()[c.host]
			s.env = append(s.env, "GEMINI_CLI_TRUST_WORKSPACE=true")
			file := filepath.Join(s.dir, "made.txt")
			r := s.run("Do it.", func(r request) reply {
				switch r.n {
				case 1:
					return tell.run("true passes")
				case 2:
					return tell.run("false fails")
				case 3:
					return tell.write(file)
				}
				return reply{text: "Done."}
			}, tell.args...)
			session := s.session(tell.files)
			want := []host.Action{{Command: "true passes", OK: true}, {Command: "false fails"}, {Edits: []string{file}, OK: true}}
			if diff := cmp.Diff(want, session.Actions(), cmpopts.IgnoreUnexported(host.Action{})); diff != "" {
				t.Errorf("actions (-want +got):\n%s\nstatus %d\n%s", diff, r.status, r.out)
			}
			if got := session.TotalTokens(t.Context()); got != 4*15 {
				t.Errorf("TotalTokens = %d, want %d for four replies", got, 4*15)
			}
			if session.Began(t.Context()).IsZero() || session.Failed() != nil || session.Last() != "Done." {
				t.Errorf("it began %v, failed %v, last says %q", session.Began(t.Context()), session.Failed(), session.Last())
			}
		})
	}
}

// So it does where a request failed.
func TestSessionFileOfAFailure(t *testing.T) {
	for _, c := range []client{claude, codex, gemini, qwen, copilot} {
		t.Run(c.host, func(t *testing.T) {
			s, tell := newScene(t, c), tellers()[c.host]
			s.env = append(s.env, "GEMINI_CLI_TRUST_WORKSPACE=true")
			r := s.run("Do it.", func(request) reply { return reply{fails: 400} }, tell.args...)
			f := s.session(tell.files).Failed()
			if (f != nil) != tell.tellsFailed || f != nil && f.Kind != host.Crashed {
				t.Errorf("Failed = %+v, status %d\n%s", f, r.status, r.out)
			}
		})
	}
}
