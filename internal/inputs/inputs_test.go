package inputs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// A record holds what rules read, as it went through the log: fields and not whole
// files, answers and not the words that were searched. What is private, or long,
// is not in it, but that it was read is.
func TestRecordInputs(t *testing.T) {
	const policy = `ralph: 1
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer}, list: {type: array}, long: {type: string}, secret: {type: string}}}}
rules:
  - name: done
    when: said("DONE") or last_assistant_message == "x" or state.long == ""
    stop: x
  - name: go
    when: state.n == 2 and len(state.list) == 2
    continue: ${state.secret}
`
	p, findings := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", loop.Config())
	if p == nil {
		t.Fatal(findings.Format())
	}
	dir := t.TempDir()
	long := make([]byte, 5000)
	for i := range long {
		long[i] = 'l'
	}
	src, err := json.Marshal(map[string]any{"n": 2, "list": []any{1, map[string]any{"a": 2.5}}, "long": string(long), "unread": "u", "secret": "s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "state.json"), src, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := loop.New(p, loop.WithRoot(dir), loop.WithState(t.TempDir()), loop.WithRecorder(new(looptest.Records)), loop.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	d := l.Preview(t.Context(), host.Event{Name: host.Stop, LastAssistantMessage: "my own words"})
	line, err := json.Marshal(d.Record(false))
	if err != nil {
		t.Fatal(err)
	}
	var r loop.Record
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"state#/n": 2, "state#/list": []any{1, map[string]any{"a": 2.5}}, "state#/list/1/a": 2.5, "state#/list/0": 1,
	} {
		if got, ok := inputs.Known(&r, name); !ok || !cmp.Equal(want, got) {
			t.Errorf("%s is %v, %v; want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"state#/unread", "state#/long", "state#/secret", "last_assistant_message", "state#", "nosuch"} {
		if got, ok := inputs.Known(&r, name); ok {
			t.Errorf("%s is known: %v", name, got)
		}
	}
	want := map[string]any{"n": 2, "list": []any{1, map[string]any{"a": 2.5}}}
	if diff := cmp.Diff(want, inputs.Document(&r, "state")); diff != "" {
		t.Errorf("the document (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{`said("DONE")`: false}, r.Calls); diff != "" {
		t.Errorf("the calls (-want +got)\n%s", diff)
	}
	if read, ok := inputs.Gathered(&r, "state"); !ok || read.Status != rules.OK || read.Path != "state.json" {
		t.Errorf("state was gathered as %+v, %v", read, ok)
	}
}
