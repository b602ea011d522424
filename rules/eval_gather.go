package rules

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// gathered is the result for one fact.
type gathered struct {
	Value
	defaulted bool     // it is missing and has its default
	mark      *mask    // of the value
	masked    bool     // its arguments, and therefore its path, are private
	problem   sentence // the Problem
}

// gather gathers a fact. need calls it only once.
func (ev *evaluation) gather(f *Fact) (any, truth) {
	q := ev.early(f)
	if q == nil {
		alone := ev.request(f)
		if q = &alone; q.ctx != nil {
			ev.ask(q)
		}
	}
	if q.panicked != nil {
		panic(q.panicked)
	}
	g := ev.got(f)
	v, private, problem := &g.Value, q.private, q.problem
	if *v = q.v; q.ctx != nil {
		ev.met.given = ev.met.given || v.read != nil
		if f.Source.given() && v.Status == Missing && (v.Quiet || v.Problem == "") {
			v.Quiet, v.Problem = true, "is not provided by the program"
		}
		ev.meter.look = 0 // the call may have taken long
		ev.meter.charge(1)
		if ev.withheld(f, v, q.args) {
			*v = Value{Status: Withheld, Path: v.Path, Problem: "is not used: " + ev.event.untrusted}
		}
		v.Private = v.Private || f.Source.Private || f.Private
		problem = masked(v.Problem, private || v.Private)
	}
	g.masked, g.problem, g.mark = private, problem, q.class(v, &ev.trace)
	if ev.trace.full() {
		ev.traceFact(f, q)
	}
	for _, w := range v.Warnings {
		ev.warn(g.violation(f, w))
	}
	ev.met.flawed = ev.met.flawed || len(g.Unusable)+len(g.Warnings) > 0
	if v.Status == Missing && f.HasDefault {
		if !v.Quiet {
			ev.reportFact(f, sentencef("%s: %s", f.Name, g.sentence()))
			ev.met.doubt = ev.met.doubt || !ev.here.rendering
		}
		v.Status, v.V, v.Problem, v.Unusable = OK, f.Default, "", nil
		g.defaulted, g.problem = true, sentence{}
	}
	if v.Status == OK {
		if f.Source.Argument == argumentPattern && v.Problem != "" {
			ev.met.gap, ev.met.doubt = &gap{sentencef("%s is not whole: %s", f.Name, g.problem), unusable}, ev.met.doubt || !ev.here.rendering
		}
		if list, ok := v.V.([]any); ok && len(list) == 0 && f.Source.Name == checklist {
			ev.met.gap = g.noBox(f)
		}
		return v.V, known
	}
	ev.last.why, ev.last.lack = public(f.Name+" is "+string(v.Status)), lackOf(v)
	if v.Status == Withheld {
		ev.last.why = public(f.Name)
	}
	if v.Problem != "" {
		ev.last.why = sentencef("%s: %s", ev.last.why, g.sentence())
	}
	return nil, unknown
}

// class returns the mask of the value. A source may return its arguments, except for a file; a model's answer is private
// where it could repeat them.
func (q *request) class(v *Value, t *tracing) *mask {
	f, model := q.fact, q.fact.Source.Value.Returns
	switch {
	case v.Private || q.private && !f.Source.File && !model:
		return hidden()
	case q.asked || q.private && model:
		return f.plan.private
	}
	return t.hides(f.plan.private)
}

// withheld reports whether a fact comes from a project that the user has not trusted: from its files, if the policy
// names no loop that covers them.
func (ev *evaluation) withheld(f *Fact, v *Value, args []string) bool {
	if ev.event.untrusted == "" || ev.program.head.loop != nil || !f.Source.inProject() || v.Status == Missing {
		return false
	}
	list, ok := v.V.([]any)
	return !strings.HasPrefix(cmp.Or(v.Path, args[0]), "~/") && (f.Source.Argument != argumentPattern || !ok || len(list) > 0)
}

// traceFact records a gathered fact.
func (ev *evaluation) traceFact(f *Fact, q *request) {
	g := ev.got(f)
	r := FactRead{
		Name: f.Name, Source: f.Source.Name, Status: g.Status, Path: masked(g.Path, g.masked).shown, Problem: g.problem.shown,
		Unusable: g.Status != OK && lackOf(&g.Value) == unusable, Defaulted: g.Status == Missing && f.HasDefault, Start: q.start, Took: q.took, Meta: g.Meta, Modified: g.ModTime.UTC(),
	}
	if g.masked {
		r.Meta, r.Modified = nil, time.Time{}
	}
	ev.verdict.Trace.Facts = append(ev.verdict.Trace.Facts, r)
}

// sentence returns what is wrong with a fact and where.
func (g *gathered) sentence() sentence {
	if g.Path == "" {
		return g.problem
	}
	return sentencef("%s %s", masked(g.Path, g.masked), g.problem)
}

// arguments evaluates the arguments of a fact. Most paths contain no names, so they are always the same.
func (ev *evaluation) arguments(q *request) (quiet bool) {
	plan := &q.fact.plan
	if q.args = plan.fixed; q.args != nil {
		return false
	}
	outer := ev.here.quoted // the fact may be gathered for a text
	ev.here.quoted = false
	defer func() { ev.here.quoted = outer }()
	q.args = make([]string, 0, len(plan.handed))
	for _, a := range plan.handed {
		if a.text == nil {
			value, problem, quiet := ev.argument(a.path)
			if problem.full != "" {
				q.args, q.private, q.problem = nil, ev.here.quoted, problem
				return quiet
			}
			q.args = append(q.args, value)
			continue
		}
		before := ev.here.quoted
		ev.here.quoted = false
		q.args = append(q.args, ev.render(a.text))
		if q.fact.Source.Value.Returns { // it is for a model, which sees private values anyway
			q.asked = q.asked || ev.here.quoted
			ev.here.quoted = false
		}
		ev.here.quoted = ev.here.quoted || before
	}
	q.private = ev.here.quoted
	return false
}

// violation returns what is wrong with a value of a fact: its file, its field, the value, and what to write. If a fact
// has several files, w names the one.
func (g *gathered) violation(f *Fact, w schema.Violation) sentence {
	text := public(w.Text())
	if g.mark.at(schema.SplitPointer(w.Pointer)) != nil {
		text.shown = "does not fit its schema"
	}
	field := f.Name
	for _, step := range schema.SplitPointer(w.Pointer) {
		if isIndex(step) {
			field += "[" + step + "]"
		} else {
			field += "." + step
		}
	}
	switch {
	case f.Source.Argument == argumentPattern:
		return sentencef("%s%s: %s", f.Name, w.Pointer, text)
	case g.Path == "":
		return sentencef("%s %s", field, text)
	case w.Line > 0:
		return sentencef("%s:%d:%d: %s %s", masked(g.Path, g.masked), w.Line, w.Col, field, text)
	}
	return sentencef("%s: %s %s", masked(g.Path, g.masked), field, text)
}

// unusable returns the value of a wrong type that an operand reads, or nil.
func (g *gathered) unusable(o *operand, a *access) *schema.Violation {
	for i := range g.Unusable {
		if a.spoilt(o.uses.props, schema.SplitPointer(g.Unusable[i].Pointer)) {
			return &g.Unusable[i]
		}
	}
	return nil
}

// name gets the value of one of ralph's names.
func (ev *evaluation) name(s *symbol) (any, truth) {
	switch {
	case s.info.Memory:
		return ev.loop(s.name), known
	case s.name == vocab.Now:
		return ev.event.now, known
	}
	v := called(ev.meter.ctx, ev.facts.Name(ev.meter.ctx, s.name))
	if s.name == vocab.SessionElapsed && (v == nil || v == time.Duration(0)) { // the session file has no time
		v = since(ev.verdict.Memory.Began, ev.event.now)
	}
	switch v := v.(type) {
	case nil:
		return s.info.zero, known
	case error:
		ev.last.why, ev.last.lack = sentencef("%s: %s", s.name, masked(v.Error(), ev.trace.hides(s.info.mark) != nil)), unusable
		return nil, unknown
	}
	v, problem := s.info.take(v, &ev.meter)
	if ev.trace.full() {
		v = ev.noted(s.name, v)
	}
	if ask, ok := v.(func(string) bool); ok && len(ev.program.origin.allow)+len(ev.event.allow) > 0 && asksPaths(s.name) {
		v = func(path string) bool { return ev.allowsPath(path) && ask(path) }
	}
	if problem != "" {
		ev.last.why = sentencef("%s %s", s.name, masked(problem, ev.trace.hides(s.info.mark) != nil))
		return nil, broken
	}
	return v, known
}

// asked returns the value of missing(f) and similar, once the fact is gathered.
func (ev *evaluation) asked(s *symbol) (any, *mask) {
	v := ev.got(s.fact)
	switch s.ask {
	case "missing":
		return v.Status == Missing, nil
	case "invalid":
		return v.Status == Invalid, nil
	case "ok":
		return v.Status == OK, nil
	case "problem":
		return v.Problem, secret(v.problem.private())
	case "path":
		return v.Path, secret(v.masked)
	}
	if v.ModTime.IsZero() {
		return time.Duration(0), nil
	}
	return max(0, ev.event.now.Sub(v.ModTime)), nil
}
