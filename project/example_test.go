package project_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-sdk/ralph/loop"
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
	// todo ready todo.json
	// {
	//   "text": "Write the report",
	//   "max": 5
	// }
	// 1 stopped, <nil>
}

// A program answers a hook with the policies of the project that the event is in, as ralph eval does.
func ExampleHook() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	tree, own := filepath.Join(dir, "tree"), filepath.Join(dir, "own")
	for name, content := range map[string]string{
		"TODO.md": "- [x] Read\n- [ ] Write\n",
		".ralph/policy.yaml": `
ralph: 1
facts: {todo: {checklist: TODO.md}}
let: {open: "filter(todo, not .done)"}
rules:
  - {name: next, when: len(open) > 0, continue: "Next: ${open[0].text}"}
`,
	} {
		file := filepath.Join(tree, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			panic(err)
		}
	}
	hook := loop.Hook{Loops: project.Hook{Config: project.Config{Dir: tree, State: own}}.Loops}
	event := fmt.Sprintf(`{"hook_event_name": "Stop", "session_id": "s", "cwd": %q}`, tree)
	host, reply := hook.Reply(context.Background(), []byte(event))
	fmt.Print(string(host.Encode(reply).Stdout))
	_, err = os.Stat(filepath.Join(own, "entries"))
	fmt.Println("counted in the given directory:", err == nil)
	// Output:
	// {"decision":"block","reason":"Next: Write"}
	// counted in the given directory: true
}
