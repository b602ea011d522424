package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/next/schema"
)

// gathered is what was found of a name.
type gathered struct {
	state    truth
	value    any
	why      error // it is not known
	problems schema.Problems
	found    Found
	given    bool // by the program, as a Go value whose type is not checked
	file     bool // there is a file
}

// problem says why a fact is not ok, or what of it cannot be used.
func (g *gathered) problem() string {
	switch {
	case g.found.Problem != "":
		return g.found.Problem
	case g.state > yes:
		return g.why.Error()
	}
	var lines []string
	for _, p := range g.problems {
		lines = append(lines, problemText(p))
	}
	return strings.Join(lines, "\n")
}

func problemText(p schema.Problem) string {
	return strings.TrimSpace(strings.Join(p.Path, ".") + " " + p.Message)
}

// fact returns what was found of a fact by its name.
func (e *evaluation) fact(name string) *gathered { return e.get(e.p.compiler.symbols[name]) }

// get finds what a name stands for, once.
func (e *evaluation) get(s *symbol) *gathered {
	if g := e.got[s.id]; g != nil {
		return g
	}
	g := &gathered{state: failed, why: fmt.Errorf("%s depends on itself", s.name)}
	e.got[s.id] = g
	switch s.meaning {
	case constant:
		*g = gathered{state: yes, value: s.value}
	case function:
		*g = gathered{state: yes, value: s.bind(e)}
	case textName:
		*g = gathered{state: yes, value: e.text}
	case letName:
		r := e.value(s.let)
		*g = gathered{state: r.state, value: r.value, why: r.why}
	case ralphName:
		v, err := e.ralphName(s)
		*g = gathered{state: yes, value: v}
		if err != nil {
			*g = gathered{state: failed, why: fmt.Errorf("%s: %w", s.name, err)}
		}
	default:
		e.outside(s, g)
	}
	if g.state == yes {
		e.env[s.name] = g.value
	}
	return g
}

// ralphName finds one of ralph's names.
func (e *evaluation) ralphName(s *symbol) (v any, err error) {
	v, given := e.in.Values[s.name]
	switch {
	case s.name == "loop":
		m := e.counts()
		elapsed := time.Duration(0)
		if !m.Since.IsZero() {
			elapsed = e.in.Now.Sub(m.Since)
		}
		return map[string]any{"continuations": m.Continuations, "repeats": m.Repeats, "elapsed": elapsed, "total": e.in.Total}, nil
	case !given && e.in.World != nil:
		v, err = e.in.World.Name(e.ctx, s.name)
	}
	if v == nil || err != nil {
		return s.value, err
	}
	if got, zero := reflect.TypeOf(v).Kind(), reflect.TypeOf(s.value).Kind(); got != zero {
		return nil, fmt.Errorf("it must be %s, and is %s", typeWord(zero.String()), kindOf(v))
	}
	if fields, ok := v.(map[string]any); ok {
		v = merged(s.value.(map[string]any), fields)
	}
	return v, nil
}

// outside finds a value of the program, or gathers a fact.
func (e *evaluation) outside(s *symbol, g *gathered) {
	v, given := e.in.Values[s.name]
	switch f := s.fact; {
	case given:
		e.given(s, g, v)
	case f != nil && f.Source != "value":
		e.gather(f, g)
	case f != nil && f.defaults:
		*g = gathered{state: missing}
	default:
		*g = gathered{state: e.mistake(s.name, "is not given"), why: e.wrong}
	}
	if s.fact != nil {
		e.settle(s.fact, g)
	}
}

// given takes a value of the program as it is, but for JSON, which is decoded and validated, and for a struct that no WithValues declared,
// which is read as its JSON.
func (e *evaluation) given(s *symbol, g *gathered, v any) {
	*g = gathered{state: yes, value: v, given: s.goType == nil}
	var err error
	switch {
	case v == nil:
		*g = gathered{state: missing, why: fmt.Errorf("%s: nothing is given", s.name)}
	case s.goType != nil:
		if reflect.TypeOf(v) != s.goType {
			*g = gathered{state: e.mistake(s.name, fmt.Sprintf("must be of type %s, and is of type %T", s.goType, v)), why: e.wrong}
		}
	case isJSON(v):
		*g = gathered{state: yes, found: Found{Status: OK}}
		if g.found.Value, err = schema.ParseJSON(reflect.ValueOf(v).Bytes()); err != nil {
			*g = gathered{state: failed, why: fmt.Errorf("%s: %w", s.name, err)}
		}
	case isForeign(reflect.TypeOf(v)):
		b, err := json.Marshal(v)
		if err == nil {
			g.value, err = schema.ParseJSON(b)
		}
		if err != nil {
			*g = gathered{state: e.mistake(s.name, "cannot be read as JSON: "+err.Error()), why: e.wrong}
		}
	}
	if g.state == yes && g.given && s.fact != nil {
		g.value = s.fact.Schema.Complete(g.value)
	}
}

// gather asks the world for a fact.
func (e *evaluation) gather(f *Fact, g *gathered) {
	q := Query{Fact: f, Usable: func(v any) error {
		if f.Parse == "" {
			_, problems := f.Schema.Read(v)
			if whole, ok := problems.Whole(); ok {
				return errors.New(whole.Message)
			}
		}
		return nil
	}}
	if state, err := e.arguments(f, &q); state != yes {
		*g = gathered{state: state, why: fmt.Errorf("%s: %w", f.Name, err)}
		return
	}
	var found Found
	if e.in.World != nil {
		found = e.in.World.Fact(e.ctx, q)
	}
	if found.Path == "" && f.OnePath {
		found.Path = q.Args[0]
	}
	*g = gathered{state: yes, found: found, file: f.OnePath && found.Status == OK}
	if found.Status == OK {
		return
	}
	err := found.Err
	if err == nil {
		err = errors.New(found.Problem)
	}
	if found.Status == Invalid {
		g.state, g.why = failed, fmt.Errorf("%s (%s) cannot be used: %w", f.Name, found.Path, err)
	} else {
		g.state, g.why = missing, fmt.Errorf("%s (%s) is missing: %w", f.Name, found.Path, err)
	}
}

// settle applies the schema and the default of a fact to what was found.
func (e *evaluation) settle(f *Fact, g *gathered) {
	if g.state == yes && g.found.Status == OK {
		g.value = g.found.Value
		if f.Parse != "" {
			e.elements(f, g)
		} else {
			g.value, g.problems = f.Schema.Read(g.value)
		}
		if whole, ok := g.problems.Whole(); ok {
			g.state, g.why, g.found.Problem = failed, fmt.Errorf("%s: %s", f.Name, whole.Message), whole.Message
		} else if g.value == nil || f.Source == "text" && g.value == "" {
			g.state, g.why = missing, fmt.Errorf("%s is empty", f.Name)
		}
	}
	if g.state == missing && f.defaults {
		g.state, g.value, g.found.Problem = yes, f.fallback, ""
	}
}

// elements applies the schema to the files of a glob one by one, and leaves out those that break it.
func (e *evaluation) elements(f *Fact, g *gathered) {
	list, _ := g.value.([]any)
	out := make([]any, 0, len(list))
	for _, x := range list {
		file, _ := x.(map[string]any)
		value, problems := f.Schema.Read(file["value"])
		if len(problems) == 0 {
			out = append(out, map[string]any{"path": file["path"], "value": value})
			continue
		}
		g.found.Problem = strings.TrimSpace(fmt.Sprintf("%s\n%s: %s", g.found.Problem, show(file["path"]), problemText(problems[0])))
	}
	g.value = out
	if g.found.Problem != "" && e.doubt == nil {
		e.doubt = fmt.Errorf("%s leaves files out: %s", f.Name, g.found.Problem)
	}
}
