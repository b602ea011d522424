//go:build hosts

package hosttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OpenCode's plugin continues a session of a server, as its terminal has one, until the policy lets it stop.
func TestOpenCode(t *testing.T) {
	s := newScene(t, client{
		host: "opencode", program: "opencode-linux-" + arch + "/bin/opencode",
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
		files: map[string]string{
			".config/opencode/opencode.json": `{
  "model": "scripted/scripted", "small_model": "scripted/scripted", "share": "disabled", "autoupdate": false,
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"baseU\u0052L": "URL/v1", "apiKey": "made-up"}, "models": {"scripted": {"name": "Scripted"}}}}
}`,
			".npmrc": "fetch-retries=0\n", // of a package that it wants for plugins, which no test needs
		},
	})
	s.install("ralph: 1\nlimits: {continuations: 2}\nrules:\n  - {name: more, continue: More.}\n")
	third := make(chan struct{})
	s.script = func(r request) reply {
		if r.n == 3 {
			close(third)
		}
		return reply{text: "Still red."}
	}
	server := s.start(filepath.Join(clientsDir, "node_modules", s.program), "serve", "--port", "0")
	url := ""
	for url == "" && server.Scan() {
		_, url, _ = strings.Cut(server.Text(), "listening on ")
	}
	var session struct{ ID string }
	for _, post := range []string{`/session {}`, `/session/ID/message {"parts": [{"type": "text", "text": "Begin."}]}`} {
		path, body, _ := strings.Cut(strings.Replace(post, "ID", session.ID, 1), " ")
		r, err := http.Post(url+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewDecoder(r.Body).Decode(&session); err != nil || r.StatusCode >= 300 {
			t.Fatalf("%s: %s, %v", path, r.Status, err)
		}
		r.Body.Close()
	}
	<-third
	log := s.start(ralphProgram, "log", "-f")
	for n := 0; n < 3 && log.Scan(); n++ {
		if want := []string{"continued", "continued", "limit"}[n]; !strings.Contains(log.Text(), want) {
			t.Errorf("decision %d is %s, want %s", n+1, log.Text(), want)
		}
	}
	if len(s.asked) != 3 || !strings.Contains(s.asked[2].last, "More.") {
		t.Errorf("the model is asked %d times, the last time %s", len(s.asked), s.asked[len(s.asked)-1].last)
	}
}

// start starts a program, which ends with the test, and returns what it prints.
func (s *scene) start(name string, args ...string) *bufio.Scanner {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	s.t.Cleanup(func() { _ = cmd.Wait() })
	return bufio.NewScanner(out)
}
