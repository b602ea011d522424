package house

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The documents stay small, and a page that answers how to do something has a command in its first 80 words.
func TestWords(t *testing.T) {
	sum, count := 0, 0
	for page, src := range pages(t) {
		if page == "docs/reference.md" || page == "docs/checks.md" { // generated
			continue
		}
		sum, count = sum+len(strings.Fields(src)), count+strings.Count(page, "docs/")
		how := !slices.Contains([]string{"docs/language.md", "docs/security.md", "docs/when-not.md", "docs/architecture.md"}, page) && strings.HasPrefix(page, "docs/")
		if before, _, _ := strings.Cut(src, "\n```"); how && len(strings.Fields(before)) > 80 {
			t.Errorf("%s: the first command comes after %d words", page, len(strings.Fields(before)))
		}
	}
	if sum > 25_000 || count > 18 {
		t.Errorf("the documents have %d words on %d pages: at most 25,000 and 18, and two generated ones", sum, count)
	}
}

// What the pages call by its Go name, such as loop.WithRoot, is declared.
func TestNames(t *testing.T) {
	var code strings.Builder
	eachFile(t, func(rel string, src []byte) {
		if strings.HasSuffix(rel, ".go") && !strings.HasPrefix(rel, "contrib/") {
			code.Write(src)
		}
	})
	for page, src := range pages(t) {
		for _, m := range regexp.MustCompile("`(?:(?:rules|loop|host|policytest|looptest)\\.([A-Z]\\w*)|(With\\w+))").FindAllStringSubmatch(src, -1) {
			if name := m[1] + m[2]; !regexp.MustCompile(`(func|type) (\([^)]*\) )?` + name + `\b`).MatchString(code.String()) {
				t.Errorf("%s: nothing is called %s", page, name)
			}
		}
	}
}

var (
	message  = regexp.MustCompile("(?m)^\\| `(.+?)` \\|")
	anything = regexp.MustCompile(`…|: |[0-9]+|[A-Z]{2,}|ralph trust|this session `)
)

// The messages that docs/troubleshooting.md repairs are in the code.
func TestMessages(t *testing.T) {
	var code strings.Builder
	eachFile(t, func(rel string, src []byte) {
		if strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") {
			code.Write(src)
		}
	})
	_, table, _ := strings.Cut(pages(t)["docs/troubleshooting.md"], "## Messages")
	for _, m := range message.FindAllStringSubmatch(table, -1) {
		for _, part := range anything.Split(m[1], -1) {
			if part = strings.Trim(part, " :;,"); len(part) > 12 && !strings.Contains(code.String(), part) {
				t.Errorf("%s: no message has %q", m[1], part)
			}
		}
	}
}
