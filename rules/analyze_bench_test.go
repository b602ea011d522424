package rules_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// rulesOf is a policy of n rules whose conditions are made by when.
func rulesOf(n int, when func(i int) string) files {
	head, _, _ := strings.Cut(benchPolicy, "rules:\n")
	var b strings.Builder
	b.WriteString(head + "rules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: rule-%d\n    when: |-\n      %s\n    %s: at\n", i, when(i), []string{"stop", "continue"}[i%2])
	}
	return files{"policy.yaml": b.String()}
}

// BenchmarkAnalyze1000 is what the analyses of a thousand rules cost, to compare
// with BenchmarkLoad1000: rules that have nothing to do with one another, rules
// that all say the same, comparisons between fields, and what is not understood.
func BenchmarkAnalyze1000(b *testing.B) {
	counts := []string{"taskIndex", "totalTasks", "taskIteration", "globalIteration", "maxGlobalIterations"}
	for _, bb := range []struct {
		name string
		when func(i int) string
	}{
		{"distinct", func(i int) string { return fmt.Sprintf(`phase == "execution" and taskIndex == %d`, i) }},
		{"same", func(int) string { return `phase == "execution" and taskIndex == 3` }},
		{"compared", func(i int) string {
			return fmt.Sprintf(`%s < %s + %d and (%s <= %d or phase == "p%d")`, counts[i%5], counts[i*7%4], i%9, counts[i*3%5], i%50, i%9)
		}},
		{"opaque", func(i int) string {
			return fmt.Sprintf(`said("A%d") or phase startsWith "p%d" and taskIndex * 2 == %d`, i, i, i)
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p := load(b, rulesOf(1000, bb.when))
			b.ReportAllocs()
			for b.Loop() {
				p.Analyze()
			}
		})
	}
}

// BenchmarkCheck is what `ralph check` does with a shipped policy, beside what it
// costs to load it.
func BenchmarkCheck(b *testing.B) {
	for _, bb := range []struct {
		name string
		read func(context.Context, fs.FS, string, rules.Config) (*rules.Program, rules.Diagnostics)
	}{{"load", rules.Load}, {"check", rules.Check}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, diags := bb.read(b.Context(), examples.FS, "specum/specum.yaml", rules.Config{Shipped: examples.FS}); p == nil {
					b.Fatal(diags.Format())
				}
			}
		})
	}
}
