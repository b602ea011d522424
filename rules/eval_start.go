package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/schema"
)

// StartFile is a file with which a loop starts.
type StartFile struct {
	Fact  *Fact
	Path  string   // from the root of the project
	Value any      // a string, or an object
	Keys  []string // the fields of the object, in order: the policy's, then those with a default
	Body  string   // the text below front matter

	// Misfit is what does not fit the fact's schema, and Given the names after "start." that caused it. They are set
	// only in the last file, and only with an error of [Program.Start].
	Misfit *schema.Violation
	Given  []string
}

// Start returns the files with which a loop of the policy starts, rendered from top to bottom: each sees the facts as
// set by the files above it. given has the values of start.NAME; a value whose placeholder reads a missing one is
// omitted. Any other missing value is an error, and so is a file that does not fit its schema, which is then the last
// one; on an error, write nothing. Like Eval, Start asks f for what it needs and changes nothing.
func (p *Program) Start(ctx context.Context, f Facts, o Options, given map[string]any) (files []StartFile, err error) {
	v := p.eval(ctx, starting{f, given}, &o, func(ev *evaluation) {
		if ev.complete() {
			files, err = ev.begin(given)
		}
	})
	switch {
	case err != nil:
		return files, err
	case v.Cause != "":
		return nil, fmt.Errorf("%s", v.Reason)
	}
	return files, nil
}

// starting wraps facts with the values of start.NAME.
type starting struct {
	Facts
	given map[string]any
}

func (s starting) Name(ctx context.Context, name string) any {
	if member, ok := strings.CutPrefix(name, "start."); ok {
		return s.given[member]
	}
	return s.Facts.Name(ctx, name)
}

// begin renders the files of a loop's start.
func (ev *evaluation) begin(given map[string]any) ([]StartFile, error) {
	l := ev.program.head.loop
	if l == nil || len(l.start) == 0 {
		return nil, fmt.Errorf("the policy does not define how its loop starts: it has no loop.start")
	}
	var files []StartFile
	unnamed := false // a file that the argument names is missing
	for _, s := range l.start {
		value, ok, err := ev.fill(s.value, func(t *text) (any, bool, error) { return ev.startText(t, given) })
		if err != nil && unnamed {
			return nil, fmt.Errorf("%s has no current %s; run `%s`", ev.called(), l.info.Word, ev.startLine(true))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.fact.Name, err)
		}
		if !ok {
			ev.need(s.fact.plan.sym)
			unnamed = unnamed || slices.Contains(ev.startNames(s.value, ""), l.info.Argument) && ev.got(s.fact).noFile()
			continue
		}
		q := request{fact: s.fact}
		if ev.arguments(&q); q.problem.full != "" {
			return nil, fmt.Errorf("%s has no file to write: %s", s.fact.Name, q.problem.full)
		}
		file := StartFile{Fact: s.fact, Path: q.args[0], Value: value}
		if fields, ok := value.(map[string]any); ok {
			if err := file.complete(fields, s.value.names); err != nil {
				file.Given = ev.startNames(s.value, file.Misfit.Pointer)
				return append(files, file), err
			}
		} else if strings.TrimSpace(display(value)) == "" {
			return nil, fmt.Errorf("%s has no value to write to %s", s.fact.Name, file.Path)
		} else {
			file.Value = display(value)
		}
		files = append(files, file)
		ev.write(&file)
	}
	return files, nil
}

// complete adds fields that have a default, and validates the object.
func (f *StartFile) complete(fields map[string]any, order []string) error {
	if body, ok := fields["body"]; ok && f.Fact.Source.Value.Body {
		f.Body = display(body)
		delete(fields, "body")
	}
	for _, name := range order {
		if _, ok := fields[name]; ok {
			f.Keys = append(f.Keys, name)
		}
	}
	s := f.Fact.Schema
	if s == nil {
		f.Value = fields
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
		if _, ok := fields[name]; !ok && s.Fields[name].HasDefault && s.Fields[name].Default != nil {
			fields[name] = s.Fields[name].Default
			f.Keys = append(f.Keys, name)
		}
	}
	r := s.Check(schema.Document{Value: fields})
	if f.Misfit = wrongIn(r); f.Misfit != nil {
		return fmt.Errorf("%s%s: %s", f.Fact.Name, f.Misfit.Pointer, f.Misfit.Text())
	}
	f.Value = fields
	return nil
}

// write sets a fact to what a file will contain.
func (ev *evaluation) write(f *StartFile) {
	r := cmp.Or(f.Fact.Schema, &schema.Schema{}).Check(schema.Document{Value: f.Value})
	got := Value{V: r.Value, Path: f.Path, Unusable: r.Unusable, Warnings: r.Warnings}
	if fields, ok := got.V.(map[string]any); ok && f.Fact.Source.Value.Body {
		fields["body"] = f.Body
	}
	at := ev.need(f.Fact.plan.sym) // so that it has a slot
	mark := ev.trace.hides(f.Fact.plan.private)
	*ev.got(f.Fact) = gathered{Value: got, mark: mark}
	*at = slot{seen: true, value: got.V, mark: mark}
	for _, s := range ev.program.machine.table.all() { // drop what was read before the file was written
		if s.slot < len(ev.slots) && (s.kind == letSymbol || s.kind == askSymbol || s.kind == factSymbol && s.fact != f.Fact && len(s.fact.plan.fixed) == 0 && !ev.written(s.fact, f)) {
			ev.slots[s.slot] = slot{}
		}
	}
}

// written reports whether the policy writes a fact at or above a file of its start.
func (ev *evaluation) written(fact *Fact, f *StartFile) bool {
	for _, s := range ev.program.head.loop.start {
		if s.fact == fact {
			return true
		}
		if s.fact == f.Fact {
			break
		}
	}
	return false
}

// startText renders a string. A single placeholder keeps the type of its value.
func (ev *evaluation) startText(t *text, given map[string]any) (value any, ok bool, err error) {
	segs := ev.program.compiled(t)[0].segs
	var b strings.Builder
	for i := range segs {
		s := &segs[i]
		if s.placeholder == nil {
			if s.broken {
				return nil, false, fmt.Errorf("the placeholder ${%s} cannot be compiled", s.src)
			}
			b.WriteString(s.literal)
			continue
		}
		missing := slices.ContainsFunc(startNamesOf(s.placeholder), func(name string) bool { _, has := given[name]; return !has })
		if missing {
			return nil, false, nil
		}
		v, state := ev.value(s.placeholder)
		if state != known || v == nil {
			why := ev.last.why.full
			if state == known {
				why = "it is empty"
			}
			return nil, false, fmt.Errorf("the placeholder ${%s} has no value: %s", s.src, why)
		}
		if len(segs) == 1 {
			value, problem := storable(nil, v)
			if problem != "" {
				return nil, false, fmt.Errorf("the placeholder ${%s} %s", s.src, problem)
			}
			return value, true, nil
		}
		b.WriteString(display(v))
	}
	return b.String(), true, nil
}

// startNames returns the names after "start." in a value, or in its field at pointer.
func (ev *evaluation) startNames(v *template, pointer string) (names []string) {
	if v.text != nil {
		for _, seg := range ev.program.compiled(v.text)[0].segs {
			if seg.placeholder != nil {
				names = append(names, startNamesOf(seg.placeholder)...)
			}
		}
	}
	for i := range v.items {
		if v.names == nil || pointer == "" || schema.PointerOf([]any{v.names[i]}) == pointer {
			names = append(names, ev.startNames(v.items[i], "")...)
		}
	}
	return names
}

// startNamesOf returns the names after "start." in a placeholder.
func startNamesOf(placeholder *cond) (names []string) {
	placeholder.walk(func(o *operand) {
		for _, sym := range o.uses.syms {
			if member, ok := strings.CutPrefix(sym.name, "start."); ok && sym.kind == nameSymbol {
				names = append(names, member)
			}
		}
	})
	return names
}
