package loop

import (
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// LocalLog is the decision log of a directory.
func LocalLog(dir string) Recorder { return localStore{dir: store.Open(dir)} }

// OwnSource returns one of ralph's own sources and the Writer of its files, at an event
// in a project.
func OwnSource(kind string, root *state.Root) (Source, Writer) {
	kinds := rules.SourceKinds()
	i := slices.IndexFunc(kinds, func(k rules.SourceKind) bool { return k.Name == kind })
	f := &files{world: &gatherer{Decision: &Decision{work: work{loop: &Loop{kept: kept{writing: make(chan struct{}, 1)}}, program: new(rules.Program)}, Time: time.Unix(0, 0)}, root: root}}
	return ownSource(kinds[i], f), f
}

// Program is the policy that the loop runs.
func (l *Loop) Program() *rules.Program { return l.program.Load() }

// Continue reports whether the agent continues.
func (d *Decision) Continue() bool { return d.Verdict.Action == rules.Continue }
