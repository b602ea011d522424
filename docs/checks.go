// Package docs, which may change in any version, has the page of the checks of ralph check.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed checks.md
var checks string

// Check returns the entry of the check with this ID in docs/checks.md, for a terminal: links are absolute, and examples are
// indented. It returns "" if there is no such check.
func Check(id string) string {
	_, entry, found := strings.Cut(checks, "\n### "+id+"\n")
	if !found {
		return ""
	}
	entry = cut(cut(entry, "\n### "), "\n## ")
	entry = strings.ReplaceAll(entry, "](", "](https://github.com/ralph-sdk/ralph/blob/main/docs/")
	var text strings.Builder
	text.WriteString("# " + id + "\n")
	indent := ""
	for line := range strings.Lines(entry) {
		switch {
		case strings.HasPrefix(line, "```"):
			indent = map[bool]string{true: "    "}[indent == ""]
		case line == "\n":
			text.WriteString(line)
		default:
			text.WriteString(indent + line)
		}
	}
	return text.String()
}

// cut returns the part of text before the first sep, or all of it.
func cut(text, sep string) string {
	before, _, _ := strings.Cut(text, sep)
	return before
}
