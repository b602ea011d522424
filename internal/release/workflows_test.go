package release_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workflow is what a workflow of GitHub may say here. A key that is not here is an error.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Concurrency map[string]any
	Jobs        map[string]struct {
		Name        string
		Needs       string
		RunsOn      string `yaml:"runs-on"`
		Timeout     int    `yaml:"timeout-minutes"`
		Environment string
		Permissions map[string]string
		Strategy    struct {
			FailFast *bool `yaml:"fail-fast"`
			Matrix   struct {
				OS      []string
				Go      []string
				Include []map[string]string
			}
		}
		Steps []struct {
			Uses, Run string
			With      map[string]any
			Env       map[string]string
		}
	}
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), ".github", "workflows", "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]workflow{}
	for _, f := range files {
		var w workflow
		readYAML(t, ".github/workflows/"+filepath.Base(f), &w)
		all[filepath.Base(f)] = w
	}
	return all
}

// Actions are pinned to a commit, a token may do only what its job needs, and no job hangs for hours.
func TestWorkflows(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}$`)
	for name, w := range workflows(t) {
		if w.Permissions == nil {
			t.Errorf("%s: says nothing of permissions, so that the token may do anything", name)
		}
		for scope, access := range w.Permissions {
			if access != "read" {
				t.Errorf("%s: every job has %s: %s; give it to the job that needs it", name, scope, access)
			}
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 {
				t.Errorf("%s: the job %s has no timeout-minutes", name, id)
			}
			for _, step := range job.Steps {
				action, _, _ := strings.Cut(step.Uses, "@")
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned to a commit", name, step.Uses)
				}
				if action == "actions/checkout" && step.With["persist-credentials"] != false {
					t.Errorf("%s: the job %s leaves its token in the clone", name, id)
				}
				for _, text := range []string{"github.event.", "github.head_ref", "github.ref_name"} {
					if strings.Contains(step.Run, text) {
						t.Errorf("%s: a shell reads %s, which others choose: %s", name, text, step.Run)
					}
				}
			}
		}
	}
}

// The comment with the version of a pinned commit is the same wherever the action is used.
func TestPinnedVersions(t *testing.T) {
	seen := map[string]string{}
	uses := regexp.MustCompile(`uses: (\S+)@([0-9a-f]{40}) # (v[0-9.]+)\n`)
	for name := range workflows(t) {
		src, err := os.ReadFile(filepath.Join(root(t), ".github", "workflows", name))
		if err != nil {
			t.Fatal(err)
		}
		found := uses.FindAllStringSubmatch(string(src), -1)
		if n := strings.Count(string(src), "uses: "); n != len(found) {
			t.Errorf("%s: %d of %d actions have a commit and its version behind it", name, len(found), n)
		}
		for _, m := range found {
			if pin := m[2] + " " + m[3]; seen[m[1]] != "" && seen[m[1]] != pin {
				t.Errorf("%s: %s is %s here and %s elsewhere", name, m[1], pin, seen[m[1]])
			} else {
				seen[m[1]] = pin
			}
		}
	}
}

// Each change is tested on three systems, and by all of .ci/run; a release is made only after .ci/run, by the goreleaser whose
// configuration was tried.
func TestWorkflowSteps(t *testing.T) {
	all := workflows(t)
	runs := func(file, job string) (commands []string) {
		for _, step := range all[file].Jobs[job].Steps {
			if step.Run != "" {
				commands = append(commands, step.Run)
			}
		}
		return commands
	}
	// Ubuntu lets users make no namespaces by default, and the tests of real clients would be skipped.
	const namespaces = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	for _, tt := range []struct {
		file, job string
		want      []string
	}{
		{"test.yml", "all", []string{namespaces, ".ci/run"}},
		{"test.yml", "go", []string{"go vet ./...", "go test ./..."}},
		{"fuzz.yml", "fuzz", []string{".ci/fuzz 60s"}},
		{"release.yml", "test", []string{namespaces, ".ci/run"}},
		{"release.yml", "release", []string{"go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0", `node npm/pack.mjs dist npm-packages "${GITHUB_REF_NAME#v}"`, "node npm/publish.mjs npm-packages"}},
	} {
		if diff := cmp.Diff(tt.want, runs(tt.file, tt.job)); diff != "" {
			t.Errorf("%s: commands of the job %s (-want +got)\n%s", tt.file, tt.job, diff)
		}
	}
	test := all["test.yml"]
	systems := append(test.Jobs["go"].Strategy.Matrix.OS, test.Jobs["all"].RunsOn)
	for _, system := range []string{"ubuntu-", "macos-", "windows-"} {
		if !slices.ContainsFunc(systems, func(s string) bool { return strings.HasPrefix(s, system) }) {
			t.Errorf("no job tests on %s: %q", system, systems)
		}
	}
	if all["release.yml"].Jobs["release"].Needs != "test" {
		t.Error("a release does not wait for the tests")
	}
	// The oldest Go that the module takes is tested.
	mod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	oldest := regexp.MustCompile(`\ngo (1\.\d+)`).FindSubmatch(mod)
	if !slices.ContainsFunc(test.Jobs["go"].Strategy.Matrix.Include, func(m map[string]string) bool { return m["go"] == string(oldest[1]) }) {
		t.Errorf("no job tests with Go %s, which go.mod allows", oldest[1])
	}
}
