package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// policy is a policy file that was found.
type policy struct {
	name    string // under which its memory, its log and its settings are kept
	fsys    fs.FS
	file    string // in fsys
	shipped bool
}

// builtins lists the names of the shipped policies.
func builtins() []string {
	var names []string
	entries, _ := fs.ReadDir(examples.FS, ".")
	for _, e := range entries {
		if isBuiltin(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// isBuiltin reports whether a policy of this name is shipped.
func isBuiltin(name string) bool {
	_, err := fs.Stat(examples.FS, name+"/"+name+".yaml")
	return err == nil
}

// defaultPolicy is the policy of those who name none.
const defaultPolicy = ".ralph/policy.yaml"

// findPolicy looks a policy up, as a person names it:
//
//	NAME       .ralph/NAME.yaml of the project, else the shipped policy NAME
//	NAME.yaml  that file of the project, else the shipped policy NAME
//	a path     beneath the project, or absolute
func findPolicy(root, name string) (policy, error) {
	isPath := strings.ContainsAny(name, `/\`) || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
	file := name
	if !isPath {
		file = ".ralph/" + name + ".yaml"
	}
	abs := filepath.FromSlash(file)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(root, abs)
	}
	if info, err := os.Stat(abs); err == nil && info.Mode().IsRegular() {
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			rel = filepath.ToSlash(rel)
			return policy{name: rel, fsys: os.DirFS(root), file: rel}, nil
		}
		return policy{name: filepath.ToSlash(abs), fsys: os.DirFS(filepath.Dir(abs)), file: filepath.Base(abs)}, nil
	}
	short := strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".yml")
	if isBuiltin(short) {
		return policy{name: short, fsys: examples.FS, file: short + "/" + short + ".yaml", shipped: true}, nil
	}
	return policy{}, fmt.Errorf("there is no such policy: neither the file %s nor a shipped one of that name (%s)",
		filepath.ToSlash(file), strings.Join(builtins(), ", "))
}

// settings are the values of params: those of .ralph/config.yaml under the
// policy's name, and over them those of --set.
func settings(root string, p policy, set []string) (map[string]string, error) {
	values, err := configured(root, p)
	if err != nil {
		return nil, err
	}
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--set takes name=value, not %q", s)
		}
		values[name] = value
	}
	return values, nil
}

// configFile holds the values of params, by policy: set: {POLICY: {name: value}}.
const configFile = ".ralph/config.yaml"

const maxConfigSize = 256 << 10

// configured reads the values for one policy. They stand under its file name
// without folder and extension, or under the name that eval takes, which goes
// before.
func configured(root string, p policy) (map[string]string, error) {
	values := map[string]string{}
	file := filepath.Join(root, filepath.FromSlash(configFile))
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfigSize {
		return nil, fmt.Errorf("%s cannot be used: a readable file of at most %d KiB was expected", configFile, maxConfigSize>>10)
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", configFile, err)
	}
	var doc struct {
		Set map[string]map[string]yaml.Node `yaml:"set"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: set: {POLICY: {name: value}} was expected: %s", configFile, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	base := strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	for _, key := range []string{base, p.name} {
		for name, node := range doc.Set[key] {
			if node.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("%s:%d:%d: the value of %s must be one text, number or boolean", configFile, node.Line, node.Column, name)
			}
			values[name] = node.Value
		}
	}
	return values, nil
}

// config is how a hook loads a policy: texts compile when they are needed.
func (a *app) config(root string, p policy, set []string) (rules.Config, error) {
	values, err := settings(root, p, set)
	cfg := loop.Config(a.sources...)
	cfg.Set, cfg.LazyTexts = values, true
	return cfg, err
}

// loadPolicy reads a policy, lazily as a hook does or with all that it holds.
func (a *app) loadPolicy(root string, p policy, set []string, lazy bool) (*rules.Program, rules.Diagnostics, error) {
	cfg, err := a.config(root, p, set)
	if err != nil {
		return nil, nil, err
	}
	cfg.LazyTexts = lazy
	program, diags := rules.Load(p.fsys, p.file, cfg)
	return program, diags, nil
}

// shortName is how a person names a policy on the command line.
func shortName(p policy) string {
	if name, ok := strings.CutPrefix(p.name, ".ralph/"); ok && !strings.Contains(name, "/") {
		return strings.TrimSuffix(name, ".yaml")
	}
	return p.name
}

// projectPolicies lists the policies that can be meant in a project: those in its
// .ralph folder, and the shipped ones that none of them stands for.
func projectPolicies(root string) []string {
	var names []string
	files, _ := os.ReadDir(filepath.Join(root, ".ralph"))
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".yaml")
		if !ok || f.Name() == filepath.Base(configFile) || strings.HasSuffix(name, "_test") || f.IsDir() {
			continue
		}
		names = append(names, name)
	}
	for _, name := range builtins() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// policyToCheck finds a policy by its name; - is what stands on standard input,
// whose includes and schemas are looked up in the project root.
func (a *app) policyToCheck(project, name string) (policy, error) {
	if name != "-" {
		return findPolicy(project, name)
	}
	src, err := io.ReadAll(io.LimitReader(a.stdin, maxStdinPolicy))
	if err != nil {
		return policy{}, err
	}
	return policy{name: stdinName, fsys: stdinFS{os.DirFS(project), src}, file: stdinName}, nil
}

// firstError is the first problem that keeps a policy from being used, as check
// shows it.
func firstError(diags rules.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == rules.Error {
			return strings.TrimRight(rules.Diagnostics{d}.Format(), "\n")
		}
	}
	return ""
}
