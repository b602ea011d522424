// Package release_test tests what users install: the builds, the packages, the plugins,
// and the workflows that make them.
package release_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// goreleaser is what .goreleaser.yaml may say. A key that is not here is an error, so that a slip is not ignored.
type goreleaser struct {
	Version     int
	ProjectName string `yaml:"project_name"`
	Before      struct{ Hooks []string }
	Builds      []struct {
		Main, Binary                      string
		Env, Goos, Goarch, Flags, Ldflags []string
		ModTimestamp                      string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		NameTemplate    string `yaml:"name_template"`
		Formats         []string
		FormatOverrides []struct {
			Goos    string
			Formats []string
		} `yaml:"format_overrides"`
		WrapInDirectory bool        `yaml:"wrap_in_directory"`
		BuildsInfo      archiveInfo `yaml:"builds_info"`
		Files           []struct {
			Src, Dst    string
			StripParent bool `yaml:"strip_parent"`
			Info        archiveInfo
		}
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
	}
	Sboms []struct {
		Artifacts, Cmd  string
		Documents, Args []string
	}
	Snapshot struct {
		VersionTemplate string `yaml:"version_template"`
	}
	Changelog struct{ Disable bool }
	Release   struct {
		Github     struct{ Owner, Name string }
		Draft      bool
		Prerelease string
	}
}

type archiveInfo struct {
	Mtime, Owner, Group string
	Mode                int
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func readYAML(t *testing.T, name string, into any) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(src))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return src
}

// A release has every platform that .ci/run builds for, with checksums and lists of what is in it, and nothing in it
// depends on the time or place of the build.
func TestGoreleaser(t *testing.T) {
	var c goreleaser
	readYAML(t, ".goreleaser.yaml", &c)
	if len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.Sboms) != 1 {
		t.Fatalf("%d builds, %d archives, %d sboms; one of each is expected", len(c.Builds), len(c.Archives), len(c.Sboms))
	}
	b, a := c.Builds[0], c.Archives[0]
	if want := platforms(t); !cmp.Equal(want, cross(b.Goos, b.Goarch)) {
		t.Errorf("platforms of the release %q, of .ci/run %q", cross(b.Goos, b.Goarch), want)
	}
	for _, flag := range []string{"-trimpath", "-buildvcs=false"} {
		if !slices.Contains(b.Flags, flag) {
			t.Errorf("flags %q lack %s", b.Flags, flag)
		}
	}
	if !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || b.ModTimestamp != "{{ .CommitTimestamp }}" {
		t.Errorf("env %q and mod_timestamp %q make builds differ", b.Env, b.ModTimestamp)
	}
	times := map[string]string{"the program": a.BuildsInfo.Mtime}
	var sources []string
	for _, f := range a.Files {
		times[f.Src] = f.Info.Mtime
		sources = append(sources, f.Src)
	}
	for what, mtime := range times {
		if mtime != "{{ .CommitDate }}" {
			t.Errorf("the time of %s in archives is %q, not that of the commit", what, mtime)
		}
	}
	if want := []string{"LICENSE", "README.md", "CHANGELOG.md", "cmd/ralph/licenses.txt", ".release/completions/*"}; !cmp.Equal(want, sources) {
		t.Errorf("files of an archive (-want +got)\n%s", cmp.Diff(want, sources))
	}
	if c.Sboms[0].Artifacts != "binary" || c.Checksum.NameTemplate == "" {
		t.Error("archives need a checksum, and programs a list of what is in them")
	}
}

// platforms are those for which .ci/run builds.
func platforms(t *testing.T) []string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`for platform in \{([a-z,]+)\}/\{([a-z0-9,]+)\}`).FindSubmatch(src)
	if m == nil {
		t.Fatal(".ci/run does not say for which platforms it builds")
	}
	return cross(strings.Split(string(m[1]), ","), strings.Split(string(m[2]), ","))
}

func cross(systems, processors []string) (all []string) {
	for _, s := range systems {
		for _, p := range processors {
			all = append(all, s+"/"+p)
		}
	}
	slices.Sort(all)
	return all
}

// build builds ralph in dir as a release does.
func build(t *testing.T, dir, out string) {
	t.Helper()
	var c goreleaser
	readYAML(t, ".goreleaser.yaml", &c)
	b := c.Builds[0]
	flags := strings.NewReplacer("{{ .Version }}", "1.2.3", "{{ .FullCommit }}", strings.Repeat("ab", 20), "{{ .CommitDate }}", "2026-11-22T10:00:00Z").
		Replace(strings.Join(b.Ldflags, " "))
	if strings.Contains(flags, "{{") {
		t.Fatalf("the test does not know what to write into %s", flags)
	}
	cmd := exec.Command("go", slices.Concat([]string{"build"}, b.Flags, []string{"-ldflags", flags, "-o", out, b.Main})...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), b.Env, []string{"GOFLAGS="})
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Two builds of the same source, in two places, have the same bytes, so that everybody can check a release.
func TestReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("it links ralph twice")
	}
	var sums [][32]byte
	for _, name := range []string{"one", "another-place"} {
		dir := filepath.Join(t.TempDir(), name)
		copySource(t, dir)
		program := filepath.Join(t.TempDir(), "ralph"+exe())
		build(t, dir, program)
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sha256.Sum256(data))
		out, err := exec.Command(program, "--version").CombinedOutput()
		if want := "ralph v1.2.3 (commit abababababab, 2026-11-22T10:00:00Z) "; err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("ralph --version prints %q, want %q…, %v", out, want, err)
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ: %x and %x", sums[0], sums[1])
	}
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// copySource copies what a build of ralph reads: the Go files, and what they embed.
func copySource(t *testing.T, dir string) {
	t.Helper()
	from := root(t)
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "dist" {
			if err := os.CopyFS(filepath.Join(dir, e.Name()), os.DirFS(filepath.Join(from, e.Name()))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The hooks of a release write the completions of four shells.
func TestCompletions(t *testing.T) {
	if testing.Short() {
		t.Skip("it links ralph")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	var c goreleaser
	readYAML(t, ".goreleaser.yaml", &c)
	dir := t.TempDir()
	copySource(t, dir)
	for _, hook := range c.Before.Hooks {
		if !strings.Contains(hook, ".release") {
			continue
		}
		cmd := exec.Command(sh, "-c", hook)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", hook, err, out)
		}
	}
	for shell, text := range map[string]string{"ralph.bash": "complete ", "_ralph": "#compdef ralph", "ralph.fish": "complete -c ralph", "ralph.ps1": "Register-ArgumentCompleter"} {
		if src, err := os.ReadFile(filepath.Join(dir, ".release", "completions", shell)); err != nil || !strings.Contains(string(src), text) {
			t.Errorf("the completion %s lacks %q, %v", shell, text, err)
		}
	}
}
