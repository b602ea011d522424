package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// Doctor reports each problem that it has a check for, in a project with that problem. The commands that make the project are in
// testdata: a check without them fails the test.
func TestDoctorFindings(t *testing.T) {
	t.Parallel()
	needShell(t)
	help := &session{t: t, dir: t.TempDir(), home: t.TempDir()}
	_, list, _ := strings.Cut(help.shell("ralph help checks"), "\nof ralph doctor:\n")
	examples := map[string]string{}
	for _, s := range sections(t, "doctor.txt") {
		examples[s.title] = s.rows[0][0]
	}
	for line := range strings.Lines(list) {
		id := strings.Fields(line)[0]
		if examples[id] == "" {
			t.Errorf("testdata/doctor.txt has no commands for %s", id)
			continue
		}
		s := &session{t: t, dir: workspace(t, document{}), home: t.TempDir()}
		s.shell("git init -q . && ralph init && ralph install claude-code")
		out := s.shell("{ " + examples[id] + "; } || true")
		if !regexp.MustCompile(`(?m)^\w+ .*\[` + id + `\]\n`).MatchString(out) {
			t.Errorf("the commands for %s do not make doctor report it:\n%s", id, out)
		}
		delete(examples, id)
	}
	for id := range examples {
		t.Errorf("unknown check %s", id)
	}
}
