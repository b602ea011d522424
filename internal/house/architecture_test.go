package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var backticked = regexp.MustCompile("`([^`]+)`")

// The way of one event in docs/architecture.md names files and functions that exist, and the page stays as short as it is.
func TestArchitecture(t *testing.T) {
	const most = 600 // words
	page := pages(t)["docs/architecture.md"]
	if n := len(strings.Fields(page)); n > most {
		t.Errorf("the page has %d words, and may have %d", n, most)
	}
	way, _, _ := strings.Cut(page, "## What holds")
	names := 0
	for _, row := range strings.Split(way, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 4 {
			continue
		}
		var src []byte
		for _, m := range backticked.FindAllStringSubmatch(cells[2], -1) {
			var err error
			if strings.HasSuffix(m[1], ".go") {
				if src, err = os.ReadFile(filepath.Join(root, m[1])); err != nil {
					t.Error(err)
				}
			} else if names++; !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[1] + `\(`).Match(src) {
				t.Errorf("%q: there is no function %s", row, m[1])
			}
		}
	}
	if names < 20 {
		t.Errorf("the way has %d functions", names)
	}
}
