package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A loopTemplate is a loop for a common task.
type loopTemplate struct {
	name    string
	max     int
	promise string
	text    string
}

// loopTemplates are the templates of ralph start. Their limits and promises are those
// that the guide of stravinsky recommends: a promise that is a whole sentence, and as
// many iterations as such a task takes.
func loopTemplates() []loopTemplate {
	return []loopTemplate{
		{"fix-tests", 15, "All tests passing", `Goal: make every test pass.
- Run the tests and read the first failure
- Find its cause and fix that, not the test
- Repeat until a whole run passes`},
		{"implement", 20, "Feature complete and tested", `Goal: implement the feature.
1. Write down what it has to do, and where it belongs in the code
2. Implement it in small steps, and keep the tests green
3. Add tests for what it does, and for what it refuses
4. Update the documentation`},
		{"debug", 12, "Root cause identified and fixed", `Goal: find the cause of the problem and remove it.
- Reproduce it, in a test if you can
- Narrow it down: measure, do not guess
- Fix the cause, and see that the test passes now
- Look for the same mistake elsewhere`},
		{"refactor", 15, "Refactoring complete, all tests passing", `Goal: improve the structure of the code and keep its behavior.
- See that the tests cover what you change; add those that are missing
- Change one thing at a time, and run the tests after each
- Remove what is no longer used`},
		{"document", 10, "Documentation complete", `Goal: document what is there.
- List what a user needs to know, and what is missing or wrong
- Write it, with examples
- Run every example and correct it`},
	}
}

// templateList shows the templates, a line each.
func templateList() string {
	var b strings.Builder
	for _, t := range loopTemplates() {
		goal, _, _ := strings.Cut(t.text, "\n")
		goal = strings.TrimSuffix(strings.TrimPrefix(goal, "Goal: "), ".")
		fmt.Fprintf(&b, "  %-10s %s (%d iterations, until %q)\n", t.name, goal, t.max, t.promise)
	}
	return b.String()
}

// filledIn gives the flags with what a template or the todos of the session say. What
// the user says goes before.
func (a *app) filledIn(ctx context.Context, dir string, f startFlags, session string) (startFlags, error) {
	given := 0
	for _, is := range []bool{f.promptFile != "", f.template != "", f.todos} {
		if is {
			given++
		}
	}
	if given > 1 {
		return f, errors.New("the prompt comes from one of --prompt-file, --template and --from-todos")
	}
	promise := ""
	switch {
	case f.todos:
		text, err := a.openTodos(ctx, dir, session)
		if err != nil {
			return f, err
		}
		f.text, promise = text, "All todos are completed"
	case f.template != "":
		found := false
		for _, t := range loopTemplates() {
			if t.name != f.template {
				continue
			}
			found, f.text, promise = true, t.text, t.promise
			if !f.hasMax {
				f.hasMax, f.max = true, t.max
			}
		}
		if !found {
			return f, fmt.Errorf("there is no template %q, expected one of:\n%s", f.template, templateList())
		}
	}
	if promise != "" && !f.hasPromise {
		f.hasPromise, f.promise = true, promise
	}
	return f, nil
}

// todosPolicy writes the prompt from the todos that are open.
const todosPolicy = `
ralph: 1
facts:
  todos: {tasks: claude}
let:
  open: filter(todos, .status != "completed" and .status != "deleted")
rules:
  - name: none
    when: missing(todos) or len(open) == 0
    stop: "${missing(todos) ? problem(todos) : 'every todo of the session is completed'}"
  - name: open
    continue: |
      Goal: complete the open todos, in this order.
      ${map(open, .description in ["", .subject] ? "- " + .subject : "- " + .subject + ": " + .description)}
`

// openTodos makes a prompt of the todos that a session of Claude Code has not
// completed.
func (a *app) openTodos(ctx context.Context, dir, session string) (string, error) {
	program, diags := rules.LoadBytes(ctx, "todos.yaml", []byte(todosPolicy), a.language())
	if err := diags.Err(); err != nil {
		return "", err
	}
	l, err := loop.New(program, loop.WithRoot(dir), loop.WithEnv(a.getenv))
	if err != nil {
		return "", err
	}
	if session == "" && a.getenv("CLAUDE_CODE_TASK_LIST_ID") == "" {
		return "", errors.New("whose todos? Run the command in a session of Claude Code, or name one with --session ID")
	}
	d := l.Preview(ctx, host.Event{Host: host.ClaudeCode, Name: host.Stop, SessionID: session, Cwd: dir})
	if v := d.Verdict; v.Action != rules.Continue {
		return "", fmt.Errorf("no open todos to start from: %s", cmp.Or(d.Skipped, v.Reason, problemTexts(v.Problems)))
	}
	return d.Verdict.Reason, nil
}

// problemTexts joins the texts of problems.
func problemTexts(problems []rules.Problem) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Text
	}
	return strings.Join(texts, "; ")
}
