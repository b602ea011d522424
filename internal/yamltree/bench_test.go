package yamltree

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// policy is a policy of so many rules, six lines each, as people write them.
func policy(rules int) []byte {
	var out strings.Builder
	out.WriteString("ralph: 1\nfacts:\n  state: {json: .state.json, inline: true}\n\nrules:\n")
	for i := range rules {
		fmt.Fprintf(&out, `  - name: rule-%d
    when: phase == "execution" and taskIndex < totalTasks - %d # not the last
    continue: |
      Continue feature: ${feature} (Task ${task}/${totalTasks})
      Read the plan, then do the next task. Do not ask.
    notice: "iteration ${globalIteration} of rule %d"
`, i, i, i)
	}
	return []byte(out.String())
}

// What Parse adds to the library's own work is the difference of the two.
func BenchmarkParse(b *testing.B) {
	src := policy(1000)
	b.Run("yaml.Node", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			var doc yaml.Node
			if err := yaml.Unmarshal(src, &doc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Parse", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, problems := Parse(src); problems != nil {
				b.Fatal(problems)
			}
		}
	})
}

// A first look at a scalar builds its table, the next ones use it.
func BenchmarkAt(b *testing.B) {
	root, _ := Parse(policy(1))
	text := find(root, "continue")
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text.places.Store(nil)
			text.At(60)
		}
	})
	b.Run("next", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			text.At(60)
		}
	})
}

func BenchmarkBroken(b *testing.B) {
	src := append(policy(1000), "  - when: a ? b : c\n"...)
	for b.Loop() {
		if _, problems := Parse(src); len(problems) != 1 {
			b.Fatal(problems)
		}
	}
}
