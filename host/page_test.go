package host

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/hosts.md has the facts of each row: in its first table the paths of the settings and the version with which the client is tested, in
// its second one the host's own limit.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("../internal/hosttest/clients.json")
	if err != nil {
		t.Fatal(err)
	}
	versions := string(src)
	for _, h := range hosts[:len(hosts)-1] {
		var rows []string
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "| "+h.Title+" |") && strings.Count(line, "|") == 6 {
				rows = append(rows, line)
			}
		}
		if len(rows) != 2 {
			t.Errorf("%s has %d rows, want one in each table", h.Title, len(rows))
			continue
		}
		for _, want := range []string{"`" + h.Name + "`", h.Settings.Project, h.Settings.Local, h.Settings.Dir + "/" + h.Settings.User} {
			if !strings.Contains(rows[0], want) && (h.Settings.User != "" || want != h.Settings.Dir+"/") {
				t.Errorf("%s: its first row lacks %s", h.Title, want)
			}
		}
		cells := strings.Split(rows[0], "|")
		version, tested := strings.CutPrefix(strings.TrimSpace(cells[5]), "tests with ")
		if tested == h.Documented || tested && !strings.Contains(versions, `"`+version+`"`) {
			t.Errorf("%s is checked by %s, and Documented is %v", h.Title, cells[5], h.Documented)
		}
		most, limit := h.limit.most, strings.TrimSpace(strings.Split(rows[1], "|")[5])
		if most == 0 != strings.HasPrefix(limit, "none") || most > 0 && !strings.HasPrefix(limit, fmt.Sprint(most)) || !strings.Contains(limit, h.limit.variable) {
			t.Errorf("%s has the limit %d %s, the page has %s", h.Title, most, h.limit.variable, limit)
		}
	}
}
