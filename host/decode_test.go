package host_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

func decode(t *testing.T, payload string) host.Event {
	t.Helper()
	_, ev, err := host.Read([]byte(payload), nil)
	if err != nil {
		t.Fatalf("Read(%.80s): %v", payload, err)
	}
	return ev
}

// Hosts send the agent's last message in different fields. A value of the wrong type counts as missing, and the next
// field is tried only if last_assistant_message has no text.
func TestLastMessage(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"as hosts tell it", `{"last_assistant_message":"done","response":"old"}`, "done"},
		{"empty is an answer", `{"last_assistant_message":"","response":"old"}`, ""},
		{"null", `{"last_assistant_message":null,"response":"old"}`, "old"},
		{"wrong type", `{"last_assistant_message":5}`, ""},
		{"wrong type, older name", `{"last_assistant_message":["a"],"response":"old"}`, "old"},
		{"response first", `{"text":"t","message":"m","content":"c","response":"r"}`, "r"},
		{"then content", `{"text":"t","message":"m","content":"c"}`, "c"},
		{"then message", `{"text":"t","message":"m"}`, "m"},
		{"then text", `{"assistant_response":"a","text":"t"}`, "t"},
		{"then assistant_response", `{"assistant_response":"a"}`, "a"},
		{"the first that is there, whatever it holds", `{"response":null,"content":"c"}`, ""},
		{"list of texts", `{"content":["All tests","passing"]}`, "All tests passing"},
		{"list of blocks", `{"content":[{"type":"text","text":"All"},{"type":"image"},7,"passing"]}`, "All passing"},
		{"object with text", `{"message":{"text":"t","content":"c"}}`, "t"},
		{"object with content", `{"message":{"role":"assistant","content":[{"text":"a"},{"text":"b"}]}}`, "a b"},
		{"object with neither", `{"message":{"content":{"text":"too deep"}}}`, ""},
		{"not at other events", `{"hook_event_name":"Notification","message":"Claude needs you"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, decode(t, c.input).LastAssistantMessage); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStopHookActive(t *testing.T) {
	for _, c := range []struct {
		value   string
		active  bool
		newTurn bool
	}{
		{`true`, true, false},
		{`"TRUE"`, true, false},
		{`false`, false, true},
		{`"False"`, false, true},
		{`null`, false, false},
		{`1`, false, false},
		{`"yes"`, false, false},
		{`[true]`, false, false},
	} {
		ev := decode(t, `{"stop_hook_active":`+c.value+`}`)
		if ev.StopHookActive != c.active || ev.NewTurn != c.newTurn {
			t.Errorf("%s: StopHookActive %v, NewTurn %v; want %v, %v", c.value, ev.StopHookActive, ev.NewTurn, c.active, c.newTurn)
		}
	}
	if ev := decode(t, `{}`); ev.StopHookActive || ev.NewTurn {
		t.Errorf("absent: StopHookActive %v, NewTurn %v; an absent flag is not a new turn", ev.StopHookActive, ev.NewTurn)
	}
	if ev := decode(t, `{"stop_hook_active":false,"prompt_id":"p"}`); ev.NewTurn || ev.Turn != "p" {
		t.Errorf("with a turn id: NewTurn %v, Turn %q; the id alone tells turns apart", ev.NewTurn, ev.Turn)
	}
}

// Gemini sends no ID of a turn, but the prompt stays the same through it.
func TestGeminiTurn(t *testing.T) {
	turn := func(prompt string) string {
		return decode(t, `{"hook_event_name":"AfterAgent","stop_hook_active":false,"prompt":"`+prompt+`"}`).Turn
	}
	if again := turn("build"); again == "" || turn("build") != again {
		t.Errorf("one prompt has the turns %q and %q", turn("build"), turn("build"))
	}
	if turn("build") == turn("test") {
		t.Error("two prompts have one turn")
	}
	if ev := decode(t, `{"hook_event_name":"AfterAgent","stop_hook_active":false}`); ev.Turn != "" || ev.NewTurn {
		t.Errorf("without a prompt: Turn %q, NewTurn %v; the flag stays false through continuations", ev.Turn, ev.NewTurn)
	}
}

func TestEventNames(t *testing.T) {
	for input, want := range map[string]string{
		`{}`:                                           "Stop",
		`{"hook_event_name":""}`:                       "Stop",
		`{"hook_event_name":7}`:                        "Stop",
		`{"hook_event_name":"stop"}`:                   "Stop",
		`{"hook_event_name":"agentStop"}`:              "Stop",
		`{"hook_event_name":"AfterAgent"}`:             "Stop",
		`{"hook_event_name":"subagentStop"}`:           "SubagentStop",
		`{"hook_event_name":"beforeSubmitPrompt"}`:     "UserPromptSubmit",
		`{"hook_event_name":"UserPromptSubmit"}`:       "UserPromptSubmit",
		`{"hook_event_name":"sessionEnd"}`:             "SessionEnd",
		`{"hook_event_name":"PreToolUse"}`:             "PreToolUse",
		`{"hook_event_name":"été"}`:                    "été",
		`{"hookEventName":"Stop","sessionId":"s"}`:     "Stop",
		`{"hook_event_name":" Stop ","session_id":""}`: "Stop",
	} {
		if got := decode(t, input).Name; got != want {
			t.Errorf("%s is %q, want %q", input, got, want)
		}
	}
}

// Hosts that send the last message under an older name start their hooks in the project and do not name it.
func TestCwdOfOlderHosts(t *testing.T) {
	for input, want := range map[string]string{
		`{"response":"a"}`:                                       ".",
		`{"response":"a","cwd":"/w"}`:                            "/w",
		`{"response":"a","cwd":""}`:                              "",
		`{"response":"a","cwd":5}`:                               "",
		`{"last_assistant_message":"a"}`:                         "",
		`{"hook_event_name":"Notification","message":"waiting"}`: "",
		`{}`: "",
	} {
		if got := decode(t, input).Cwd; got != want {
			t.Errorf("%s: Cwd %q, want %q", input, got, want)
		}
	}
}

// Fields of the wrong type are missing, whatever their value is.
func TestWrongTypes(t *testing.T) {
	for _, v := range []string{`null`, `5`, `1e400`, `true`, `[]`, `["x"]`, `{}`, `{"a":1}`} {
		got := decode(t, strings.ReplaceAll(`{"session_id":V,"prompt_id":V,"cwd":V,"hook_event_name":V,"permission_mode":V,"prompt":V,
			"transcript_path":V,"agent_id":V,"agent_type":V,"last_assistant_message":V,"background_tasks":V,"crons":V,"loop_count":V}`, "V", v))
		got.Raw, got.Host = nil, ""
		want := host.Event{Name: host.Stop, LoopCount: -1}
		if v == `5` {
			want.LoopCount = 5
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
	}
}

// The input stays whole in Raw, with numbers as Go's own.
func TestRaw(t *testing.T) {
	got := decode(t, "\ufeff{\"session_id\":\"s\",\"n\":7,\"f\":1.5,\"whole\":2e1,\"big\":123456789012345678901234567890,\"huge\":1e400,\r\n"+
		"\"list\":[{\"n\":-1}],\"odd\":\"a\xffb\",\"background_tasks\":[{\"type\":\"shell\"}]}\r\n\x00").Raw
	want := map[string]any{
		"session_id": "s", "n": 7, "f": 1.5, "whole": 20.0, "big": 123456789012345678901234567890.0, "huge": json.Number("1e400"),
		"list": []any{map[string]any{"n": -1}}, "odd": "a\ufffdb", "background_tasks": []any{map[string]any{"type": "shell"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInputErrors(t *testing.T) {
	// Empty input, and a JSON value other than an object, are not an event; anything else is garbled.
	noEvent := map[string]bool{"nothing": true, "white space": true, "zero bytes": true, "a mark alone": true, "null": true, "number": true, "text": true, "list": true, "boolean": true}
	for _, c := range []struct{ name, input, want string }{
		{"nothing", "", "hook input: it is empty; a host sends one JSON object on stdin"},
		{"white space", " \r\n\t", "hook input: it is empty; a host sends one JSON object on stdin"},
		{"zero bytes", "\x00\x00", "hook input: it is empty; a host sends one JSON object on stdin"},
		{"a mark alone", "\ufeff", "hook input: it is empty; a host sends one JSON object on stdin"},
		{"words", "not json", "hook input: it is not JSON: invalid character 'o' in literal null (expecting 'u') (byte 2)"},
		{"half", `{"cwd":"/w","stop_hook_act`, "hook input: it is not JSON: it ends in the middle of a value"},
		{"null", "null", "hook input: it must be one JSON object; got null"},
		{"number", "42", "hook input: it must be one JSON object; got a number"},
		{"text", `"x"`, "hook input: it must be one JSON object; got a string"},
		{"list", `[{}]`, "hook input: it must be one JSON object; got an array"},
		{"boolean", `true`, "hook input: it must be one JSON object; got a boolean"},
		{"words behind", `{} garbage`, "hook input: unexpected data after the JSON value, at byte 3; send one JSON object"},
		{"two objects", `{}{}`, "hook input: unexpected data after the JSON value, at byte 3; send one JSON object"},
		{"too deep", `{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "hook input: it is not JSON: invalid character '[' exceeded max depth (byte 10005)"},
		{"too big", `{"x":"` + strings.Repeat("x", host.MaxInput) + `"}`, "hook input: it is too large: 16777224 bytes (limit 16777216)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, ev, err := host.Read([]byte(c.input), nil)
			if h.Name != "" {
				t.Errorf("host %q, want the portable one", h.Name)
			}
			var inputError *host.InputError
			if !errors.As(err, &inputError) {
				t.Fatalf("error %v is no *InputError", err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			if inputError.Quiet() != noEvent[c.name] {
				t.Errorf("Quiet() = %v", inputError.Quiet())
			}
			if diff := cmp.Diff(host.Event{LoopCount: -1}, ev); diff != "" {
				t.Errorf("the event is not empty:\n%s", diff)
			}
		})
	}
}

// Nesting up to the decoder's own bound, and strings of megabytes, are ordinary input.
func TestLargeInput(t *testing.T) {
	decode(t, `{"x":`+strings.Repeat("[", 9_990)+strings.Repeat("]", 9_990)+`}`)
	long := strings.Repeat("word ", 1_000_000)
	if got := decode(t, `{"last_assistant_message":"`+long+`"}`).LastAssistantMessage; got != long {
		t.Errorf("a message of %d bytes came as %d", len(long), len(got))
	}
}

func TestLookup(t *testing.T) {
	for _, name := range host.Names() {
		h, ok := host.Lookup(name)
		if !ok || h.Name != name {
			t.Errorf("Lookup(%q) = %v, %v", name, h, ok)
			continue
		}
		// A host that a person names decodes what it would not have recognised.
		_, ev, err := host.Read([]byte(`{"session_id":"s"}`), h)
		if err != nil || ev.Host != name || ev.SessionID != "s" {
			t.Errorf("%s: %+v, %v", name, ev, err)
		}
	}
	for _, name := range []string{"", "claude", "Codex"} {
		if h, ok := host.Lookup(name); ok {
			t.Errorf("Lookup(%q) = %v", name, h)
		}
	}
}

// A key without a name is not a field.
func TestDecodeNoName(t *testing.T) {
	h, _ := host.Lookup(host.ClaudeCode)
	_, ev, err := host.Read([]byte(`{"hook_event_name":"Stop","":"x"}`), h)
	if err != nil || ev.Cwd != "" || ev.Prompt != "" {
		t.Errorf("%+v, error %v", ev, err)
	}
}
