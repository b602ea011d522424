// Package checks, which may change in any version, has the page of each check of ralph check.
package checks

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Page returns the page of the check with this ID for a terminal, without comments and with absolute links. It returns "" if
// there is no such check.
func Page(id string) string {
	page, _ := pages.ReadFile(id + ".md")
	text := regexp.MustCompile(`<!-- .* -->\n`).ReplaceAllString(string(page), "")
	return strings.ReplaceAll(text, "](../", "](https://github.com/ralph-sdk/ralph/blob/main/docs/")
}
