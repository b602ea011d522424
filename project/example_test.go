package project_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// A program shows the loops of a project, and starts and stops them.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	defer os.RemoveAll(dir + ".own")
	ctx := context.Background()
	program, diags := rules.LoadBytes(ctx, "todo.yaml", []byte(`
ralph: 1
loop:
  state: todo
  start:
    todo: {text: "${start.prompt}", max: "${start.max}"}
facts:
  todo: {json: todo.json, schema: {properties: {text: {type: string}, max: {type: integer, default: 5}}}}
rules:
  - {name: again, when: ok(todo), continue: "${todo.text}", unless_repeated: {times: 5}}
`), rules.Config{})
	if err := diags.Err(); err != nil {
		panic(err)
	}
	p, err := project.Open(project.Config{Dir: dir, State: dir + ".own", Policies: []project.Policy{{Name: "todo", Program: program}}})
	if err != nil {
		panic(err)
	}
	defer p.Close()

	prompt := "Write the report"
	if _, err := p.Start(ctx, "todo", project.StartRequest{Argument: &prompt}); err != nil {
		panic(err)
	}
	status, err := p.Status(ctx)
	if err != nil {
		panic(err)
	}
	for _, l := range status.Loops {
		fmt.Println(l.Policy, l.State, l.File)
	}
	src, _ := os.ReadFile(dir + "/todo.json")
	fmt.Print(string(src))
	stopped, err := p.Stop(ctx, nil, "")
	fmt.Println(len(stopped), "stopped,", err)
	// Output:
	// todo running todo.json
	// {
	//   "text": "Write the report",
	//   "max": 5
	// }
	// 1 stopped, <nil>
}
