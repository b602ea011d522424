package host_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// Whatever comes in, decoding ends; what it accepts is an object whose every key stays in Raw, and is accepted by every
// host alike.
func FuzzInput(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.txtar")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(parseArchive(string(data)).sections[0].text))
	}
	for _, s := range []string{``, `null`, `{}{}`, "{}\x00", "\ufeff{}", `{"a":1e999,"b":-0,"c":[[[[]]]]}`, `{"stop_hook_active":"true"}`, `{"content":[{"text":1}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		h, ev, err := host.Read(payload, nil)
		for _, name := range host.Names() {
			other, _ := host.Lookup(name)
			if _, _, err2 := host.Read(payload, other); (err == nil) != (err2 == nil) {
				t.Fatalf("%q says %v, %s says %v", h.Name, err, name, err2)
			}
		}
		if err != nil {
			if ev.Raw != nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%+v, %q", ev, err)
			}
			return
		}
		if ev.Name == "" {
			t.Fatal("an event without a name")
		}
		if ev.NewTurn && ev.StopHookActive {
			t.Fatalf("contradictions: %+v", ev)
		}
		var want map[string]any
		doc := bytes.TrimRight(bytes.TrimPrefix(payload, []byte("\ufeff")), " \t\r\n\x00")
		dec := json.NewDecoder(bytes.NewReader(doc))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("accepted what is no object: %v", err)
		}
		if diff := cmp.Diff(texts(want), texts(ev.Raw)); diff != "" {
			t.Fatalf("Raw (-want +got):\n%s", diff)
		}
	})
}

// texts leaves the numbers away, whose types differ.
func texts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = texts(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = texts(e)
		}
		return out
	case string, bool, nil:
		return v
	}
	return 0
}

// Whatever the reply is, stdout is empty or one JSON object on one line, with keys that the host knows. With an exit
// status as the answer, stdout has only a note for a prompt, and status 2 comes with a reason on stderr.
func FuzzEncode(f *testing.F) {
	f.Add("Stop", true, "go on", "notice", "", "log")
	f.Add("UserPromptSubmit", true, "", "", "note", "")
	f.Add("SubagentStop", true, " ", "\xff", "\u2028", "\r\n")
	f.Fuzz(func(t *testing.T, event string, goOn bool, reason, notice, context, log string) {
		r := host.Reply{Event: event, Continue: goOn, Reason: reason, Notice: notice, Context: context, Log: []string{log}}
		for _, name := range append(host.Names(), "") {
			h, ok := host.Lookup(name)
			if !ok {
				h = &host.Host{}
			}
			a := h.Encode(r)
			if a.Status != 0 {
				t.Fatalf("%s: status %d", name, a.Status)
			}
			if len(a.Stdout) == 0 {
				continue
			}
			if bytes.Count(a.Stdout, []byte("\n")) != 1 || !bytes.HasSuffix(a.Stdout, []byte("}\n")) {
				t.Fatalf("%s: %q", name, a.Stdout)
			}
			var got map[string]any
			if err := json.Unmarshal(a.Stdout, &got); err != nil {
				t.Fatalf("%s: %v in %q", name, err, a.Stdout)
			}
			known := map[string]bool{"decision": true, "reason": true, "systemMessage": true, "hookSpecificOutput": true}
			if name == host.Cursor {
				known = map[string]bool{"followup_message": true, "continue": true, "additional_context": true}
			}
			if name == host.Copilot || name == host.OpenHands || name == "" {
				known["additionalContext"] = true
			}
			if name == host.Kimi {
				known = map[string]bool{"message": true, "hookSpecificOutput": true}
			}
			if name == host.Codex && event != host.UserPromptSubmit {
				delete(known, "hookSpecificOutput")
			}
			for k := range got {
				if !known[k] {
					t.Fatalf("%s: key %s in %s", name, k, a.Stdout)
				}
			}
			if got["decision"] != nil && strings.TrimSpace(got["reason"].(string)) == "" {
				t.Fatalf("%s: blank reason in %s", name, a.Stdout)
			}
		}
		a := host.EncodeExitCode(r)
		if len(a.Stdout) != 0 && (event != host.UserPromptSubmit || strings.TrimSpace(context) == "") || a.Status != 0 && a.Status != 2 || a.Status == 2 && len(bytes.TrimSpace(a.Stderr)) == 0 {
			t.Fatalf("%+v", a)
		}
	})
}
