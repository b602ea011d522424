package host_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
)

// The usual turn, a turn of 20,000 records, one that spends the whole budget on tools' results, and two that are searched
// far beyond it, with large results and with small ones.
func BenchmarkRead(b *testing.B) {
	long := strings.Repeat("word ", 200)
	for _, c := range []struct{ name, data string }{
		{"usual", strings.Repeat(user("old")+agent(long), 2000) + user("go") + strings.Repeat(agent(long, tool("Bash"))+result(long), 20) + agent("DONE")},
		{"records", user("go") + strings.Repeat(agent("step"), 20_000) + agent("DONE")},
		{"far-large", user("go") + agent("DONE") + strings.Repeat(result(strings.Repeat(`a "line" of output`+"\n", 10_000)), 1200)},
		{"far-small", user("go") + agent("DONE") + strings.Repeat(result(strings.Repeat(`a "line" of output`+"\n", 100)), 100_000)},
		{"results", user("go") + strings.Repeat(agent("step")+result(strings.Repeat(`a "line" of output`+"\n", 1000)), 500) + agent("DONE")},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := file(b, c.data)
			b.ReportAllocs()
			for b.Loop() {
				s, err := host.ReadSession(b.Context(), path, host.SessionOptions{})
				if err != nil || !host.Said.In(host.Words(s, ""), "DONE") {
					b.Fatal(err)
				}
			}
		})
	}
}
