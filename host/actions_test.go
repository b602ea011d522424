package host_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/host"
)

// codexCall is a call of a function and its result.
func codexCall(id, typ, rest, output string) []string {
	return []string{
		fmt.Sprintf(`{"type":"response_item","payload":{"type":%q,"call_id":%q,%s}}`, typ, id, rest),
		fmt.Sprintf(`{"type":"response_item","payload":{"type":%q,"call_id":%q,"output":%q}}`, typ+"_output", id, output),
	}
}

func TestActions(t *testing.T) {
	join := func(parts ...[]string) (all []string) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, c := range []struct {
		host  string
		lines []string
		want  []host.Action
	}{
		{"claude", []string{
			userSays("go"),
			agentUses("1", "Write", `{"file_path":"/p/a.go"}`), toolSays("1", "ok", false),
			agentUses("2", "Bash", `{"command":"make"}`), toolSays("2", "ok", false),
			agentUses("3", "NotebookEdit", `{"notebook_path":"/p/n.ipynb"}`), toolSays("3", "no", true),
			agentUses("4", "Read", `{"file_path":"/p/b.go"}`), toolSays("4", "x", false),
		}, []host.Action{{Edits: []string{"/p/a.go"}, OK: true}, {Command: "make", OK: true}, {Edits: []string{"/p/n.ipynb"}}}},
		{"codex", join(
			[]string{`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`},
			codexCall("1", "custom_tool_call", `"name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n*** Add File: c d.go\n*** End Patch"`, "Exit code: 0"),
			codexCall("2", "function_call", `"name":"shell","arguments":"{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Delete File: x.go\\n*** End Patch\"]}"`, "Exit code: 0"),
			codexCall("3", "function_call", `"name":"exec_command","arguments":"{\"cmd\":\"make\"}"`, "Process exited with code 0"),
			codexCall("4", "local_shell_call", `"action":{"type":"exec","command":["ls"]}`, "Exit code: 1"),
		), []host.Action{{Edits: []string{"a.go", "b.go", "c d.go"}, OK: true}, {Edits: []string{"x.go"}, OK: true}, {Command: "make", OK: true}, {Command: "ls"}}},
		{"gemini", []string{
			`{"id":"1","type":"user","content":"go"}`,
			`{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"a","name":"write_file","args":{"file_path":"a.go"}}]}`,
			`{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"a","name":"write_file","args":{"file_path":"a.go"},"status":"success"},` +
				`{"id":"b","name":"run_shell_command","args":{"command":"make"},"status":"success","result":[{"functionResponse":{"response":{"output":"Output: x\nExit Code: 2"}}}]}]}`,
			`{"id":"3","type":"gemini","content":"","toolCalls":[{"id":"c","name":"replace","args":{"file_path":"b.go"},"status":"error"},{"id":"d","name":"run_shell_command","args":{"command":"make"},"status":"success"}]}`,
		}, []host.Action{{Edits: []string{"a.go"}, OK: true}, {Command: "make"}, {Edits: []string{"b.go"}}, {Command: "make", OK: true}}},
		{"qwen", []string{
			`{"type":"user","message":{"role":"user","parts":[{"text":"go"}]}}`,
			`{"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"1","name":"edit","args":{"file_path":"a.go"}}},{"functionCall":{"id":"2","name":"run_shell_command","args":{"command":"make"}}}]}}`,
			`{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"1","response":{"output":"ok"}}}]},"toolCallResult":{"callId":"1","status":"success"}}`,
			`{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"2","response":{"output":"Command: make\nExit Code: 0"}}}]},"toolCallResult":{"callId":"2","status":"success"}}`,
			`{"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"3","name":"run_shell_command","args":{"command":"serve","is_background":true}}}]}}`,
		}, []host.Action{{Edits: []string{"a.go"}, OK: true}, {Command: "make", OK: true}}},
		{"copilot", []string{
			`{"type":"user.message","data":{"content":"go"}}`,
			`{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"1","name":"create","arguments":{"path":"/p/a.go"}},{"toolCallId":"2","name":"bash","arguments":{"command":"make"}}]}}`,
			`{"type":"tool.execution_complete","data":{"toolCallId":"1","success":true}}`,
			`{"type":"tool.execution_complete","data":{"toolCallId":"2","success":true,"result":{"content":"no rule\n<exited with exit code 2>"}}}`,
			`{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"3","name":"bash","arguments":"{\"command\":\"make all\"}"},{"toolCallId":"4","name":"str_replace_editor","arguments":{"command":"view","path":"/p/a.go"}}]}}`,
			`{"type":"tool.execution_complete","data":{"toolCallId":"3","success":true,"result":{"content":"built\n<shellId: 0 completed with exit code 0>"}}}`,
		}, []host.Action{{Edits: []string{"/p/a.go"}, OK: true}, {Command: "make"}, {Command: "make all", OK: true}}},
	} {
		t.Run(c.host, func(t *testing.T) {
			if diff := cmp.Diff(c.want, session(t, c.lines...).Actions(), cmpopts.IgnoreUnexported(host.Action{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What passed is stale once the agent edited a file, unless the edit failed.
func TestPassedSinceEdit(t *testing.T) {
	run := []string{agentUses("r", "Bash", `{"command":"go test ./..."}`), toolSays("r", "ok", false)}
	fails := []string{agentUses("f", "Bash", `{"command":"go test ./..."}`), toolSays("f", "FAIL", true)}
	edit := []string{agentUses("e", "Edit", `{"file_path":"/p/a.go"}`), toolSays("e", "ok", false)}
	refused := []string{agentUses("x", "Edit", `{"file_path":"/p/a.go"}`), toolSays("x", "not found", true)}
	open := []string{agentUses("o", "Write", `{"file_path":"/p/a.go"}`)}
	other := []string{agentUses("l", "Bash", `{"command":"ls"}`), toolSays("l", "ok", false)}
	for _, c := range []struct {
		name  string
		parts [][]string
		want  bool
	}{
		{"ran", [][]string{run}, true},
		{"ran after an edit", [][]string{edit, run, other}, true},
		{"edited after it", [][]string{run, edit}, false},
		{"an edit whose result is not there", [][]string{run, open}, false},
		{"the edit failed", [][]string{run, refused}, true},
		{"failed the last time", [][]string{run, fails}, false},
		{"never ran", [][]string{other}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := []string{userSays("go")}
			for _, p := range c.parts {
				lines = append(lines, p...)
			}
			actions := session(t, lines...).Actions()
			if got := host.Passed(actions, "go test", true); got != c.want {
				t.Errorf("Passed = %v, want %v", got, c.want)
			}
			if host.Passed(actions, " ", true) {
				t.Error("an empty name has passed")
			}
		})
	}
}
