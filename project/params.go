package project

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// ConfigFile holds the values of params, by policy: set: {POLICY: {name: value}}.
const ConfigFile = ".ralph/config.yaml"

const maxConfigSize = 256 << 10

// params are the values that a policy's params are given.
type params struct {
	configured map[string]yaml.Node // those of ConfigFile under its name
	chosen     map[string]string    // those of the command line, which override them
}

// paramsOf reads the values of a policy's params.
func (p *Project) paramsOf(policy Policy, l Load) (v params, err error) {
	v.chosen = map[string]string{}
	for _, s := range l.Set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return v, fmt.Errorf("--set takes name=value, not %q", s)
		}
		v.chosen[name] = value
	}
	if !l.Untrusted {
		v.configured, err = p.configured(policy)
	}
	return v, err
}

// all are the values in force.
func (v params) all() map[string]string {
	all := v.project()
	maps.Copy(all, v.chosen)
	return all
}

// project are the values of the configuration that the command line does not override.
func (v params) project() map[string]string {
	own := map[string]string{}
	for name, node := range v.configured {
		if _, ok := v.chosen[name]; !ok {
			own[name] = node.Value
		}
	}
	return own
}

// at says where a param is given.
func (v params) at(param string) rules.Pos {
	if _, ok := v.chosen[param]; ok {
		return rules.Pos{File: "--set"}
	}
	return rules.Pos{File: ConfigFile, Line: v.configured[param].Line, Col: v.configured[param].Column}
}

// Param is a param of a policy with its value in force.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"` // "default", [ConfigFile] or "--set"
}

// Params lists the params of a loaded policy, by their names.
func (p Policy) Params() (all []Param) {
	var doc struct {
		Params map[string]struct {
			Default yaml.Node `yaml:"default"`
		} `yaml:"params"`
	}
	if p.Program == nil || yaml.Unmarshal(p.Program.Files()[0].Src, &doc) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Params)) {
		one := Param{name, doc.Params[name].Default.Value, "default"}
		if node, ok := p.params.configured[name]; ok {
			one.Value, one.From = node.Value, ConfigFile
		}
		if value, ok := p.params.chosen[name]; ok {
			one.Value, one.From = value, "--set"
		}
		all = append(all, one)
	}
	return all
}

// Param returns the value in force of a param, "" if the policy has none of that name.
func (p Policy) Param(name string) string {
	for _, one := range p.Params() {
		if one.Name == name {
			return one.Value
		}
	}
	return ""
}

// Configured reports whether the project's configuration sets params of a policy, or cannot be read.
func (p *Project) Configured(policy Policy) bool {
	values, err := p.configured(policy)
	return err != nil || len(values) > 0
}

// configured reads the values for one policy, with their places. Their key is its file name without directory and extension,
// or the name that eval takes, which overrides. A git worktree without such a file has that of the main tree, but for policies
// of its own.
func (p *Project) configured(policy Policy) (map[string]yaml.Node, error) {
	values := map[string]yaml.Node{}
	project := state.Files(p.dir)
	info, err := fs.Stat(project, ConfigFile)
	if errors.Is(err, fs.ErrNotExist) && !policy.here {
		if main := p.mainTree(p.dir); main != "" {
			project = state.Files(main)
			info, err = fs.Stat(project, ConfigFile)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfigSize) {
		return nil, fmt.Errorf("%s cannot be used: expected a readable file of at most %d KiB", ConfigFile, maxConfigSize>>10)
	}
	src, err := fs.ReadFile(project, ConfigFile)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // it would name the file again
		}
		return nil, fmt.Errorf("%s cannot be read: %w", ConfigFile, err)
	}
	set, err := parseConfig(src)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", ConfigFile, err)
	}
	base := strings.TrimSuffix(path.Base(policy.Name), path.Ext(policy.Name))
	for _, key := range []string{base, policy.Name} {
		for name, node := range set[key] {
			if node.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("%s:%d:%d: the value of %s must be one text, number or boolean", ConfigFile, node.Line, node.Column, name)
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

// twice reports a key that occurs twice in a mapping of the settings. The decoder finds every pair of them instead, so
// that a file of equal keys would take memory with the square of its size.
func twice(n *yaml.Node) error {
	seen := map[string]bool{}
	for i, part := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && part.Kind == yaml.ScalarNode {
			if seen[part.Value] {
				return fmt.Errorf("%d:%d: the key %q occurs twice", part.Line, part.Column, part.Value)
			}
			seen[part.Value] = true
		}
		if err := twice(part); err != nil {
			return err
		}
	}
	return nil
}
