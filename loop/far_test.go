package loop_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A promise counts however much tool output follows it in the same turn. If the beginning of the turn is out of reach,
// the trace warns that words may be missing.
func TestPromiseBehindToolOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	words := func(role, text string) string {
		return fmt.Sprintf(`{"type":%[1]q,"message":{"role":%[1]q,"content":[{"type":"text","text":%[2]q}]}}`+"\n", role, text)
	}
	result := func(text string) string {
		return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":%q}]}}`+"\n", text)
	}
	output := result(strings.Repeat("x", 10<<20))
	const promise, stopped = "<promise>DONE</promise>", "stop done"
	for _, c := range []struct {
		name, file string
		said       string
		warning    string
	}{
		{"many results", words("user", "go") + words("assistant", promise) + strings.Repeat(result(strings.Repeat("x", 1<<20)), 10), stopped, ""},
		{"one result", words("user", "go") + words("assistant", promise) + output, stopped, ""},
		{"of an earlier turn", words("assistant", promise) + words("user", "go") + output, "on", ""},
		{"of a tool", words("user", "go") + words("assistant", "now") + output + result(promise), "on", ""},
		{"out of sight", words("user", "go") + words("assistant", promise) + words("assistant", strings.Repeat("x", 10<<20)), "on",
			"were read, and the turn began before that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			ev := p.stop()
			ev.TranscriptPath = p.path("session.jsonl")
			if err := os.WriteFile(ev.TranscriptPath, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			d := p.run(p.loop("ralph: 1\nrules: [{name: done, when: promised(\"DONE\"), stop: s}, {name: go, continue: on}]"), ev)
			warnings := strings.Join(d.Verdict.Trace.Warnings, "\n")
			if said(d) != c.said || !strings.Contains(warnings, c.warning) || (warnings == "") != (c.warning == "") {
				t.Errorf("it says %q, want %q; warnings %q", said(d), c.said, warnings)
			}
		})
	}
}
