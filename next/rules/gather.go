package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/schema"
)

// gathered is what was found of a name.
type gathered struct {
	state    truth
	value    any
	why      error // it is not known
	problems schema.Problems
	found    Found
	given    bool // by the program, as a Go value
	file     bool // there is a file
}

// problem says why a fact is not ok, or what of it cannot be used.
func (g *gathered) problem() string {
	switch {
	case g.found.Problem != "":
		return g.found.Problem
	case g.state != yes && g.why != nil:
		return g.why.Error()
	}
	var lines []string
	for _, p := range g.problems {
		lines = append(lines, problemText(p))
	}
	return strings.Join(lines, "\n")
}

func problemText(p schema.Problem) string {
	if len(p.Path) == 0 {
		return p.Message
	}
	return strings.Join(p.Path, ".") + " " + p.Message
}

// get finds what a name stands for, once.
func (e *evaluation) get(s *symbol) *gathered {
	if g := e.got[s.id]; g != nil {
		return g
	}
	g := &gathered{state: failed, why: fmt.Errorf("%s: %w", s.name, errItself)}
	e.got[s.id] = g
	switch s.meaning {
	case paramName:
		*g = gathered{state: yes, value: s.value}
	case letName:
		r := e.value(s.let)
		*g = gathered{state: r.state, value: r.value, why: r.why}
	case ralphName:
		e.ralphName(s, g)
	case textName:
		*g = gathered{state: yes, value: e.text}
	default:
		e.outside(s, g)
	}
	if g.state == yes {
		e.env[s.name] = g.value
	}
	return g
}

// ralphName finds one of ralph's names.
func (e *evaluation) ralphName(s *symbol, g *gathered) {
	v, ok := e.in.Values[s.name]
	switch {
	case s == e.p.clock:
		v = e.loopName(g)
	case !ok && e.in.World != nil:
		var err error
		if v, err = e.in.World.Name(e.ctx, s.name); err != nil {
			*g = gathered{state: failed, why: fmt.Errorf("%s: %w", s.name, err)}
			return
		}
	}
	if v == nil {
		v = s.zero
	}
	if got, zero := reflect.TypeOf(v).Kind(), reflect.TypeOf(s.zero).Kind(); got != zero {
		*g = gathered{state: failed, why: fmt.Errorf("%s must be %s, and is %s", s.name, typeWord(zero.String()), kindOf(v))}
		return
	}
	if fields, ok := v.(map[string]any); ok {
		v = merged(s.zero.(map[string]any), fields)
	}
	*g = gathered{state: yes, value: v}
}

// loopName is the counts before this decision. It knows whether progress has changed since.
func (e *evaluation) loopName(g *gathered) any {
	m := e.counts()
	elapsed := time.Duration(0)
	if !m.Since.IsZero() {
		elapsed = e.in.Now.Sub(m.Since)
	}
	return map[string]any{"continuations": m.Continuations, "repeats": m.Repeats, "elapsed": elapsed, "total": e.in.Total}
}

// outside finds a value of the program, or gathers a fact.
func (e *evaluation) outside(s *symbol, g *gathered) {
	v, given := e.in.Values[s.name]
	switch {
	case given:
		e.given(s, g, v)
	case s.meaning == givenName, s.fact.Source == "value" && !s.fact.defaults:
		e.mistake(s.name, "is not given")
		*g = gathered{state: failed, why: e.wrong}
	case s.fact.Source == "value":
		*g = gathered{state: missing}
	default:
		e.gather(s.fact, g)
	}
	if f := s.fact; f != nil {
		e.settle(f, g)
	}
}

// given takes a value of the program as it is, but for JSON, which is decoded and validated, and for a struct that no WithValues declared,
// which is read as its JSON.
func (e *evaluation) given(s *symbol, g *gathered, v any) {
	*g = gathered{state: yes, value: v, given: true}
	switch {
	case v == nil:
		*g = gathered{state: missing, why: fmt.Errorf("%s: nothing is given", s.name)}
	case s.goType != nil && reflect.TypeOf(v) == s.goType:
		g.given = false // its type is checked already
	case s.goType != nil:
		e.mistake(s.name, fmt.Sprintf("must be of type %s, and is of type %T", s.goType, v))
		*g = gathered{state: failed, why: e.wrong}
	case isJSON(v):
		b := reflect.ValueOf(v).Bytes()
		decoded, err := schema.ParseJSON(b)
		if err != nil {
			*g = gathered{state: failed, why: fmt.Errorf("%s: %w", s.name, err)}
			return
		}
		*g = gathered{state: yes, found: Found{Status: OK, Value: decoded}}
	case isForeign(reflect.TypeOf(v)):
		b, err := json.Marshal(v)
		if err == nil {
			g.value, err = schema.ParseJSON(b)
		}
		if err != nil {
			e.mistake(s.name, "cannot be read as JSON: "+err.Error())
			*g = gathered{state: failed, why: e.wrong}
		}
	}
	if g.state == yes && g.given && s.fact != nil && s.fact.Schema != nil && s.fact.Parse == "" {
		g.value = s.fact.Schema.Complete(g.value)
	}
}

// gather asks the world for a fact.
func (e *evaluation) gather(f *Fact, g *gathered) {
	q := Query{Fact: f, Usable: func(v any) error { return usable(f, v) }}
	state, err := e.arguments(f, &q)
	if state != yes {
		*g = gathered{state: state, why: fmt.Errorf("%s: %w", f.Name, err)}
		if f.OnePath && len(q.Args) > 0 {
			g.found.Path = q.Args[0]
		}
		return
	}
	found := Found{}
	if e.in.World != nil {
		found = e.in.World.Fact(e.ctx, q)
	}
	if found.Path == "" && f.OnePath {
		found.Path = q.Args[0]
	}
	*g = gathered{found: found}
	switch found.Status {
	case OK:
		g.state, g.file = yes, f.OnePath
	case Invalid:
		g.state, g.why = failed, lackOf(f, found, "cannot be used")
	default:
		g.state, g.why = missing, lackOf(f, found, "is missing")
	}
}

// lackOf says why a fact has no value.
func lackOf(f *Fact, found Found, short string) error {
	at := ""
	if found.Path != "" {
		at = " (" + found.Path + ")"
	}
	switch {
	case found.Err != nil && found.Problem != "":
		return &factError{fmt.Sprintf("%s%s: %s", f.Name, at, found.Problem), found.Err}
	case found.Err != nil:
		return fmt.Errorf("%s%s: %w", f.Name, at, found.Err)
	case found.Problem != "":
		return fmt.Errorf("%s%s: %s", f.Name, at, found.Problem)
	}
	return fmt.Errorf("%s%s %s", f.Name, at, short)
}

type factError struct {
	message string
	err     error
}

func (e *factError) Error() string { return e.message }
func (e *factError) Unwrap() error { return e.err }

var errEmpty = errors.New("the text is empty")

// settle applies the schema and the default of a fact to what was found.
func (e *evaluation) settle(f *Fact, g *gathered) {
	if g.state == yes && !g.given && g.found.Status == OK {
		g.value = g.found.Value
		switch {
		case f.Source == "text" && g.value == "":
			g.state, g.why = missing, fmt.Errorf("%s: %w", f.Name, errEmpty)
		case f.Parse != "":
			e.elements(f, g)
		default:
			g.value, g.problems = f.Schema.Read(g.value)
			if whole, ok := g.problems.Whole(); ok {
				g.state, g.why = failed, fmt.Errorf("%s: %s", f.Name, whole.Message)
				g.found.Problem = whole.Message
			}
		}
		if g.state == yes && g.value == nil {
			g.state, g.why = missing, fmt.Errorf("%s is null", f.Name)
		}
	}
	if g.state == missing && f.defaults {
		g.state, g.value, g.why = yes, f.fallback, nil
		g.found.Problem = ""
	}
}

// elements applies the schema to the files of a glob one by one, and leaves out those that break it.
func (e *evaluation) elements(f *Fact, g *gathered) {
	list, _ := g.value.([]any)
	out := make([]any, 0, len(list))
	for _, x := range list {
		file, ok := x.(map[string]any)
		if !ok {
			continue
		}
		value, problems := f.Schema.Read(file["value"])
		if len(problems) > 0 {
			line := fmt.Sprintf("%s: %s", show(file["path"]), problemText(problems[0]))
			g.found.Problem = strings.TrimPrefix(g.found.Problem+"\n"+line, "\n")
			continue
		}
		out = append(out, map[string]any{"path": file["path"], "value": value})
	}
	g.value = out
	if g.found.Problem != "" && e.doubt == nil {
		e.doubt = fmt.Errorf("%s leaves files out: %s", f.Name, text.Line(g.found.Problem))
	}
}

// usable reports why the value of a fact cannot be used at all.
func usable(f *Fact, v any) error {
	if f.Schema == nil || f.Parse != "" {
		return nil
	}
	if _, problems := f.Schema.Read(v); len(problems) > 0 {
		if whole, ok := problems.Whole(); ok {
			return errors.New(whole.Message)
		}
	}
	return nil
}
