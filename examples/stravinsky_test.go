package examples_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const loopFile = ".stravinsky/continuation-loop.md"

// goal follows the front matter of every loop file here.
const goal = "\nGoal: make the tests pass\n- Run them\n\n---\nnot: front matter\n---\n"

func loopAt(fields string) string { return "---\n" + fields + "---\n" + goal }

// An agent that repeats the loop's own words, whole or in part, has not stated the promise.
func TestRepeatedWordsAreNoPromise(t *testing.T) {
	promises := []string{
		"All tests passing", `All "unit" tests`, "Done: x. All green!", "It's done", "[DONE]", "**DONE**", "✅ fertig", "I cannot do more",
	}
	policies := map[string]struct{ file, fields, wrote string }{
		"stravinsky":   {loopFile, "iteration_count: 1\nmax_iterations: 900\ncompletion_promise: %s\n", "`%s`"},
		"ralph-wiggum": {".claude/ralph-loop.local.md", "iteration: 1\nmax_iterations: 900\ncompletion_promise: %s\n", "`<promise>%s</promise>`"},
	}
	for policy, of := range policies {
		for _, promise := range promises {
			t.Run(policy+"/"+promise, func(t *testing.T) {
				t.Parallel()
				p := newProject(t, policy, nil, files{of.file: "---\n" + fmt.Sprintf(of.fields, promise) + "---\nGoal\n"})
				first := p.stop(nil)
				uncounted := p.stop(event{"last_assistant_message": fmt.Sprintf(of.wrote, promise)})
				expect(t, uncounted, verdict(first), "did not count: it is in code")
				said := []string{first.Verdict.Reason, uncounted.Verdict.Reason}
				for _, text := range said {
					asks := strings.Index(text, "When it is true")
					for _, repeated := range []string{text, text[:asks], text[asks:]} {
						d := p.stop(event{"stop_hook_active": true, "last_assistant_message": repeated})
						if verdict(d) != verdict(first) {
							t.Fatalf("%s on %q", verdict(d), repeated)
						}
					}
				}
				stated := strings.Trim(fmt.Sprintf(of.wrote, promise), "`")
				expect(t, p.stop(event{"stop_hook_active": true, "last_assistant_message": "All is well.\n\n" + stated}), "stop promise")
			})
		}
	}
}

// A todo that reads like the promise is not the agent's word, where todo-reminder adds the todos to a prompt.
func TestTodosAreNoPromise(t *testing.T) {
	p := newProject(t, "stravinsky", nil, files{loopFile: loopAt("completion_promise: All tests passing\n")})
	note := event{"type": "hook_additional_context", "hookEvent": "UserPromptSubmit", "content": []string{"Open todos (1):\n- All tests passing"}}
	p.write(files{"session.jsonl": session(person("Go on."), event{"type": "attachment", "attachment": note}, agent("I begin."))})
	at := event{"transcript_path": filepath.Join(p.dir, "session.jsonl"), "last_assistant_message": "I begin."}
	expect(t, p.stop(at), "continue again")
	p.write(files{"session.jsonl": session(person("Go on."), event{"type": "attachment", "attachment": note}, agent("All tests passing"), agent("I begin."))})
	expect(t, p.stop(at), "stop promise")
}

// The examples of the guide run as they are written there, and a loop that ended makes
// room for the next one.
func TestStravinskyGuide(t *testing.T) {
	const tests = `---
iteration_count: 1
max_iterations: 15
completion_promise: "✅ All tests passing"
active: true
---

Goal: Fix failing tests in test_auth.py
- Run pytest
- Analyze failures
- Fix issues
- Repeat until all tests pass
`
	const feature = `---
iteration_count: 1
max_iterations: 20
completion_promise: "Feature complete and tested"
active: true
---

Goal: Implement OAuth refresh token flow
1. Add refresh endpoint
2. Update token storage
`
	const leak = `---
iteration_count: 1
max_iterations: 12
completion_promise: "Root cause identified and fixed"
active: true
---

Goal: Fix memory leak in semantic search indexer
- Profile memory usage
`
	p := newProject(t, "stravinsky", nil, nil)
	for _, example := range []struct{ file, says, promise string }{
		{tests, "Goal: Fix failing tests in test_auth.py\n- Run pytest", "Done. ✅ All tests passing"},
		{feature, "1. Add refresh endpoint\n2. Update token storage", "Feature complete and tested."},
		{leak, "- Profile memory usage", "root cause identified and fixed"},
	} {
		p.write(files{loopFile: example.file})
		expect(t, p.stop(nil), "continue again", example.says)
		expect(t, p.stop(event{"stop_hook_active": true, "last_assistant_message": example.promise}), "stop promise")
		expect(t, p.stop(event{"stop_hook_active": true}), "idle")
	}

	// The policy does not decide the user's prompts: the reminder of todos answers them.
	d := p.stop(event{"hook_event_name": "UserPromptSubmit", "prompt": "Go on"})
	diff(t, "the policy does not decide UserPromptSubmit", d.Verdict.Reason)
}
