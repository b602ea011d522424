package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/reference"
)

// The page about doctor has what `ralph help ID` prints about each check, and what doctor prints in a project with that problem. The
// commands that make the project are in testdata: a check without them fails the test.
func TestDoctorPage(t *testing.T) {
	t.Parallel()
	needShell(t)
	p := reference.New(t, "doctor", "Findings of ralph doctor")
	p.Text("`ralph doctor` reports what keeps loops from working: problems, each with its fix, and notes. The ID of a finding is in brackets, and in the field " +
		"`check` of `--format json`. IDs are never renamed. `ralph help ID` prints a section of this page; `ralph doctor --fix` makes the repairs that lose nothing.")
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
		p.Section(2, id)
		_, about, _ := strings.Cut(help.shell("ralph help "+id), "\n\n")
		about = strings.ReplaceAll(strings.TrimPrefix(about, "Found by `ralph doctor`:"), "\n\n", " ")
		p.Text("**Finds** %s", strings.TrimSpace(about))
		s := &session{t: t, dir: workspace(t, document{}), home: t.TempDir()}
		s.shell("git init -q . && ralph init && ralph install claude-code")
		out := s.shell("{ " + examples[id] + "; } || true")
		out = strings.ReplaceAll(strings.ReplaceAll(out, s.dir, "/home/me/app"), s.home, "/home/me")
		finding := regexp.MustCompile(`(?m)^\w+ .*\[` + id + `\]\n(?: .*\n)*`).FindString(out)
		if finding == "" {
			t.Errorf("the commands for %s do not make doctor report it:\n%s", id, out)
		}
		// How long ago something was depends on the day.
		p.Block("text", regexp.MustCompile(`\d+ days ago`).ReplaceAllString(finding, "9 days ago"))
		delete(examples, id)
	}
	for id := range examples {
		t.Errorf("unknown check %s", id)
	}
	p.Check()
}
