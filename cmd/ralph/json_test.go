package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// What commands print as JSON is JSON, and has no field that the Go type lacks which documents it.
func TestOutputs(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		".ralph/policy.yaml": "ralph: 1\nfacts:\n  state: {json: state.json, inline: true, schema: {properties: {n: {type: integer, default: 0}}}}\n  gone: {json: gone.json, default: {}}\n" +
			"rules:\n  - {name: note, when: n > 0, note: noted, log: logged}\n  - {name: go, when: n < 3, continue: Go on., notice: said, then: [{set: state.n = n + 1}]}\n  - {name: end, when: n >= 3, stop: done, then: [archive: state]}\n",
		".ralph/policy_test.yaml": "tests:\n  - {name: goes on, given: {facts: {state: {n: 1}}}, expect: {continue: Go on}}\n  - {name: fails, given: {facts: {state: {n: 1}}}, expect: {stop: true}}\n",
		".ralph/other.yaml":       "ralph: 1\nrules:\n  - {name: go, continue: Go on.}\n  - {name: never, stop: x}\n",
		".ralph/once.yaml":        oncePolicy,
		"state.json":              `{"n": 1}`,
		"situation.json":          `{"facts": {"state": {"n": 1}}}`,
		"event.json":              `{"session_id": "s-1", "prompt_id": "p", "hook_event_name": "Stop", "cwd": "."}`,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	env := func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "RALPH_STATE_DIR": filepath.Join(home, "state"), "PATH": os.Getenv("PATH")}[name]
	}
	call := func(line string) string {
		var out, errs bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: env}
		if status := a.run(t.Context(), strings.Fields(line)); status == exitFailed {
			t.Fatalf("ralph %s: %s", line, errs.String())
		}
		return out.String()
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		call("eval --input event.json")
		call("eval --input event.json --policy other")
	}
	for _, line := range []string{"pause other", "start once work --max 3", "eval --input event.json --policy once", "stop once", "start once work", "eval --input event.json --policy once"} {
		call(line)
	}
	record, unread := reflect.TypeFor[loop.Record](), reflect.TypeFor[any]() // of some types no value is read back
	for _, c := range []struct {
		line string
		of   reflect.Type
	}{
		{"status -o json", reflect.TypeFor[project.Status]()},
		{"policies -o json", reflect.TypeFor[[]listedPolicy]()},
		{"log -n 1 -o json", record},
		{"explain 1 -o json", reflect.SliceOf(record)},
		{"check policy other -o json", unread},
		{"test --coverage -o json", reflect.TypeFor[testReport]()},
		{"run --prompt x --max 1 -o json -- " + self + " -test.run=^$", reflect.TypeFor[run.Event]()},
		{"run --list -o json", reflect.TypeFor[[]run.Info]()},
		{"doctor -o json", reflect.TypeFor[doctorReport]()},
		{"diff policy other -o json", reflect.TypeFor[rules.Comparison]()},
		{"help schema test", unread},
		{"help schema speckit-state", unread},
		{"graph policy --log --situation situation.json --format json", reflect.TypeFor[graph.Graph]()},
	} {
		values := 0
		d := json.NewDecoder(strings.NewReader(call(c.line)))
		d.DisallowUnknownFields()
		for ; ; values++ {
			if err := d.Decode(reflect.New(c.of).Interface()); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", c.line, err)
				break
			}
		}
		if values == 0 {
			t.Errorf("%s prints no %s", c.line, c.of)
		}
	}
}
