//go:build hosts

package hosttest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ralph run drives each agent that it knows by one policy, without a hook: a box of the list each iteration, until all are ticked.
func TestRun(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if !inTable(s) {
			t.Skip("ralph run knows no more of it than of any other command")
		}
		boxes := []string{"- [ ] write hello.txt\n", "- [ ] add the date\n"}
		s.write("TODO.md", strings.Join(boxes, ""))
		s.write(".ralph/policy.yaml", checklist)
		s.script = func(r request) reply {
			boxes[r.n-1] = strings.Replace(boxes[r.n-1], "[ ]", "[x]", 1)
			s.write("TODO.md", strings.Join(boxes, ""))
			return reply{text: "Worked."}
		}
		out := s.command(ralphProgram, append([]string{"run", "--max", "3", "--", filepath.Join(clientsDir, "node_modules", s.program)}, s.args...)...)
		want := regexp.MustCompile(`\niteration 1 of 3: ok in .* tokens.*\niteration 2 of 3: ok in .*\ndone by done: every box is ticked \(2 iterations, .* tokens`)
		if !want.MatchString(out) || len(s.asked) != 2 {
			t.Fatalf("%d requests; other requests: %q\n%s", len(s.asked), s.others, out)
		}
		for i, want := range []string{"Next is write hello.txt.", "Next is add the date."} {
			if last := s.asked[i].last; !strings.Contains(last, want) {
				t.Errorf("iteration %d is asked\n%s", i+1, last)
			}
		}
	})
}

// An agent that cannot sign in ends the run: another iteration would fail too.
func TestRunSignIn(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		if !inTable(s) {
			t.Skip("ralph run knows no more of it than of any other command")
		}
		s.env = append(s.env, "CLAUDE_CODE_MAX_RETRIES=1")
		s.script = func(request) reply { return reply{error: 401, text: "The key is wrong."} }
		run := append([]string{"-c", `"$@"; test $? = 3`, "sh", ralphProgram, "run", "--promise", "DONE", "--", filepath.Join(clientsDir, "node_modules", s.program)}, s.args...)
		if out := s.command("sh", run...); !regexp.MustCompile(`\niteration 1 of 100: auth in .*\nfailed: the agent cannot sign in: .*\(1 iteration`).MatchString(out) {
			t.Errorf("ralph run prints\n%s", out)
		}
	})
}

// A rate limit is waited for, and the next iteration has the same prompt.
func TestRunRateLimit(t *testing.T) {
	t.Parallel()
	s := newScene(t, clientRows[0])
	s.env = append(s.env, "CLAUDE_CODE_MAX_RETRIES=0")
	s.script = func(r request) reply {
		if r.n == 1 {
			return reply{error: 429, text: "Too many requests."}
		}
		return reply{text: "ALL DONE"}
	}
	args := append([]string{"run", "--promise", "ALL DONE", "--", filepath.Join(clientsDir, "node_modules", s.program)}, s.args...)
	out := s.command(ralphProgram, append(args, "Follow the plan.")...)
	if !regexp.MustCompile(`\niteration 1 of 100: rate limited in .*\nit rests until .*\niteration 2 of 100: ok in .*\ndone by said`).MatchString(out) || !strings.Contains(s.asked[1].last, "Follow the plan.") {
		t.Errorf("ralph run prints\n%s", out)
	}
}

// inTable reports whether ralph run reads the agent's records.
func inTable(s *scene) bool {
	return slices.Contains([]string{"claude-code", "codex", "gemini", "qwen"}, s.host)
}

// The line of an iteration names what the agent was not allowed to do.
func TestRunDenied(t *testing.T) {
	t.Parallel()
	s := newScene(t, clientRows[0])
	s.script = func(r request) reply {
		if r.n == 1 {
			return reply{tool: "WebFetch", input: object{"url": "http://127.0.0.1:9/plan", "prompt": "Read it."}}
		}
		return reply{text: "ALL DONE"}
	}
	args := append([]string{"run", "--promise", "ALL DONE", "--", filepath.Join(clientsDir, "node_modules", s.program)}, s.args...)
	if out := s.command(ralphProgram, append(args, "Follow the plan.")...); !regexp.MustCompile(`\niteration 1 of 100: ok in .*; not allowed: WebFetch http://127.0.0.1:9/plan\ndone by said`).MatchString(out) {
		t.Errorf("ralph run prints\n%s", out)
	}
}
