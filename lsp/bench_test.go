package lsp_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
)

// rulesOf returns a policy of so many rules.
func rulesOf(n int) string {
	var b strings.Builder
	b.WriteString("ralph: 1\nfacts:\n  state: {json: s.json, schema: {properties: {n: {type: integer, default: 0}, phase: {enum: [plan, work], default: plan}}}}\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: rule-%d\n    when: state.n == %d and state.phase == \"work\" and loop.total < %d\n    continue: Do ${state.n} of %d.\n", i, i, i+1, n)
	}
	return b.String()
}

// BenchmarkKeystroke is the time from a key to the findings that it makes, in a shipped policy and in one of 1,000 rules.
func BenchmarkKeystroke(b *testing.B) {
	shipped, err := fs.ReadFile(examples.FS, "system3/system3.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct{ name, src string }{{"shipped", string(shipped)}, {"1000-rules", rulesOf(1000)}} {
		b.Run(bb.name, func(b *testing.B) {
			e := edit(b, nil)
			e.open(".ralph/p.yaml", bb.src)
			e.version(".ralph/p.yaml", 1)
			line := strings.Count(bb.src[:strings.Index(bb.src, "when: ")], "\n")
			column := strings.Index(strings.Split(bb.src, "\n")[line], "when: ") + len("when: ")
			version := 1
			for b.Loop() { // a letter that makes an unknown name, and its removal
				for _, c := range []object{
					{"range": object{"start": object{"line": line, "character": column}, "end": object{"line": line, "character": column}}, "text": "q"},
					{"range": object{"start": object{"line": line, "character": column}, "end": object{"line": line, "character": column + 1}}, "text": ""},
				} {
					version++
					e.change(".ralph/p.yaml", version, c)
					e.version(".ralph/p.yaml", version)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(2*b.N)/1000, "ms/key")
		})
	}
}
