package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// gathered is what an evaluation got for one fact.
type gathered struct {
	Value
	defaulted bool               // it is missing, and its default stands in
	clamped   []schema.Violation // numbers of it that count as others; each is reported when it is read
}

// fact gives a fact's value, gathering it if need be.
func (ev *evaluation) fact(f *Fact) *gathered {
	ev.need(f.sym)
	return &ev.gotten[f.index]
}

// gather asks the world for a fact. need sees to it that this happens once.
func (ev *evaluation) gather(f *Fact) (any, truth) {
	v := &ev.gotten[f.index].Value
	var start time.Duration
	if ev.full() {
		start = time.Since(ev.start)
	}
	if args, problem, quiet := ev.arguments(f); problem == "" {
		*v = ev.facts.Fact(ev.ctx, f, args)
		ev.meter.look = 0 // it may have taken long
		ev.meter.charge(1, 0)
	} else {
		*v = Value{Status: Missing, Problem: problem, Quiet: quiet}
	}
	if f.Source.Private && ev.opts.Trace != TraceClear {
		v.Unusable, v.Warnings = unquoted(v.Unusable), unquoted(v.Warnings)
	}
	if ev.full() {
		ev.verdict.Trace.Facts = append(ev.verdict.Trace.Facts, FactRead{
			Name: f.Name, Source: f.Source.Name, Status: v.Status, Path: v.Path, Problem: v.Problem,
			Defaulted: v.Status == Missing && f.HasDefault, Start: start, Took: time.Since(ev.start) - start, Meta: v.Meta,
		})
	}
	for _, w := range v.Warnings {
		if w.Clamped {
			ev.gotten[f.index].clamped = append(ev.gotten[f.index].clamped, w)
			continue
		}
		ev.warn(violation(f.Name, f, v, w))
	}
	if v.Status == Missing && f.HasDefault {
		if !v.Quiet {
			ev.report(f.Name + ": " + v.sentence())
		}
		v.Status, v.V, v.Problem, v.Unusable = OK, f.Default, "", nil
		ev.gotten[f.index].defaulted = true
	}
	if v.Status == OK {
		return v.V, known
	}
	ev.why = f.Name + " is " + v.Status.String()
	if v.Problem != "" {
		ev.why += ": " + v.sentence()
	}
	return nil, unknown
}

// unquoted leaves out of violations what they quote of a value.
func unquoted(all []schema.Violation) []schema.Violation {
	all = slices.Clone(all)
	for i := range all {
		if !all[i].Clamped { // that says only what the number counts as
			all[i].Message = "does not fit its schema"
		}
	}
	return all
}

// arguments evaluates what a fact's source is handed. Most paths hold no names, so
// they are the same every time.
func (ev *evaluation) arguments(f *Fact) (args []string, problem string, quiet bool) {
	if f.fixed != nil {
		return f.fixed, "", false
	}
	args = make([]string, 0, len(f.args)+len(f.texts)+1)
	if f.question != nil {
		args = append(args, ev.render(f.question))
	}
	for _, a := range f.args {
		text, problem, quiet := ev.argument(a)
		if problem != "" {
			return nil, problem, quiet
		}
		args = append(args, text)
	}
	for _, o := range f.texts {
		if o.text != nil {
			args = append(args, ev.render(o.text))
			continue
		}
		text, problem, quiet := ev.argument(o.arg)
		if problem != "" {
			return nil, problem, quiet
		}
		args = append(args, text)
	}
	return args, "", false
}

// violation says what is wrong with a value of a fact, and where. Where a fact has many files, w names the one.
func violation(name string, f *Fact, v *Value, w schema.Violation) string {
	file, at := v.Path, ""
	if f.Source.Glob {
		file = ""
	}
	switch {
	case w.Line > 0 && file != "":
		at = fmt.Sprintf(" at %s:%d:%d", file, w.Line, w.Col)
	case w.Line > 0:
		at = fmt.Sprintf(" at %d:%d", w.Line, w.Col)
	case file != "":
		at = " in " + file
	}
	return fmt.Sprintf("%s%s%s: %s", name, w.Pointer, at, w.Text())
}

// unusable says why an operand may not read what it reads, or "".
func (ev *evaluation) unusable(o *operand, a *access) string {
	g := &ev.gotten[a.fact.fact.index]
	for _, u := range g.Unusable {
		if a.spoilt(o.props, schema.SplitPointer(u.Pointer)) {
			return violation(a.fact.name, a.fact.fact, &g.Value, u)
		}
	}
	return ""
}

// reportClamped reports that an operand reads a number that is not the one in the file.
func (ev *evaluation) reportClamped(o *operand, a *access) {
	g := &ev.gotten[a.fact.fact.index]
	for _, w := range g.clamped {
		if a.spoilt(o.props, schema.SplitPointer(w.Pointer)) {
			ev.report(violation(a.fact.name, a.fact.fact, &g.Value, w))
		}
	}
}

// name asks the world for one of ralph's names.
func (ev *evaluation) name(s *symbol) (any, truth) {
	switch {
	case s.info.askRow:
		return ev.loop(s.name), known
	case s.name == "now":
		return ev.opts.Time, known
	}
	v := ev.facts.Name(ev.ctx, s.name)
	if v == nil {
		return s.info.zero(), known
	}
	v, problem := s.info.take(v, &ev.meter)
	if ask, ok := v.(func(string) bool); ok && ev.program.allow != nil && asksPaths(s.name) {
		v = func(path string) bool { return ev.program.allowsPath(path) && ask(path) }
	}
	if problem != "" {
		ev.why = s.name + " " + problem
		return nil, broken
	}
	return v, known
}

// asked answers missing(f) and its like.
func (ev *evaluation) asked(s *symbol) any {
	v := ev.fact(s.fact)
	switch s.ask {
	case "missing":
		return v.Status == Missing
	case "invalid":
		return v.Status == Invalid
	case "ok":
		return v.Status == OK
	case "problem":
		return v.Problem
	case "path":
		return v.Path
	}
	if v.ModTime.IsZero() {
		return time.Duration(0)
	}
	ev.need(s.now)
	now, _ := ev.slots[s.now.slot].value.(time.Time)
	return max(0, now.Sub(v.ModTime))
}
