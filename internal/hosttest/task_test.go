//go:build hosts

package hosttest

import (
	"strings"
	"testing"
)

// A task stays open until a rule allows its end. The agent gets the text of the rule.
func TestTaskCompleted(t *testing.T) {
	s := newScene(t, claude)
	s.env = append(s.env, "CLAUDE_CODE_ENABLE_TODO_TOOLS=1")
	s.write(".ralph/policy.yaml", `ralph: 1
events: [TaskCompleted]
rules:
  - {name: tested, when: exists("tested"), stop: it is tested}
  - {name: untested, continue: "Test task ${task_id}, “${task_subject}”, first."}
`)
	s.command(ralphProgram, "install", "claude-code")
	complete := reply{tool: "TaskUpdate", input: map[string]any{"taskId": "1", "status": "completed"}}
	steps := []reply{{tool: "TaskCreate", input: map[string]any{"subject": "Write tests", "description": "All"}}, complete, complete}
	var results []string
	s.script = func(r request) reply {
		n := len(results)
		results = append(results, r.last)
		if n == 2 {
			s.write("tested", "")
		}
		if n < len(steps) {
			return steps[n]
		}
		return reply{text: "Hello there."}
	}
	s.command(s.agent(nil)[0], "-p", "do it")
	if len(results) != 4 || !strings.Contains(results[2], "Test task 1, “Write tests”, first.") || strings.Contains(results[3], "first.") {
		t.Errorf("the agent was told %q", results)
	}
}
