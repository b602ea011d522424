//go:build hosts

package hosttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var (
	kimi = client{
		host:    "kimi",
		program: ".bin/kimi",
		args:    func(prompt string) []string { return []string{"-p", prompt} },
		env: func(url string) []string {
			return []string{"KIMI_MODEL_NAME=scripted", "KIMI_MODEL_PROVIDER_TYPE=openai", "KIMI_MODEL_BASE_URL=" + url + "/v1", "KIMI_MODEL_API_KEY=made-up"}
		},
		settings: map[string]string{".kimi-code/config.toml": "# mine\ntelemetry = false # no\n"},
	}
	openCode = client{
		host:    "opencode",
		program: "opencode-linux-" + arch + "/bin/opencode",
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
		settings: map[string]string{
			".config/opencode/opencode.json": `{
  "model": "scripted/scripted", "small_model": "scripted/scripted", "share": "disabled", "autoupdate": false,
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"base\u0055RL": "URL/v1", "apiKey": "made-up"}, "models": {"scripted": {"name": "Scripted"}}}}
}`,
			".npmrc": "fetch-retries=0\n", // of the package that it wants for plugins, which no test needs
		},
	}
)

// Kimi Code continues once a turn, whatever the policy allows. Its settings keep every byte.
func TestKimi(t *testing.T) {
	s := newScene(t, kimi)
	before := s.read(filepath.Join(s.home, ".kimi-code/config.toml"))
	out := s.ralph("until", "test -f done", "--host", "kimi", "--yes")
	if !strings.Contains(out, "at most 1 time per prompt (Kimi Code itself ends after 1 continuation of a prompt)") || !strings.Contains(out, "ralph until 'test -f done' -- kimi -p") {
		t.Errorf("until says\n%s", out)
	}
	r := s.run("Do it.", func(request) reply { return reply{text: "Not yet."} })
	s.wants(r, "Do it.", "test -f done")
	if log := s.ralph("log"); strings.Count(log, "continued") != 1 {
		t.Errorf("the log is\n%s", log)
	}
	s.asked = nil
	s.wants(s.run("Again.", func(r request) reply {
		s.write("done", "")
		return reply{text: "Done."}
	}, "--continue"), "Again.")
	// The advice works: a run has no limit of the host.
	if err := os.Remove(filepath.Join(s.dir, "done")); err != nil {
		t.Fatal(err)
	}
	s.asked, s.script = nil, func(r request) reply {
		if r.n == 3 {
			s.write("done", "")
		}
		return reply{text: "Not yet."}
	}
	if out := s.ralph("until", "test -f done", "--", "kimi", "-p"); len(s.asked) != 3 {
		t.Errorf("the run asked the model %d times, want 3\n%s", len(s.asked), out)
	}
	if after := s.read(filepath.Join(s.home, ".kimi-code/config.toml")); after != before {
		t.Errorf("the settings are\n%s\nbefore:\n%s", after, before)
	}
}

// OpenCode's plugin continues a session of a server, as its terminal has one, until the policy lets it stop.
func TestOpenCode(t *testing.T) {
	s := newScene(t, openCode)
	s.ralph("init")
	s.ralph("install", openCode.host)
	s.write("TODO.md", "- [ ] write hello.txt\n- [ ] add the date\n")
	ended := make(chan struct{})
	s.script = func(r request) reply {
		switch r.n {
		case 2:
			s.write("TODO.md", "- [x] write hello.txt\n- [ ] add the date\n")
		case 3:
			s.write("TODO.md", "- [x] write hello.txt\n- [x] add the date\n")
		}
		return reply{text: "Worked."}
	}
	post, idle := s.serveOpenCode(ended)
	var session struct{ ID string }
	if err := json.Unmarshal(post("/session", `{}`), &session); err != nil {
		t.Fatal(err)
	}
	post("/session/"+session.ID+"/message", `{"parts": [{"type": "text", "text": "Work through TODO.md"}]}`)
	for range 3 {
		<-idle
	}
	close(ended)
	s.wants(result{}, "Work through TODO.md", "TODO.md has open boxes: 2.", "TODO.md has open boxes: 1.")
}

// serveOpenCode starts a server of OpenCode in the project. idle has one value for each time that a session became idle.
func (s *scene) serveOpenCode(ended <-chan struct{}) (post func(path, body string) []byte, idle <-chan struct{}) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(clientsDir, "node_modules", s.client.program), "serve", "--port", "0", "--print-logs")
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("%s", log.String())
		}
	})
	url := ""
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			url = strings.TrimSpace(at)
		}
	}
	if url == "" {
		s.t.Fatalf("the server does not start:\n%s", log.String())
	}
	go io.Copy(io.Discard, out)
	events, err := http.Get(url + "/event")
	if err != nil {
		s.t.Fatal(err)
	}
	became := make(chan struct{}, 100)
	go func() {
		defer close(became)
		defer events.Body.Close()
		for lines := bufio.NewScanner(events.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), `"session.idle"`) {
				became <- struct{}{}
			}
		}
	}()
	return func(path, body string) []byte {
		answer, err := http.Post(url+path, "application/json", strings.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 300 {
			s.t.Fatalf("%s: %s %v\n%s", path, answer.Status, err, data)
		}
		return data
	}, became
}
