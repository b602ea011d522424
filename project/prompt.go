package project

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

//go:embed template/start.yaml
var startTemplates []byte

// A Template is a loop for a common task.
type Template struct {
	Name    string
	Max     int    // maximum iterations
	Promise string // ends the loop
	Text    string // the prompt
}

// Goal returns the purpose of the template on one line.
func (t Template) Goal() string {
	goal, _, _ := strings.Cut(t.Text, "\n")
	return strings.TrimSuffix(strings.TrimPrefix(goal, "Goal: "), ".")
}

// Templates returns the templates for starting a loop.
func Templates() (all []Template) {
	if err := yaml.Unmarshal(startTemplates, &all); err != nil {
		panic(err) // it is embedded
	}
	return all
}

//go:embed template/todos.yaml
var todosPolicy []byte

// TodosPromise is the promise of a loop with the prompt of [Project.Todos].
const TodosPromise = "All todos are completed"

// Todos returns a prompt with the todos that a session of Claude Code has not completed.
func (p *Project) Todos(ctx context.Context, session string) (string, error) {
	program, diags := rules.LoadBytes(ctx, "todos.yaml", todosPolicy, p.Language())
	if err := diags.Err(); err != nil {
		return "", err
	}
	l, err := loop.New(program, loop.WithRoot(p.dir), loop.WithEnv(p.env))
	if err != nil {
		return "", err
	}
	if session == "" && p.env("CLAUDE_CODE_TASK_LIST_ID") == "" {
		return "", errors.New("the todos of no session: run the command in a session of Claude Code, or name one with --session ID")
	}
	d := l.Preview(ctx, p.event(session))
	if v := d.Verdict; v.Action != rules.Continue {
		texts := make([]string, len(v.Problems))
		for i, problem := range v.Problems {
			texts[i] = problem.Text
		}
		return "", fmt.Errorf("no open todos to start from: %s", cmp.Or(v.Reason, strings.Join(texts, "; ")))
	}
	return d.Verdict.Reason, nil
}
