package loop

import (
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

// Loop decides by one policy, and counts. It is safe for concurrent use. There is no zero value: Load or New makes one.
//
// A context that is nil is context.Background(). One that is done is a Fault of its methods. What panics in the program's code, such as its
// sources, functions, effects, clock or store, is an error.
type Loop struct {
	config
	policy *rules.Policy
	last   atomic.Pointer[document] // that was changed
}

// Load reads a policy from a file system, such as embed.FS or os.DirFS. Schemas that it names are read from there too. A policy that is
// wrong gives an error that wraps rules.Findings.
func Load(fsys fs.FS, name string, opts ...Option) (*Loop, error) {
	if fsys == nil {
		return nil, misuse("there is no file system to read %s from: it is nil", name)
	}
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("the policy: %w", err)
	}
	c := newConfig(opts)
	declared := rules.Options{Files: fsys, Params: c.params, Values: c.values, Functions: c.functions}
	for name := range c.sources {
		if _, ok := builtin[name]; !ok {
			declared.Sources = append(declared.Sources, name)
		}
	}
	for name := range c.effects {
		if name != "run" {
			declared.Effects = append(declared.Effects, name)
		}
	}
	p, err := declared.Parse(name, src)
	if err != nil {
		return nil, err
	}
	return New(p, opts...)
}

// New makes a loop of a policy. What the policy uses of the program, such as functions, was declared when it was parsed; sources and
// effects are also options here. Counts belong to the name of a policy: a loop with a new policy of the same name, and the same store, goes
// on with them.
func New(p *rules.Policy, opts ...Option) (*Loop, error) {
	l := &Loop{config: newConfig(opts), policy: p}
	for _, class := range l.allow {
		if !slices.Contains(classes, class) && class != all {
			return nil, misuse("loop.WithAllow(%q): the classes are %q, and %q", class, classes, all)
		}
	}
	if p == nil {
		return nil, misuse("there is no policy: it is nil")
	}
	for _, f := range p.Facts {
		_, own := l.sources[f.Source]
		_, ok := builtin[f.Source]
		switch {
		case f.Source == "judge" && !own:
			return nil, misuse("policy %s, line %d: the loop has no judge for the fact %s: add the option judge.Option()", p.Name, f.Line, f.Name)
		case !ok && !own:
			return nil, misuse("policy %s, line %d: the loop has no source %s for the fact %s", p.Name, f.Line, f.Source, f.Name)
		}
	}
	return l, nil
}

// Policy returns the policy by which the loop decides.
func (l *Loop) Policy() *rules.Policy { return l.policy }

// Deadline returns how long a decision takes at most: what WithDeadline says, else the longest timeout of a fact of the policy and five
// seconds, at least 25 seconds.
func (l *Loop) Deadline() time.Duration {
	if l.deadline > 0 {
		return l.deadline
	}
	longest := 25 * time.Second
	for _, f := range l.policy.Facts {
		longest = max(longest, timeout(f)+5*time.Second)
	}
	return longest
}
