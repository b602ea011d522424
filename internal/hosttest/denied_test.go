//go:build hosts

package hosttest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run"
)

// What a client denies twice ends the run, whose reason says what allows it. That is true: after it, nothing is
// denied.
func TestRunDenied(t *testing.T) {
	rule := regexp.MustCompile(`add ("[^ ]+ deploy\)") to permissions\.allow in ([.\w/]+)`)
	flag := regexp.MustCompile(`start the run with (--allow-tool) '(shell\(make\))'`)
	forbids := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"deny\"\npriority = 900\n"
	for _, a := range agents {
		args := map[string][]string{"claude-code": {"-p"}, "gemini": {"-y"}, "qwen": {}, "copilot": {}}[a.host]
		if args == nil {
			continue // Codex reports no denials
		}
		t.Run(a.host, func(t *testing.T) {
			s := newScene(t, a.client)
			s.write(filepath.Join(s.home, ".gemini/policies/make.toml"), forbids)
			s.script = func(r request) reply {
				if strings.Contains(r.last, "step ") {
					return reply{tool: a.tool, input: a.input("make deploy")}
				}
				return reply{text: "Hello there."}
			}
			outcomes, end, all := s.loop(t.Context(), a.adapter, args)
			if diff := cmp.Diff([]run.Outcome{run.OK, run.OK}, outcomes); diff != "" || end.Ended != run.Denied || !strings.Contains(end.Why, a.tool+" make deploy") {
				t.Fatalf("it ends with %+v (-want +got)\n%s", end, diff)
			}
			if len(all[0].Denied) == 0 || all[0].Denied[0].Tool != a.tool || all[0].Denied[0].Input != "make deploy" {
				t.Errorf("denied: %+v", all[0].Denied)
			}
			switch settings, added := rule.FindStringSubmatch(end.Why), flag.FindStringSubmatch(end.Why); {
			case settings != nil:
				s.write(settings[2], `{"permissions": {"allow": [`+settings[1]+`]}}`)
			case added != nil:
				args = append(args, added[1:]...)
			case a.host == "gemini":
				return // it prints no rule
			default:
				t.Fatalf("it says nothing of what allows it: %s", end.Why)
			}
			_, end, all = s.loop(t.Context(), a.adapter, args)
			if end.Rule != "done" || len(all) != 3 || len(all[2].Denied) > 0 {
				t.Errorf("after it was allowed it ends with %+v, and was denied %+v", end, all)
			}
		})
	}
}
