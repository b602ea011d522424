package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-sdk/ralph/state"
)

// A prompt of several megabytes reaches the agent unchanged. One that ralph could not
// read again is refused before anything is written.
func TestStartLargePrompt(t *testing.T) {
	own := t.TempDir()
	start := func(dir string, prompt io.Reader) (int, string) {
		var out strings.Builder
		a := &app{stdin: prompt, stdout: &out, stderr: &out, getenv: func(name string) string { return map[string]string{"RALPH_STATE_DIR": own}[name] }}
		return a.run(context.Background(), []string{"start", "once", "--prompt", "-", "--project", dir}), out.String()
	}
	project := func() string {
		dir := t.TempDir()
		file := filepath.Join(dir, ".ralph", "once.yaml")
		err := os.Mkdir(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(oncePolicy), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir := project()
	prompt := strings.Repeat("---\nWrite \"it\" \u2028 again. ${taskIndex}\r\n", 100_000)
	if status, out := start(dir, strings.NewReader(prompt)); status != exitOK {
		t.Fatal(status, out)
	}
	root, err := state.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	doc := root.Read(t.Context(), state.File{Path: "loop.md", Format: state.FrontMatter})
	if doc.Status != state.OK || doc.Body != "\n"+prompt {
		t.Errorf("%v %s: %d bytes, want %d", doc.Status, doc.Problem, len(doc.Body), len(prompt)+1)
	}
	for name, prompt := range map[string]io.Reader{
		"too long":  strings.NewReader(strings.Repeat("x", state.MaxFileSize)),
		"not text":  strings.NewReader("\xff\xfe"),
		"blank":     strings.NewReader(" \n\t"),
		"torn away": iotest.ErrReader(io.ErrUnexpectedEOF),
	} {
		dir := project()
		if status, out := start(dir, prompt); status != exitFailed || !strings.Contains(out, "prompt") {
			t.Errorf("%s: status %d, %s", name, status, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "loop.md")); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}

// oncePolicy repeats a prompt twice.
const oncePolicy = `ralph: 1
loop: {state: run, on: run.active, start: {run: {limit: "${start.max}", body: "${start.prompt}"}}}
facts:
  run: {frontmatter: loop.md, schema: {properties: {active: {type: boolean, default: true}, limit: {type: integer, default: 5}}}}
rules:
  - {name: never, when: run.limit < 0, stop: never, then: [{archive: run}]}
  - {name: again, when: ok(run), continue: "${run.body}", unless_repeated: {times: 2}}
`
