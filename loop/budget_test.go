package loop_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sparse makes a file of so many MiB that takes no room on the disk.
func (p *project) sparse(name string, mib int64) {
	p.t.Helper()
	p.write(name, "{}")
	if err := os.Truncate(p.path(name), mib<<20); err != nil {
		p.t.Fatal(err)
	}
}

// All that a decision reads of files has one bound, whichever facts read it. What is
// beyond it is missing, with a reason that the user sees; a small file still fits.
func TestFilesOfADecisionAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const spent = "was not read: the limit of 64 MiB for all files together is reached"
	big := func(p *project, folder string, files int) {
		for i := range files {
			p.sparse(fmt.Sprintf("%s/%02d.json", folder, i), 8)
		}
	}
	for _, test := range []struct {
		name, facts, text string
		make              func(*project)
		want              string
	}{
		{"one list", "a: {glob: a/*.json, parse: text}\ns: {text: s.txt}", "${problem(a)}, ${s}", func(p *project) {
			for i := range 10 {
				p.sparse(fmt.Sprintf("a/%d.json", i), 7)
			}
		}, spent + ", small"},
		{"two lists", "a: {glob: a/*.json, parse: text}\nb: {glob: b/*.json, parse: text}", "${len(a)}, ${problem(b)}",
			func(p *project) { big(p, "a", 5); big(p, "b", 4) }, "5, " + spent},
		{"a list and a file", "a: {glob: a/*.json, parse: text}\nb: {text: b/00.json}", "${len(a)}, ${problem(b)}",
			func(p *project) { big(p, "a", 8); big(p, "b", 1) }, "8, " + spent},
		{"a task list", "a: {glob: a/*.json, parse: text}\nt: {tasks: claude}", "${len(a)}, ${problem(t)}",
			func(p *project) { big(p, "a", 8); big(p, "home/.claude/tasks/s", 1) }, "8, the task list s cannot be read: " + spent},
		{"exactly as much", "a: {glob: a/*.json, parse: text}", "${len(a)}, ${problem(a)}", func(p *project) { big(p, "a", 8) }, "8, "},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"s.txt": "small"})
			p.env["HOME"] = p.path("home")
			test.make(p)
			l := p.loop(shown(test.facts, test.text))
			for range 2 { // each event has its own
				if diff := cmp.Diff(strings.TrimSpace(test.want), strings.TrimSpace(said(p.run(l, p.stop())))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A decision that is made again has the whole budget.
func TestFilesOfADecisionMadeAgain(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	for i := range 5 {
		p.sparse(fmt.Sprintf("a/%02d.json", i), 8)
	}
	l := p.loop("ralph: 1\nfacts:\n  a: {glob: a/*.json, parse: text}\n  s: {json: state.json, schema: {properties: {n: {type: integer}}}}\n" +
		"rules:\n  - name: go\n    when: len(a) == 5 and s.n < 9\n    continue: on ${s.n}\n    then: [{set: s.n = s.n + 1}]\n")
	d := l.Preview(t.Context(), p.stop())
	p.write("state.json", `{"n": 5}`)
	if d, err := l.Apply(t.Context(), d); err != nil || said(d) != "on 5" || p.read("state.json") != `{"n": 6}` {
		t.Errorf("it says %q, %v; the file is %s", said(d), err, p.read("state.json"))
	}
}

// Many large files in a list cost what the bound allows, not what they hold together.
func TestListOfLargeFilesTakesLittle(t *testing.T) {
	p := newProject(t, nil)
	for i := range 200 { // 1.6 GiB
		p.sparse(fmt.Sprintf("a/%03d.json", i), 8)
	}
	l := p.loop(shown("a: {glob: a/*.json, parse: text}", "${problem(a)}"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.run(l, p.stop())
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 400 {
		t.Errorf("it allocated %d MiB in all", got)
	}
}
