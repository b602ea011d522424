package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
)

// Opened is a policy of a hook: its loop, or why it lets the agent stop.
type Opened struct {
	Name string
	File File
	Loop *loop.Loop
	Err  error
}

// Hook opens the policies of a hook, in their order, with the values of params that it sets. Without a name it is the policy of the project,
// and nothing where that is missing. Each param must be one of a policy; it is set in each policy that has it.
func (h *Home) Hook(ctx context.Context, p Project, names, set []string, s Settings) []Opened {
	s.Params, s.several = map[string]string{}, true
	var opened []Opened
	var wrong error
	for _, v := range set {
		name, value, err := Param(v)
		s.Params[name], wrong = value, cmp.Or(wrong, err)
	}
	unknown, known := maps.Clone(s.Params), []string{}
	policies := names
	if len(names) == 0 {
		policies = []string{Default}
	}
	for _, name := range policies {
		f, err := p.Policy(name)
		if len(names) == 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		o := Opened{Name: name, File: f, Err: cmp.Or(err, wrong)}
		if o.Err == nil {
			o.Loop, o.Err = h.Open(ctx, p, f, s)
		}
		switch {
		case o.Loop != nil:
			for name := range o.Loop.Policy().Params {
				delete(unknown, name)
				known = append(known, name)
			}
		case err == nil:
			clear(unknown) // the policy's own fault comes first
		}
		opened = append(opened, o)
	}
	if len(unknown) > 0 {
		name := slices.Sorted(maps.Keys(unknown))[0]
		slices.Sort(known)
		near := cmp.Or(text.Nearest(name, known), "leave it out")
		for i := range opened {
			opened[i].Loop = nil
			opened[i].Err = errors.Join(opened[i].Err, fmt.Errorf("--set %s: no policy of this hook declares it under params; %s", name, near))
		}
	}
	return opened
}

// Param splits a value of --set.
func Param(set string) (name, value string, err error) {
	name, value, ok := strings.Cut(set, "=")
	if !ok || name == "" {
		err = fmt.Errorf("--set %s: write --set name=value", text.Line(set))
	}
	return name, value, err
}
