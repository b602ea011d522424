package release_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// npmPlatforms maps what Node.js calls platform and arch to Go's names.
var npmPlatforms = map[string]string{
	"linux-x64": "linux/amd64", "linux-arm64": "linux/arm64", "darwin-x64": "darwin/amd64", "darwin-arm64": "darwin/arm64",
	"win32-x64": "windows/amd64", "win32-arm64": "windows/arm64",
}

// The wrapper asks for a package of each platform that a release has.
func TestNpmPlatforms(t *testing.T) {
	var wrapper struct{ OptionalDependencies map[string]string }
	src, err := os.ReadFile(filepath.Join(root(t), "npm", "ralph-loop", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(src, &wrapper); err != nil {
		t.Fatal(err)
	}
	var got []string
	for name := range wrapper.OptionalDependencies {
		got = append(got, npmPlatforms[strings.TrimPrefix(name, "@ralph-sdk/ralph-loop-")])
	}
	slices.Sort(got)
	if diff := cmp.Diff(platforms(t), got); diff != "" {
		t.Errorf("platforms (-.ci/run +npm)\n%s", diff)
	}
}

// npmInstall makes the packages of a release, and installs the wrapper and the package of this platform without a
// network. It returns the directory that is then on the PATH, and that of the program.
func npmInstall(t *testing.T) (bin, native string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it links ralph")
	}
	if runtime.GOOS == "windows" {
		t.Skip("programs that npm puts on the PATH are batch files there")
	}
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not here")
		}
	}
	base := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "npm_config_cache=" + filepath.Join(base, "cache"), "npm_config_update_notifier=false"}
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, exit.Stderr)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	dist, packages, prefix := filepath.Join(base, "dist"), filepath.Join(base, "packages"), filepath.Join(base, "prefix")
	for _, platform := range platforms(t) {
		dir := filepath.Join(dist, "ralph_"+strings.ReplaceAll(platform, "/", "_")+"_v1")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		switch system, _, _ := strings.Cut(platform, "/"); {
		case platform == runtime.GOOS+"/"+runtime.GOARCH:
			source := filepath.Join(base, "source")
			copySource(t, source)
			build(t, source, filepath.Join(dir, "ralph"))
		case system == "windows":
			writeFile(t, filepath.Join(dir, "ralph.exe"), "of "+platform)
		default:
			writeFile(t, filepath.Join(dir, "ralph"), "of "+platform)
		}
	}
	run(root(t), "node", "npm/pack.mjs", dist, packages, "1.2.3")
	var here, wrapper string
	dirs, err := os.ReadDir(packages)
	if err != nil || len(dirs) != 1+len(platforms(t)) {
		t.Fatalf("%d packages, %v", len(dirs), err)
	}
	for _, d := range dirs {
		name := strings.TrimPrefix(strings.TrimPrefix(d.Name(), "ralph-loop"), "-")
		if name != "" && npmPlatforms[name] != runtime.GOOS+"/"+runtime.GOARCH {
			continue
		}
		file := strings.TrimSpace(run(filepath.Join(packages, d.Name()), "npm", "pack", "--silent", "--pack-destination", packages))
		if name == "" {
			wrapper = filepath.Join(packages, file)
		} else {
			here = filepath.Join(packages, file)
		}
	}
	// The platforms that are not this one are in no registry: npm leaves out what is optional.
	run(base, "npm", "install", "--global", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, here)
	run(base, "npm", "install", "--global", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, "--omit=optional", wrapper)
	modules := filepath.Join(prefix, "lib", "node_modules")
	found, err := filepath.Glob(filepath.Join(modules, "@ralph-sdk", "ralph-loop-*", "bin", "ralph"))
	if err != nil || len(found) != 1 {
		t.Fatalf("programs below %s: %q, %v", modules, found, err)
	}
	return filepath.Join(prefix, "bin"), found[0]
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// What npm puts on the PATH is ralph: it passes on input, output and status. A hook that it installs
// names the program itself, not the wrapper that needs Node.js.
func TestNpm(t *testing.T) {
	bin, native := npmInstall(t)
	project, home := t.TempDir(), t.TempDir()
	ralph := func(stdin string, args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "ralph"), args...)
		cmd.Dir, cmd.Stdin = project, strings.NewReader(stdin)
		cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "RALPH_STATE_DIR=" + filepath.Join(home, "state")}
		out, err := cmd.CombinedOutput()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := ralph("", "--version"); status != 0 || !strings.HasPrefix(out, "ralph v1.2.3 (commit abababababab") {
		t.Errorf("version: status %d\n%s", status, out)
	}
	if out, status := ralph("ralph: 1\nrules: [{name: a, when: nonsense, stop: a}]\n", "check", "-"); status != 1 || !strings.Contains(out, "nonsense") {
		t.Errorf("check: status %d, want 1\n%s", status, out)
	}
	out, status := ralph("", "install", "claude-code", "--policy", "ralph-wiggum")
	if status != 0 || !strings.Contains(out, "not the wrapper of npm") {
		t.Errorf("install: status %d\n%s", status, out)
	}
	settings, err := os.ReadFile(filepath.Join(project, ".claude", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	if resolved, _ := filepath.EvalSymlinks(native); !strings.Contains(string(settings), native+" eval") && !strings.Contains(string(settings), resolved+" eval") {
		t.Errorf("the hook does not name %s:\n%s", native, settings)
	}
	if out, _ := ralph("", "doctor"); strings.Contains(out, "[program]") {
		t.Errorf("doctor complains about what install wrote:\n%s", out)
	}

	// Without the package of this platform, the wrapper says what to do, and its status is no answer of a hook.
	if err := os.RemoveAll(filepath.Dir(filepath.Dir(native))); err != nil {
		t.Fatal(err)
	}
	if out, status := ralph("{}", "eval"); status != 1 || !strings.Contains(out, "npm install -g @ralph-sdk/ralph-loop") {
		t.Errorf("without the program: status %d\n%s", status, out)
	}
}
