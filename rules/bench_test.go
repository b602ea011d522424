package rules_test

import (
	"fmt"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

// BenchmarkParse reads a policy of a hundred rules, whole and for one decision.
func BenchmarkParse(b *testing.B) {
	src := "ralph: 1\nfacts: {s: {json: s.json, inline: true, schema: ralph:speckit-state}}\nrules:\n"
	for i := range 100 {
		src += fmt.Sprintf("  - {name: r%d, when: phase == \"execution\" and taskIndex < totalTasks and taskIndex > %d, stop: '${taskIndex} of ${totalTasks}'}\n", i, i)
	}
	for name, opts := range map[string]rules.Options{"whole": {}, "lazy": {Lazy: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := opts.Parse("p.yaml", []byte(src)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
