package host_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

// A program's own Stop hook: the agent goes on until it says that it is done.
func ExampleAnswer() {
	policy := `ralph: 1
rules:
  - name: finished
    when: said("ALL DONE")
    done: the agent says so
  - name: go on
    continue: Go on. Say ALL DONE on a line of its own when you have finished.
`
	l, err := loop.Load(fstest.MapFS{"policy.yaml": {Data: []byte(policy)}}, "policy.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, said := range []string{"I begin.", "ALL DONE"} {
		stdin := strings.NewReader(`{"session_id": "s1", "prompt_id": "p1", "cwd": "/work", "last_assistant_message": "` + said + `"}`)
		status := host.Answer(context.Background(), stdin, os.Stdout, os.Stderr, l)
		fmt.Println("status", status)
	}
	// Output:
	// {"decision":"block","reason":"Go on. Say ALL DONE on a line of its own when you have finished."}
	// status 0
	// {"systemMessage":"policy: done: the agent says so"}
	// status 0
}

// An entry is added to settings and taken away again; every other byte stays.
func ExampleInstall() {
	settings := []byte("{\n  \"model\": \"opus\"\n}\n")
	entry := host.Entry{Host: host.ClaudeCode, Program: "ralph", Policies: []string{"tests"}, Events: []string{"Stop"}}
	with, err := host.Install(settings, entry)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", with)
	without, err := host.Uninstall(with, entry)
	fmt.Println(string(without) == string(settings), err)
	// Output:
	// {
	//   "model": "opus",
	//   "hooks": {
	//     "Stop": [
	//       {
	//         "hooks": [
	//           {
	//             "type": "command",
	//             "command": "ralph eval --host claude-code --policy tests || exit 1"
	//           }
	//         ]
	//       }
	//     ]
	//   }
	// }
	// true <nil>
}
