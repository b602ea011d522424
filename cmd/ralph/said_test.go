package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each kind of value has one class, and all that shows decisions follows it: what was said is shown, words of the user and
// the agent where that is asked for, secrets nowhere.
func TestWhatIsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const canary = "canary-7"
	type class int
	const (
		open class = iota
		words
		secret
	)
	for _, c := range []struct {
		name, decl, value string
		event             map[string]any
		class             class
	}{
		{"a text", "", `"` + canary + `"`, nil, open},
		{"a file", "facts: {v: {text: v.txt}}", "v", nil, open},
		{"a field", "facts: {v: {json: v.json}}", "v.key", nil, open},
		{"a box", "facts: {v: {checklist: TODO.md}}", "v[0].text", nil, open},
		{"what a program gave", "facts: {v: {exec: [cat, v.txt]}}", "v.stdout", nil, open},
		{"a param", "params: {v: {type: string, default: ''}}", "v", nil, open},
		{"a param with private: true", "params: {v: {type: string, default: '', private: true}}", "v", nil, secret},
		{"a file with private: true", "facts: {v: {text: v.txt, private: true}}", "v", nil, secret},
		{"a field with private: true", "facts: {v: {json: v.json, private: true}}", "v.key", nil, secret},
		{"a program with private: true", "facts: {v: {exec: [cat, v.txt], private: true}}", "v.stdout", nil, secret},
		{"the environment", "", "env.TOKEN", nil, secret},
		{"the raw input", "", "hook.raw.own", map[string]any{"own": canary}, secret},
		{"the last message", "", "last_assistant_message", map[string]any{"last_assistant_message": "It is " + canary}, words},
		{"a description", "", "session_crons[0].prompt", map[string]any{"session_crons": []any{map[string]any{"id": "c", "prompt": canary}}}, words},
		{"the prompt of a loop", "facts: {v: {frontmatter: loop.md}}", "v.body", nil, words},
		{"what is made of both", "let: {v: 'last_assistant_message + env.TOKEN'}", "upper(v)", map[string]any{"last_assistant_message": "It is "}, secret},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, private := range []bool{false, true} {
				own, dir := t.TempDir(), t.TempDir()
				event := map[string]any{"session_id": "s", "hook_event_name": "Stop", "cwd": dir}
				for name, v := range c.event {
					event[name] = v
				}
				input, err := json.Marshal(event)
				if err != nil {
					t.Fatal(err)
				}
				for name, text := range map[string]string{
					"v.txt": canary, "v.json": `{"key": "` + canary + `"}`, "TODO.md": "- [ ] " + canary + "\n", "loop.md": "---\na: 1\n---\n" + canary, "stop.json": string(input),
					".ralph/policy.yaml": "ralph: 1\n" + c.decl + "\nmemory: {seen: {type: string, default: ''}}\nrules:\n  - name: says\n    when: len(VALUE) > 0 and VALUE != 'x'\n" +
						"    continue: it is ${VALUE}\n    notice: seen ${VALUE}\n    log: read ${VALUE}\n    then: [{remember: 'seen = VALUE'}]\n",
				} {
					text = strings.ReplaceAll(text, "VALUE", c.value)
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				ralph := func(args ...string) string {
					var out bytes.Buffer
					a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: func(name string) string {
						return map[string]string{"RALPH_STATE_DIR": own, "TOKEN": canary, "HOME": own, "PATH": os.Getenv("PATH")}[name]
					}}
					if status := a.run(t.Context(), append(args, "--project", dir)); status != exitOK {
						t.Fatalf("ralph %s: status %d: %s", args, status, &out)
					}
					return out.String()
				}
				set := []string{"--policy", "policy"}
				if strings.HasPrefix(c.decl, "params:") {
					set = append(set, "--set", "v="+canary)
				}
				ralph(append([]string{"trust", "--yes"}, set[2:]...)...)
				eval := append([]string{"eval", "--input", filepath.Join(dir, "stop.json")}, set...)
				explain := append([]string{"explain", "--input", filepath.Join(dir, "stop.json")}, set...)
				if private {
					eval, explain = append(eval, "--log-private"), append(explain, "--private")
				}
				if said := ralph(eval...); !strings.Contains(strings.ToLower(said), canary) {
					t.Fatalf("the agent gets %s", said)
				}
				file := filepath.Join(own, "view.html")
				ralph("view", "--out", file)
				shown := map[string]string{
					"log": ralph("log"), "log --format json": ralph("log", "--format", "json"), "explain": ralph("explain"), "explain --format json": ralph("explain", "--format", "json"),
					"explain --input": ralph(explain...), "status --format json": ralph("status", "--format", "json"), "view": unpacked(t, file),
				}
				if strings.HasPrefix(c.name, "a text") { // it is in the policy too
					delete(shown, "view")
				}
				var got, want []string
				for where, text := range shown {
					if strings.Contains(strings.ToLower(text), canary) {
						got = append(got, where)
					}
					if c.class == open || c.class == words && private {
						want = append(want, where)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("private %v: what shows it (-want +got):\n%s", private, diff)
				}
			}
		})
	}
}

// unpacked returns the data of a file of ralph view.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `<script type="application/gzip" id="data">`)
	packed, _, _ := strings.Cut(rest, "</script>")
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
