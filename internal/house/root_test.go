package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The root of the repository has the packages, and the files that people, git, Go and the marketplaces of hosts look for there.
func TestRoot(t *testing.T) {
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("this is no clone: ", err)
	}
	var got []string
	for file := range strings.FieldsSeq(string(out)) {
		name, _, _ := strings.Cut(file, "/")
		if !slices.Contains(got, name) && name != "contrib" {
			got = append(got, name)
		}
	}
	want := strings.Fields(`.agents .ci .claude-plugin .gitattributes .github .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md
		cmd doc.go docs examples go.mod go.sum host internal loop packaging policytest rules run schema state`)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
