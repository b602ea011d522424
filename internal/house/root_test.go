package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	want := strings.Fields(`.agents .ci .claude-plugin .gitattributes .github .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE PERFORMANCE.md README.md SECURITY.md
		cmd doc.go docs examples go.mod go.sum host internal loop packaging policytest rules run schema state`)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Programs that import a nested module ignore its replace directives. So it requires the version that CHANGELOG.md releases.
func TestNestedModules(t *testing.T) {
	version := regexp.MustCompile(`(?m)^## (v[0-9.]+)`).FindStringSubmatch(pages(t)["CHANGELOG.md"])[1]
	modules, err := filepath.Glob(root + "/contrib/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatal("there is no nested module", err)
	}
	for _, file := range modules {
		src, err := os.ReadFile(file)
		if want := "github.com/ralph-sdk/ralph " + version; err != nil || !regexp.MustCompile(`\s`+regexp.QuoteMeta(want)+`\n`).Match(src) {
			t.Errorf("%s: write there: require %s", file, want)
		}
	}
}
