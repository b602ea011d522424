package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// paramValues are the values that a policy's params are given.
type paramValues struct {
	configured map[string]string // those of .ralph/config.yaml under its name
	chosen     map[string]string // those of --set, which go before
}

func params(p policy, set []string) (v paramValues, err error) {
	v.chosen = map[string]string{}
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return v, fmt.Errorf("--set takes name=value, not %q", s)
		}
		v.chosen[name] = value
	}
	v.configured, err = configured(p)
	return v, err
}

// all are the values in force.
func (v paramValues) all() map[string]string {
	all := maps.Clone(v.configured)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, v.chosen)
	return all
}

// project are the values of the configuration that nothing of --set replaces.
func (v paramValues) project() map[string]string {
	own := maps.Clone(v.configured)
	maps.DeleteFunc(own, func(name, _ string) bool { _, ok := v.chosen[name]; return ok })
	return own
}

// configFile holds the values of params, by policy: set: {POLICY: {name: value}}.
const configFile = ".ralph/config.yaml"

const maxConfigSize = 256 << 10

// givenAt says where a param is given. It reads the configuration again: only findings
// need it.
func givenAt(p policy, v paramValues, param string) rules.Pos {
	if _, ok := v.chosen[param]; ok {
		return rules.Pos{File: "--set"}
	}
	nodes, _ := configuredNodes(p) // it was read before
	return rules.Pos{File: configFile, Line: nodes[param].Line, Col: nodes[param].Column}
}

// configured reads the values for one policy.
func configured(p policy) (map[string]string, error) {
	nodes, err := configuredNodes(p)
	values := make(map[string]string, len(nodes))
	for name, node := range nodes {
		values[name] = node.Value
	}
	return values, err
}

// configuredNodes reads the values for one policy, with their places. They stand under
// its file name without folder and extension, or under the name that eval takes, which
// goes before. A git worktree without such a file has that of the main tree, but for policies of
// its own.
func configuredNodes(p policy) (map[string]yaml.Node, error) {
	values := map[string]yaml.Node{}
	if p.unset {
		return values, nil
	}
	project := state.Files(p.project)
	info, err := fs.Stat(project, configFile)
	if errors.Is(err, fs.ErrNotExist) && !p.here {
		if main := mainTree(p.project); main != "" {
			project = state.Files(main)
			info, err = fs.Stat(project, configFile)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfigSize) {
		return nil, fmt.Errorf("%s cannot be used: expected a readable file of at most %d KiB", configFile, maxConfigSize>>10)
	}
	src, err := fs.ReadFile(project, configFile)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // it would name the file again
		}
		return nil, fmt.Errorf("%s cannot be read: %w", configFile, err)
	}
	set, err := parseConfig(src)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", configFile, err)
	}
	base := strings.TrimSuffix(path.Base(p.name), path.Ext(p.name))
	for _, key := range []string{base, p.name} {
		for name, node := range set[key] {
			if node.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("%s:%d:%d: the value of %s must be one text, number or boolean", configFile, node.Line, node.Column, name)
			}
			values[name] = node
		}
	}
	return values, nil
}

// parseConfig reads the settings. An error begins with the place: line:col: message.
func parseConfig(src []byte) (map[string]map[string]yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, yamlProblem(err)
	}
	if doc.Kind == 0 || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil // it is empty
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%d:%d: expected set: {POLICY: {name: value}}", root.Line, root.Column)
	}
	for i := 0; i < len(root.Content); i += 2 {
		if key := root.Content[i]; key.Value != "set" {
			return nil, fmt.Errorf("%d:%d: unknown key %q, expected \"set\"", key.Line, key.Column, key.Value)
		}
	}
	if err := twice(&doc); err != nil {
		return nil, err
	}
	var known struct {
		Set map[string]map[string]yaml.Node `yaml:"set"`
	}
	if err := root.Decode(&known); err != nil {
		return nil, yamlProblem(err)
	}
	return known.Set, nil
}

// yamlProblem is a problem of a settings file, with its line in front: the YAML package
// says it on several lines, and speaks of types of Go.
func yamlProblem(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var types *yaml.TypeError
	if errors.As(err, &types) {
		text = types.Errors[0]
	}
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if n, after, ok := strings.Cut(rest, ": "); ok {
			line, _ = strconv.Atoi(n)
			text = after
		}
	}
	if strings.HasPrefix(text, "cannot unmarshal") {
		text = "expected set: {POLICY: {name: value}}"
	}
	return fmt.Errorf("%d: %s", line, text)
}
