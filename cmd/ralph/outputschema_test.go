package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// What commands print as JSON is what ralph help schema says, and has no field that it does not name.
func TestOutputSchemas(t *testing.T) {
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
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	env := func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "RALPH_STATE_DIR": filepath.Join(home, "state"), "PATH": os.Getenv("PATH")}[name]
	}
	run := func(line string) string {
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
	outputOf := map[string]string{
		"status": "status -o json", "policies": "policies -o json", "log": "log -n 1 -o json", "explain": "explain 1 -o json", "check": "check policy other -o json", "test-report": "test --coverage -o json",
		"run": "run --prompt x --max 1 -o json -- " + self + " -test.run=^$", "runs": "run --list -o json",
		"doctor": "doctor -o json", "diff": "diff policy other -o json", "diff-log": "diff --log policy policy -o json",
		"graph": "graph policy --log --situation situation.json --format json",
	}
	for range 3 {
		run("eval --input event.json")
		run("eval --input event.json --policy other")
	}
	run("pause other")
	run("start once work --max 3")
	run("eval --input event.json --policy once")
	run("stop once")
	run("start once work")
	run("eval --input event.json --policy once")
	for _, o := range outputs() {
		var text string
		if line, ok := outputOf[o.name]; ok {
			text = run(line)
		} else {
			t.Fatalf("nothing prints %s", o.name)
		}
		var schema any
		if err := json.Unmarshal([]byte(run("help schema "+o.name)), &schema); err != nil {
			t.Fatal(err)
		}
		closeObjects(schema)
		b, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := jsonschema.CompileString(o.name+".json", string(b))
		if err != nil {
			t.Fatal(err)
		}
		for values := json.NewDecoder(strings.NewReader(text)); values.More(); {
			var value any
			if err := values.Decode(&value); err != nil {
				t.Fatalf("%s: %v\n%s", o.name, err, text)
			}
			if err := compiled.Validate(value); err != nil {
				t.Errorf("%s: %#v\n%s", o.name, err, text)
			}
		}
	}
	if names := outputNames(); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) || len(names) != len(outputOf) {
		t.Errorf("the names are %q", names)
	}
}

// closeObjects makes a schema refuse fields that it does not name.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok && s["type"] == "object" {
			s["additionalProperties"] = false
		}
		for _, v := range s {
			closeObjects(v)
		}
	case []any:
		for _, v := range s {
			closeObjects(v)
		}
	}
}
