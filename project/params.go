package project

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/settings"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// ConfigFile holds the values of params, by policy: set: {POLICY: {name: value}}.
const ConfigFile = settings.File

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
	set, bad := settings.Parse(src)
	if bad == nil {
		values, bad = settings.Of(set, policy.Name)
	}
	if bad != nil {
		return nil, fmt.Errorf("%s:%w", ConfigFile, bad)
	}
	return values, nil
}
