package host

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

// Several policies answer with one voice.
func TestEncode(t *testing.T) {
	goes := func(policy, reason string) loop.Decision {
		return loop.Decision{Policy: policy, Outcome: "continued", Reason: reason}
	}
	fault := loop.Decision{Policy: "b", Outcome: "failed", Err: errors.New("b.yaml:3:1: no such key")}
	for name, tt := range map[string]struct {
		event     string
		decisions []loop.Decision
		json      string
		status    string // the answer as exit code
	}{
		"no policy":      {"Stop", nil, "", ""},
		"idle":           {"Stop", []loop.Decision{{Outcome: "idle"}}, "", ""},
		"one continues":  {"Stop", []loop.Decision{goes("a", "Do a.")}, `{"decision":"block","reason":"Do a."}`, "stderr: Do a.\nstatus 2"},
		"a reason blank": {"Stop", []loop.Decision{goes("a", " \n")}, `{"decision":"block","reason":"Continue."}`, "stderr: Continue.\nstatus 2"},
		"two continue": {"SubagentStop", []loop.Decision{goes("a", "Do a.\n"), {Outcome: "idle"}, goes("b", "Do b.")},
			`{"decision":"block","reason":"Do a.\n\nDo b."}`, "stderr: Do a.\n\nDo b.\nstatus 2"},
		"a fault beside": {"Stop", []loop.Decision{goes("a", "Do a."), fault},
			`{"decision":"block","reason":"Do a.","systemMessage":"b: the agent may stop: b.yaml:3:1: no such key"}`, "stderr: Do a.\nstatus 2"},
		"notices once": {"Stop", []loop.Decision{{Notice: "ralph is off"}, {Notice: "ralph is off"}, {Notice: "Done.", Err: errors.New("x")}},
			`{"systemMessage":"ralph is off\nDone."}`, "stderr: ralph is off\nDone."},
		"log lines": {"Stop", []loop.Decision{{Policy: "a", Log: []string{"task 2", "[mine] task 3"}}}, "stderr: [a] task 2\n[mine] task 3", "stderr: [a] task 2\n[mine] task 3"},
		"a note": {"UserPromptSubmit", []loop.Decision{{Note: "a"}, goes("b", "erased"), {Note: "b"}},
			`{"hookSpecificOutput":{"additionalContext":"a\n\nb","hookEventName":"UserPromptSubmit"}}`, "a\n\nb"},
		"a note at a stop":        {"Stop", []loop.Decision{{Note: "a"}}, "", ""},
		"no stop is no stop":      {"SessionEnd", []loop.Decision{goes("a", "Do a.")}, "", ""},
		"what would not be shown": {"Stop", []loop.Decision{goes("a", "<a> \x1b[2J\u202e\r\nb\xff")}, `{"decision":"block","reason":"<a> \\x1b[2J\\u202e\nb` + "\ufffd" + `"}`, "stderr: <a> \\x1b[2J\\u202e\nb\ufffd\nstatus 2"},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := Lookup(ClaudeCode)
			for mode, want := range map[Mode]string{AsJSON: tt.json, AsExitCode: tt.status} {
				got := strings.TrimSuffix(told(Encode(h, tt.event, tt.decisions, mode)), "\n")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", mode, diff)
				}
			}
		})
	}
}

// Whatever policies say, an answer has at most 1 MiB.
func TestEncodeBounded(t *testing.T) {
	h, _ := Lookup("json")
	long := strings.Repeat("\"", 3<<20)
	var all []loop.Decision
	for range 3 {
		all = append(all, loop.Decision{Outcome: "continued", Reason: long, Notice: long, Note: long, Log: []string{long, long}})
	}
	for _, event := range []string{"Stop", "UserPromptSubmit"} {
		for _, mode := range []Mode{AsJSON, AsExitCode} {
			r := Encode(h, event, all, mode)
			if n := len(r.Stdout) + len(r.Stderr); n > 1<<20 || n < 10_000 {
				t.Errorf("%s as %s: %d bytes", event, mode, n)
			}
		}
	}
}

// A host without a place for notices has them on stderr; one with a form of its own gets only its fields.
func TestEncodeRows(t *testing.T) {
	h := &Host{answer: answer{
		decision: m{specific + ".permissionDecision": "deny"}, reason: []string{specific + ".permissionDecisionReason"},
		note: []string{"message"}, submit: m{"continue": true},
	}}
	all := []loop.Decision{{Policy: "a", Outcome: "continued", Reason: "Do a.", Notice: "n", Note: "x"}}
	want := `{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny","permissionDecisionReason":"Do a."}}` + "\nstderr: n\n"
	if got := told(Encode(h, "Stop", all, "")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := told(Encode(h, "UserPromptSubmit", all, "")); got != `{"continue":true,"message":"x"}`+"\nstderr: n\n" {
		t.Errorf("a note: %s", got)
	}
}

// What goes wrong lets the agent stop, with status 0 or, where the host gets no answer, 1: never 2.
func TestAnswerFails(t *testing.T) {
	var out, log bytes.Buffer
	if status := Answer(t.Context(), strings.NewReader("{"), &out, &log); status != 0 || !strings.Contains(out.String(), "unexpected end") || log.Len() > 0 {
		t.Errorf("status %d, answer %s, log %s", status, &out, &log)
	}
	out.Reset()
	if status := Answer(t.Context(), iotest.ErrReader(errors.New("no")), &out, &log); status != 0 || !strings.Contains(out.String(), "the agent may stop") {
		t.Errorf("status %d, answer %s", status, &out)
	}
	out.Reset()
	if status := Answer(t.Context(), strings.NewReader(`{"cwd":7}`), &out, &log); status != 0 || out.Len() > 0 {
		t.Errorf("status %d, answer %s", status, &out)
	}
	if status := Answer(t.Context(), strings.NewReader("{"), closed{}, &log); status != 1 {
		t.Errorf("status %d", status)
	}
	out.Reset()
	if status := Answer(t.Context(), strings.NewReader(`{"cwd":"/"}`), &out, &log, nil); status != 0 || !strings.Contains(out.String(), "a panic: ") {
		t.Errorf("status %d, answer %s", status, &out)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }
