package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// bigTurn are the records of one host: a prompt, an earlier turn before it, words of the agent, and what a tool gave back.
type bigTurn struct {
	host   string
	prompt func(text string) string
	words  func(text string) string
	result func(text string) string
}

func bigTurns() []bigTurn {
	item := func(payload m) string { return line(m{"timestamp": "t", "type": "response_item", "payload": payload}) }
	item0 := func(role, typ string) func(string) string {
		return func(text string) string {
			return item(m{"type": "message", "role": role, "content": []any{m{"type": typ, "text": text}}})
		}
	}
	quoted := func(form string) func(string) string {
		return func(text string) string { return fmt.Sprintf(form, strings.TrimSuffix(line(text), "\n")) + "\n" }
	}
	return []bigTurn{
		{"claude", user, func(s string) string { return agent(s) },
			quoted(`{"parentUuid":"p","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":%s}]},"uuid":"u"}`)},
		{"claude, the result twice", user, func(s string) string { return agent(s) },
			quoted(`{"type":"user","toolUseResult":{"stdout":%[1]s},"message":{"role":"user","content":[{"type":"tool_result","content":%[1]s}]}}`)},
		{"claude, progress of a tool", user, func(s string) string { return agent(s) }, quoted(`{"type":"progress","data":{"output":%s}}`)},
		{"codex", item0("user", "input_text"), item0("assistant", "output_text"),
			quoted(`{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":%s}}`)},
		{"codex, an event", item0("user", "input_text"), item0("assistant", "output_text"),
			quoted(`{"timestamp":"t","type":"event_msg","payload":{"type":"exec_command_end","aggregated_output":%s}}`)},
		{"gemini", quoted(`{"id":"1","type":"user","content":%s}`), quoted(`{"type":"gemini","content":%s}`),
			quoted(`{"id":"2","type":"user","content":[{"functionResponse":{"name":"read_file","response":{"output":%s}}}]}`)},
		{"qwen", quoted(`{"type":"user","message":{"role":"user","parts":[{"text":%s}]}}`), quoted(`{"type":"assistant","message":{"role":"model","parts":[{"text":%s}]}}`),
			quoted(`{"type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"response":%s}}]}}`)},
		{"copilot", quoted(`{"type":"user.message","data":{"content":%s}}`), quoted(`{"type":"assistant.message","data":{"content":%s}}`),
			quoted(`{"type":"tool.execution_complete","data":{"result":{"content":%s}}}`)},
	}
}

// What the agent said before megabytes of tool output in the same turn is found, and what it said in the turn before is
// not: in small results, in one that fits into no window, and in files of every host.
func TestReadBehindToolOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	for _, h := range bigTurns() {
		for size, results := range map[string]string{
			"many": strings.Repeat(h.result(strings.Repeat("a line of \"output\"\n", 8<<10)), 80),
			"one":  h.result(strings.Repeat("a line of \"output\"\n", 1<<20)),
		} {
			t.Run(h.host+"/"+size, func(t *testing.T) {
				if len(results) < host.DefaultMaxBytes+1<<20 {
					t.Fatalf("%d bytes of results are too few", len(results))
				}
				path := file(t, h.prompt("go"), h.words("EARLIER"), h.prompt("next"), h.words("DONE"), results, h.words("bye"))
				s := read(t, path, host.SessionOptions{})
				if diff := cmp.Diff([]string{"DONE", "bye"}, s.Own()); diff != "" || s.Cut() {
					t.Errorf("Cut %v (-want +got)\n%.500s", s.Cut(), diff)
				}
				// The results are the newest records, too, where the file lags behind.
				s = read(t, file(t, h.prompt("next"), h.words("DONE"), results), host.SessionOptions{})
				if diff := cmp.Diff([]string{"DONE"}, s.Own()); diff != "" || s.Cut() {
					t.Errorf("at the end: Cut %v (-want +got)\n%.500s", s.Cut(), diff)
				}
			})
		}
	}
}

// If the beginning of the turn was not read, Cut reports it; if the file begins before that, it does not.
func TestReadFarIsBounded(t *testing.T) {
	claude := bigTurns()[0]
	output := strings.Repeat(claude.result(strings.Repeat("x", 64<<10)), 160) // 10 MiB
	huge := strings.Repeat("x", 9<<20)
	for _, c := range []struct {
		name  string
		lines []string
		o     host.SessionOptions
		want  []string
		cut   bool
	}{
		{"the prompt is found", []string{user("go"), agent("a"), output, agent("b")}, host.SessionOptions{}, []string{"a", "b"}, false},
		{"the file has no prompt", []string{agent("a"), output, agent("b")}, host.SessionOptions{}, []string{"a", "b"}, false},
		{"beyond the search", []string{user("go"), agent("a"), output, agent("b")}, host.SessionOptions{SearchBytes: 1 << 20}, []string{"b"}, true},
		{"no search", []string{user("go"), agent("a"), output, agent("b")}, host.SessionOptions{SearchBytes: -1}, []string{"b"}, true},
		{"behind words that fit into no window", []string{user("go"), agent("a"), agent(huge), output, agent("b")}, host.SessionOptions{}, []string{"b"}, true},
		{"behind a prompt that fits into none", []string{agent("OLD"), user(huge), agent("a"), output, agent("b")}, host.SessionOptions{}, []string{"a", "b"}, true},
		{"a prompt that looks like a result", []string{agent("OLD"), user(strings.Repeat(`"type":"tool_result"`, 2000)), agent("a"), output, agent("b")}, host.SessionOptions{}, []string{"a", "b"}, false},
		{"more words than are kept", []string{user("go"), strings.Repeat(agent(huge[:1<<20]), 8), strings.Repeat(agent("a"), 1000)},
			host.SessionOptions{MaxBytes: 1 << 16}, nil, true},
		{"records that are not understood", []string{user("go"), agent("a"), strings.Repeat(line(m{"x": huge[:1<<20]}), 10)}, host.SessionOptions{}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, file(t, c.lines...), c.o)
			own := s.Own()
			if c.want != nil || own == nil {
				if diff := cmp.Diff(c.want, own); diff != "" {
					t.Errorf("(-want +got)\n%.500s", diff)
				}
			}
			kept := 0
			for _, text := range own {
				kept += len(text)
			}
			if s.Cut() != c.cut || kept > 4<<20 {
				t.Errorf("Cut %v, want %v; %d bytes of words", s.Cut(), c.cut, kept)
			}
		})
	}
}

// A quarter of a gigabyte of tool output is read in a fixed amount of memory.
func TestReadFarTakesLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// One result is a sparse part of the file, which takes no room on the disk: nothing looks at its content.
	head := user("go") + agent("DONE") + `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"`
	end := int64(len(head) + 250<<20)
	if _, err := f.WriteString(head); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(`"}]}}`+"\n"+agent("bye")), end); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := read(t, path, host.SessionOptions{})
	runtime.ReadMemStats(&after)
	if diff := cmp.Diff([]string{"DONE", "bye"}, s.Own()); diff != "" || s.Bytes() < 250<<20 {
		t.Errorf("%d bytes read (-want +got)\n%.500s", s.Bytes(), diff)
	}
	// All that was ever allocated, so more than was held at once.
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 32<<20 {
		t.Errorf("%d MiB were allocated", taken>>20)
	}
}
