package host_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/host"
)

func TestCommands(t *testing.T) {
	s := session(t,
		userSays("before"),
		agentUses("t0", "Bash", `{"command":"make"}`), toolSays("t0", "", false),
		userSays("go"),
		agentUses("t1", "Bash", `{"command":"go test ./..."}`), toolSays("t1", "FAIL", true),
		agentUses("t2", "Bash", `{"command":"go test ./..."}`), toolSays("t2", "ok", false),
		agentUses("t3", "Read", `{"file_path":"x"}`), toolSays("t3", "ok", false),
		agentUses("t4", "Bash", `{"command":"serve","run_in_background":true}`), toolSays("t4", "started", false),
		agentUses("t5", "Bash", `{"command":"sleep 5"}`),
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t5","content":""}]},"toolUseResult":{"interrupted":true}}`,
		agentUses("t6", "Bash", `{"command":"no result"}`),
		agentSays("The command go vet passed."),
	)
	want := []host.Action{{Command: "go test ./..."}, {Command: "go test ./...", OK: true}, {Command: "sleep 5"}, {Command: "no result"}}
	if diff := cmp.Diff(want, s.Actions(), cmpopts.IgnoreUnexported(host.Action{})); diff != "" {
		t.Error(diff)
	}
}

func TestCommandsOfCodex(t *testing.T) {
	call := func(id, arguments, output string) []string {
		return []string{
			fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":%q,"call_id":%q}}`, arguments, id),
			fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":%q}}`, id, output),
		}
	}
	lines := []string{`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`}
	lines = append(lines, call("1", `{"command":["bash","-lc","go test"]}`, `{"output":"ok","metadata":{"exit_code":0}}`)...)
	lines = append(lines, call("2", `{"cmd":"go vet"}`, "Chunk\nProcess exited with code 1\nOutput: Exit code: 0 is what I want")...)
	lines = append(lines, call("3", `{"command":["ls","-l"]}`, "Exit code: 0\nfiles")...)
	want := []host.Action{{Command: "go test", OK: true}, {Command: "go vet"}, {Command: "ls -l", OK: true}}
	if diff := cmp.Diff(want, session(t, lines...).Actions(), cmpopts.IgnoreUnexported(host.Action{})); diff != "" {
		t.Error(diff)
	}
}

func TestPassed(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{"go test", true},
		{"go  test ./... -race", true},
		{"cd api && go test ./...", true},
		{"CGO_ENABLED=0 GOFLAGS=-v go test ./...", true},
		{"go vet; go test ./...", true},
		{"go test ./... && echo fine", true},
		{"go test ./... 2>&1", true},
		{"go test ./... > out.txt 2>&1;\n", true},
		{"grep x | wc -l; go test", true},

		{"go test ./... | tail -5", false},
		{"go test ./... || true", false},
		{"go test ./...; echo done", false},
		{"go test ./... &", false},
		{"go test ./...\necho done", false},
		{"go test && make | cat", false},
		{"go tests", false},
		{"echo go test", false},
		{"echo 'x && go test'", false},
		{`echo "x; go test"`, false},
		{"# go test", false},
		{"go", false},
		{"", false},
	} {
		if got := host.Passed([]host.Action{{Command: c.line, OK: true}}, "go test", false); got != c.want {
			t.Errorf("%q shows that go test passed: %v", c.line, got)
		}
		if host.Passed([]host.Action{{Command: c.line}}, "go test", false) {
			t.Errorf("%q failed, and still shows that go test passed", c.line)
		}
	}
	last := []host.Action{{Command: "go test", OK: true}, {Command: "go test"}}
	if host.Passed(last, "go test", false) {
		t.Error("an earlier run counts more than the last one")
	}
	if host.Passed([]host.Action{{Command: "ls", OK: true}}, " ", false) {
		t.Error("no command at all passed")
	}
}
