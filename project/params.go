package project

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// ConfigFile holds the values of params, by policy: set: {POLICY: {name: value}}.
const ConfigFile = ".ralph/config.yaml"

const maxConfigSize = 256 << 10

// params are the values of a policy's params.
type params struct {
	configured map[string]*yamltree.Node // in ConfigFile under its name
	chosen     map[string]string         // on the command line, which override them
}

// paramsOf reads the values of a policy's params.
func (p *Project) paramsOf(policy Policy, l Load) (v params, err error) {
	v.chosen = map[string]string{}
	for _, s := range l.Set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return v, fmt.Errorf("--set must be name=value; got %q", s)
		}
		v.chosen[name] = value
	}
	if !l.Untrusted {
		v.configured, err = p.configured(policy)
	}
	return v, err
}

// all returns the effective values.
func (v params) all() map[string]string {
	all := v.project()
	maps.Copy(all, v.chosen)
	return all
}

// project returns the values of the configuration that the command line does not override.
func (v params) project() map[string]string {
	own := map[string]string{}
	for name, node := range v.configured {
		if _, ok := v.chosen[name]; !ok {
			own[name] = node.Value
		}
	}
	return own
}

// at returns where a param is set.
func (v params) at(param string) rules.Pos {
	if _, ok := v.chosen[param]; ok {
		return rules.Pos{File: "--set"}
	}
	pos := rules.Pos{File: ConfigFile}
	if node := v.configured[param]; node != nil {
		pos.Line, pos.Col = node.Start.Line, node.Start.Col
	}
	return pos
}

// Param is a param of a policy with its effective value.
type Param struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	From    string `json:"from"`              // "default", [ConfigFile] or "--set"
	Private bool   `json:"private,omitempty"` // nothing shows the value
}

// Params returns the params of a loaded policy, by name.
func (p Policy) Params() (all []Param) {
	if p.Program == nil {
		return nil
	}
	root, _ := yamltree.Parse(p.Program.Files()[0].Src)
	for name, decl := range entries(root.Get("params")) {
		one := Param{Name: name, From: "default"}
		if private := decl.Get("private"); private != nil {
			one.Private, _ = private.Decode().(bool)
		}
		if value := decl.Get("default"); value != nil {
			one.Value = value.Value
		}
		if node, ok := p.params.configured[name]; ok {
			one.Value, one.From = node.Value, ConfigFile
		}
		if value, ok := p.params.chosen[name]; ok {
			one.Value, one.From = value, "--set"
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// entries yields the entries of a map, in order; other nodes have none.
func entries(n *yamltree.Node) iter.Seq2[string, *yamltree.Node] {
	return func(yield func(string, *yamltree.Node) bool) {
		for i := 0; n != nil && i < len(n.Fields) && yield(n.Fields[i].Key.Value, n.Fields[i].Value); i++ {
		}
	}
}

// Param returns the effective value of a param, "" if the policy has no such param.
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

// configured reads the values for one policy, with their positions. Their key is the file name of the policy without
// directory and extension, or the name that eval uses, which overrides it. A git worktree without the file uses that of
// the main tree, except for its own policies.
func (p *Project) configured(policy Policy) (map[string]*yamltree.Node, error) {
	values := map[string]*yamltree.Node{}
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
		return nil, fmt.Errorf("%s cannot be used: it must be a readable file of at most %d KiB", ConfigFile, maxConfigSize>>10)
	}
	src, err := fs.ReadFile(project, ConfigFile)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // it repeats the file name
		}
		return nil, fmt.Errorf("%s cannot be read: %w", ConfigFile, err)
	}
	set, err := parseConfig(src)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", ConfigFile, err)
	}
	base := strings.TrimSuffix(path.Base(policy.Name), path.Ext(policy.Name))
	for _, key := range []string{base, policy.Name} {
		for name, node := range entries(set.Get(key)) {
			if node.Kind != yamltree.Scalar {
				return nil, fmt.Errorf("%s:%d:%d: the value of %s must be one string, number or boolean", ConfigFile, node.Start.Line, node.Start.Col, name)
			}
			values[name] = node
		}
	}
	return values, nil
}

// parseConfig reads the settings, and returns the values of the policies. An error begins with its position: line:col:
// message.
func parseConfig(src []byte) (*yamltree.Node, error) {
	root, problems := yamltree.Parse(src)
	at := func(p yamltree.Pos, format string, args ...any) error {
		return fmt.Errorf("%d:%d: %s", p.Line, p.Col, fmt.Sprintf(format, args...))
	}
	switch {
	case len(problems) > 0 && problems[0].Check == yamltree.CheckDocument && problems[0].Start.Line <= 1:
		return nil, nil // it is empty
	case len(problems) > 0:
		return nil, at(problems[0].Start, "%s", problems[0].Message)
	}
	for _, f := range root.Fields {
		if f.Key.Value != "set" {
			return nil, at(f.Key.Start, "unknown key %q; expected \"set\"", f.Key.Value)
		}
	}
	set := root.Get("set")
	maps := []*yamltree.Node{root, set}
	for _, policy := range entries(set) {
		maps = append(maps, policy)
	}
	for _, n := range maps {
		if n != nil && n.Kind != yamltree.Map && n.Tag != "!!null" {
			return nil, at(n.Start, "the file must have the form set: {POLICY: {name: value}}")
		}
	}
	return set, nil
}
