package policytest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// difference shows how two texts differ, "" if they do not: the lines that only the wanted one has after -, those that only the other has
// after +, from the first line that differs to the last one, with a line around them. It has no library, since the hook, which is
// the same program, would pay for the start of it.
func difference(want, got string) string {
	if want == got {
		return ""
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	from, end := 0, 0
	for from < min(len(w), len(g)) && w[from] == g[from] {
		from++
	}
	for end < min(len(w), len(g))-from && w[len(w)-1-end] == g[len(g)-1-end] {
		end++
	}
	var b strings.Builder
	add := func(sign string, lines []string) {
		for _, line := range lines {
			b.WriteString(sign + line + "\n")
		}
	}
	add("  ", w[max(0, from-1):from])
	add("- ", w[from:len(w)-end])
	add("+ ", g[from:len(g)-end])
	add("  ", w[len(w)-end:][:min(end, 1)])
	return b.String()
}

// indented returns a value as JSON in one form: equal values have equal texts, whatever their Go types are.
func indented(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Sprint(v) // a map of YAML with other keys than texts
	}
	return string(b)
}
