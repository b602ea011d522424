// Package playground builds the page on which a policy is tried in a browser. It may change in any version.
package playground

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/web/playground/engine"
)

// Example is a policy that the page offers, with a situation of its tests.
type Example struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Group string `json:"group"`
	engine.Files
	Given engine.Situation `json:"-"`
}

// MarshalJSON writes the example as an input of the page.
func (e Example) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"name": e.Name, "title": e.Title, "group": e.Group, "policy": e.Policy, "files": e.Files.Files, "state": e.Given.State, "event": e.Given.Event, "message": e.Given.Message,
	})
}

// ErrTools is the error of Build where Node.js or npm is missing, or npm cannot install what the page needs.
var ErrTools = errors.New("the playground needs Node.js 20 or later and npm")

// Build writes the playground to a directory.
func Build(ctx context.Context, dir string) error {
	module, err := output(ctx, "", "go", "env", "GOMOD")
	if err != nil {
		return err
	}
	web := filepath.Dir(module)
	page := filepath.Join(web, "playground", "page")
	all, err := Examples(ctx, filepath.Join(web, "..", "docs", "cookbook.md"))
	if err != nil {
		return err
	}
	list, err := json.Marshal(all)
	if err != nil {
		return err
	}
	modules, err := install(ctx, page)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	root, err := output(ctx, web, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	meta := filepath.Join(filepath.Dir(modules), "bundled.json")
	for _, name := range []string{"worker.js", "app.js"} {
		cmd := exec.CommandContext(ctx, "node", filepath.Join(modules, "esbuild", "bin", "esbuild"), name, "--bundle", "--minify", "--log-level=warning", "--legal-comments=none", "--metafile="+meta,
			"--alias:wasm_exec="+filepath.ToSlash(filepath.Join(root, "lib", "wasm", "wasm_exec.js")), "--outfile="+filepath.Join(dir, name))
		cmd.Dir = page
		cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("esbuild %s: %w\n%s", name, err, out)
		}
	}
	engine, err := compile(ctx, web)
	if err != nil {
		return err
	}
	notices, err := licenses(page, web, meta)
	if err != nil {
		return err
	}
	files := map[string][]byte{"licenses.txt": notices, "examples.json": list, "graph.css": []byte(graph.Style()), "engine.wasm.gz": engine}
	for name, from := range map[string]string{"index.html": page, "playground.css": page, "style.css": filepath.Join(web, "..", "view", "page")} {
		if files[name], err = os.ReadFile(filepath.Join(from, name)); err != nil {
			return err
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// licenses returns the licenses of what the page has from others: the packages of npm that are in app.js, and the modules of Go, as
// the command has them.
func licenses(page, web, meta string) ([]byte, error) {
	b, err := os.ReadFile(meta)
	if err != nil {
		return nil, err
	}
	var bundled struct{ Inputs map[string]any }
	if err := json.Unmarshal(b, &bundled); err != nil {
		return nil, err
	}
	packages := map[string]bool{}
	for input := range bundled.Inputs {
		if dir := npmPackage.FindString(input); dir != "" {
			packages[dir] = true
		}
	}
	var out bytes.Buffer
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		text, err := os.ReadFile(filepath.Join(page, filepath.FromSlash(dir), "LICENSE"))
		if err != nil {
			return nil, err
		}
		_, name, _ := strings.Cut(dir, "node_modules/")
		fmt.Fprintf(&out, "%s\n\n%s\n\n", name, bytes.TrimSpace(text))
	}
	ours, err := os.ReadFile(filepath.Join(web, "..", "cmd", "ralph", "licenses.txt"))
	return append(out.Bytes(), ours...), err
}

var npmPackage = regexp.MustCompile(`^.*node_modules/(@[^/]+/)?[^/]+`)

// hot are the packages in which functions are inlined: a policy loads a third faster for 2 % more bytes. Without inlining
// elsewhere the engine is an eighth smaller.
var hot = []string{"runtime", "internal/runtime/...", "reflect", "slices", "strings", "bytes", "unicode/utf8", "go.yaml.in/yaml/v3"}

// compile builds the engine, compressed.
func compile(ctx context.Context, web string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "ralph-playground-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	program := filepath.Join(temp, "engine.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", program, "-gcflags=all=-l"}
	for _, name := range hot {
		args = append(args, "-gcflags="+name+"=")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./playground/wasm")...)
	cmd.Dir = web
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	b, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one
	_, err = w.Write(b)
	err = errors.Join(err, w.Close())
	return packed.Bytes(), err
}

// install installs what page/package-lock.json lists into a cache directory, and returns its node_modules.
func install(ctx context.Context, page string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "ralph-playground")
	lock, err := os.ReadFile(filepath.Join(page, "package-lock.json"))
	if err != nil {
		return "", err
	}
	modules, done := filepath.Join(dir, "node_modules"), filepath.Join(dir, "installed")
	if have, err := os.ReadFile(done); err == nil && bytes.Equal(have, lock) {
		return modules, nil
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%w: %w", ErrTools, err)
		}
	}
	list, err := os.ReadFile(filepath.Join(page, "package.json"))
	err = errors.Join(err, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "package.json"), list, 0o644), os.WriteFile(filepath.Join(dir, "package-lock.json"), lock, 0o644))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: npm ci: %w\n%s", ErrTools, err, out)
	}
	return modules, os.WriteFile(done, lock, 0o644)
}

func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

var (
	recipeFile = regexp.MustCompile("(?m)^<!-- file: (\\.ralph/[^ ]+\\.yaml) -->\n```yaml\n((?s:.*?))```$")
	recipeName = regexp.MustCompile(`(?m)^## (.+)$`)
)

// Examples returns the policies that ship with ralph, and those of the cookbook.
func Examples(ctx context.Context, cookbook string) (all []Example, err error) {
	page, err := os.ReadFile(cookbook)
	if err != nil {
		return nil, err
	}
	heads := recipeName.FindAllSubmatchIndex(page, -1)
	for i, at := range heads {
		end := len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		files := map[string]string{}
		for _, m := range recipeFile.FindAllSubmatch(page[at[0]:end], -1) {
			files[string(m[1])] = string(m[2])
		}
		for name := range files {
			if policy, isTest := strings.CutSuffix(name, policytest.Suffix); isTest {
				all = append(all, Example{Name: strings.TrimPrefix(policy, ".ralph/"), Title: string(page[at[2]:at[3]]), Group: "Cookbook",
					Files: engine.Files{Policy: policy + ".yaml", Files: files}})
			}
		}
	}
	names, err := fs.Glob(examples.Tests, "*/*"+policytest.Suffix)
	if err != nil {
		return nil, err
	}
	for _, tests := range names {
		name := strings.TrimSuffix(filepath.Base(tests), policytest.Suffix)
		file := ".ralph/" + name
		src, err := fs.ReadFile(examples.FS, strings.TrimSuffix(tests, policytest.Suffix)+".yaml")
		if err != nil {
			return nil, err
		}
		written, err := fs.ReadFile(examples.Tests, tests)
		if err != nil {
			return nil, err
		}
		// A copy in a project includes the shipped files by their names.
		text := strings.ReplaceAll(string(src), "include: ../", "include: ralph:")
		all = append(all, Example{Name: name, Title: name, Group: "Shipped policies",
			Files: engine.Files{Policy: file + ".yaml", Files: map[string]string{file + ".yaml": text, file + policytest.Suffix: string(written)}}})
	}
	for i := range all {
		if all[i].Given, err = situation(ctx, all[i].Files); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].Name, err)
		}
	}
	return all, nil
}

// situation returns that of the first test of a policy that continues the agent, or else of the first.
func situation(ctx context.Context, f engine.Files) (engine.Situation, error) {
	name := strings.TrimSuffix(f.Policy, ".yaml") + policytest.Suffix
	suite, diags := policytest.LoadSource(ctx, f.FS(), name, []byte(f.Files[name]), loop.Config(engine.Options()...))
	if suite == nil {
		return engine.Situation{}, diags.Err()
	}
	i := slices.IndexFunc(suite.Run(ctx, nil), func(r policytest.Result) bool { return r.Record.Action == rules.Continue })
	return engine.SituationOf(suite.Tests()[max(0, i)])
}
