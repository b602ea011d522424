// Package settings reads the configuration of a project, which has the values of params of policies: set: {POLICY: {name:
// value}}. Start with [Parse].
package settings

import (
	"fmt"
	"path"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// File is the configuration, from the root of the project.
const File = ".ralph/config.yaml"

// Error is what is wrong with a configuration, and where.
type Error struct {
	From, To yamltree.Pos
	Message  string
}

// Error returns line:col: message.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.From.Line, e.From.Col, e.Message) }

func wrong(n *yamltree.Node, format string, args ...any) *Error {
	return &Error{n.Start, n.End(), fmt.Sprintf(format, args...)}
}

// Parse reads a configuration and returns the values of its policies, nil if it has none. It returns at most one error.
func Parse(src []byte) (set *yamltree.Node, err *Error) {
	root, problems := yamltree.Parse(src)
	switch {
	case len(problems) > 0 && problems[0].Check == yamltree.CheckDocument && problems[0].Start.Line <= 1:
		return nil, nil // it is empty
	case len(problems) > 0:
		return nil, &Error{problems[0].Start, problems[0].End, problems[0].Message}
	}
	for _, f := range root.Fields {
		if f.Key.Value != "set" {
			return nil, wrong(f.Key, "unknown key %q; expected \"set\"", f.Key.Value)
		}
	}
	set = root.Get("set")
	maps := []*yamltree.Node{root, set}
	if set != nil {
		for _, policy := range set.Fields {
			maps = append(maps, policy.Value)
		}
	}
	for _, n := range maps {
		if n != nil && n.Kind != yamltree.Map && n.Tag != "!!null" {
			return nil, wrong(n, "the file must have the form set: {POLICY: {name: value}}")
		}
	}
	return set, nil
}

// Of returns the values for one policy, with their positions. Their key is the file name of the policy without directory
// and extension, or its whole name, which overrides it.
func Of(set *yamltree.Node, policy string) (map[string]*yamltree.Node, *Error) {
	values := map[string]*yamltree.Node{}
	base := strings.TrimSuffix(path.Base(policy), path.Ext(policy))
	for _, key := range []string{base, policy} {
		own := set.Get(key)
		if own == nil {
			continue
		}
		for _, f := range own.Fields {
			if f.Value.Kind != yamltree.Scalar {
				return nil, wrong(f.Value, "the value of %s must be one string, number or boolean", f.Key.Value)
			}
			values[f.Key.Value] = f.Value
		}
	}
	return values, nil
}
