package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// bounded reports continue rules that go on and on with an agent that changes
// nothing: only ralph's own limits would end them. A count that the agent is to
// change (when: done < total) is no bound; one that the policy itself raises is.
func (a *analyzer) bounded() {
	own := defaultLimits()
	if l := a.p.limits; l.HasRepeats || l.Tokens > 0 || l.Continuations < own.Continuations || l.Total < own.Total || l.Elapsed < own.Elapsed {
		return
	}
	stopped := a.moves(a.p.when) // the policy's own when or an earlier stop rule ends the loop some day
	for i, r := range a.p.rules {
		switch {
		case a.dead[i]:
		case r.Verb == verbStop && a.moves(r.when):
			stopped = true
		case r.Verb == verbContinue && r.Unless == nil && !stopped && !a.moves(r.when):
			from, to := a.place(i)
			a.report("unbounded-continue", from, to,
				"add limits: {repeats: 10}, unless_repeated, a counter that the rule raises itself, or test stop_hook_active",
				fmt.Sprintf("an agent that changes nothing is sent on by the rule %q until the built-in limits end the loop", r.Name), nil,
				a.where(a.holds[i]), a.where())
		}
	}
}

// moves reports whether a condition reads what changes though the agent changes
// nothing: the host's flag, the loop memory, the time, or a value that the policy sets.
func (a *analyzer) moves(root *cond) bool {
	found := false
	root.walk(func(o *operand) {
		for _, s := range o.syms {
			switch s.kind {
			case nameSymbol:
				found = found || s.name == vocab.StopHookActive || s.name == vocab.Now || s.info.Memory
			case memorySymbol:
				found = found || s.memory.set.Load()
			case askSymbol:
				found = found || s.ask == "age"
			case letSymbol:
				found = found || a.moves(s.let.root)
			}
		}
		for i := range o.reads {
			found = found || a.sets(&o.reads[i])
		}
	})
	return found
}

// sets reports whether a rule that does not stop changes what an operand reads.
func (a *analyzer) sets(read *access) bool {
	for _, r := range a.p.rules {
		if r.Verb == verbStop {
			continue
		}
		for _, e := range r.then {
			if e.kind == SetEffect && e.fact == read.fact && e.reaches(read.path) {
				return true
			}
		}
	}
	return false
}

// reaches reports whether a set changes what is read at a path, as far as is known.
func (e *effect) reaches(path []string) bool {
	for i := range min(len(path), len(e.steps)) {
		if s := e.steps[i]; s.index == nil && path[i] != "*" && path[i] != s.field {
			return false
		}
	}
	return true
}

// bare reports a continue rule without a when, which holds also over a fact that
// cannot be read: the stop rules above it are unknown then, so it would go on
// blindly. A default does not help, it stands in for what is missing only. reach
// is what is left undecided above rule i.
func (a *analyzer) bare(reach *analysis.Solver, i int) {
	r := a.p.rules[i]
	if r.Verb != verbContinue || r.when != nil {
		return
	}
	for _, f := range a.p.facts {
		if !f.Source.Editable || !f.sym.used.Load() {
			continue
		}
		if invalid := a.t.status(f, isInvalid); a.possible(reach, a.holds[i], invalid) {
			from, to := a.place(i)
			a.report("bare-continue", from, to, "say in when what the rule relies on, or stop when invalid("+f.Name+")",
				fmt.Sprintf("the rule %q continues also when %q cannot be read", r.Name, f.Name), nil,
				evidence{reach, []*analysis.Formula{a.holds[i], invalid}}, a.where(invalid))
			return
		}
	}
}

// unmade reports a set that is asked for while its file is missing, where the fact has no
// default to make the file from: the agent may stop then. reach is what is left undecided
// above rule i. A policy that asks exists(…) itself may know better.
func (a *analyzer) unmade(reach *analysis.Solver, i int) {
	r := a.p.rules[i]
	for _, name := range [...]string{vocab.Exists, vocab.AnyFile, vocab.IsDir} {
		if a.p.table.find(name) != nil {
			return
		}
	}
	for _, e := range r.then {
		if e.kind != SetEffect || e.fact.fact.HasDefault {
			continue
		}
		f := e.fact.fact
		if missing := a.t.status(f, isMissing); a.possible(reach, a.holds[i], missing) {
			from, to := a.place(i)
			a.report("set-missing", from, to, "add default: {} to the fact, or ok("+f.Name+") to the when",
				fmt.Sprintf("the rule %q sets a field of %q also when there is no file, and the fact has no default to make one from", r.Name, f.Name), nil,
				evidence{reach, []*analysis.Formula{a.holds[i], missing}}, a.where(missing))
			return
		}
	}
}
