package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// gathered is what was found of a name.
type gathered struct {
	state    truth
	given    bool // by the program, as a Go value whose type is not checked
	complete bool // the defaults are filled in
	file     bool // there is a file
	value    any
	why      error // it is not known
	problems schema.Problems
	found    *Found // of a fact, else noFound
}

var (
	noFound   = &Found{}
	errItself = errors.New("a name depends on itself")
)

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

// take sets the value, or why there is none.
func (g *gathered) take(t truth, v any, why error) { g.state, g.value, g.why = t, v, why }

func problemText(p schema.Problem) string {
	return strings.TrimSpace(strings.Join(p.Path, ".") + " " + p.Message)
}

// fact returns what was found of a fact by its name.
func (e *evaluation) fact(name string) *gathered {
	i := slices.IndexFunc(e.p.Facts, func(f *Fact) bool { return f.Name == name })
	return e.get(e.p.Facts[i].symbol)
}

// known returns what was found of a name, nil if it was not needed yet.
func (e *evaluation) known(s *symbol) *gathered {
	for len(e.got) <= s.id { // a lazy policy has found new names
		e.got = append(e.got, nil)
	}
	return e.got[s.id]
}

// get finds what a name stands for, once.
func (e *evaluation) get(s *symbol) *gathered {
	if g := e.known(s); g != nil {
		return g
	}
	g := &gathered{state: failed, why: errItself, found: noFound}
	e.got[s.id] = g
	switch s.meaning {
	case constant:
		g.take(yes, s.value, nil)
	case function:
		g.take(yes, s.bind(e), nil)
	case textName:
		g.take(yes, e.text, nil)
	case letName:
		r := e.value(s.let)
		g.take(r.state, r.value, r.why)
	case ralphName:
		if v, err := e.ralphName(s); err == nil {
			g.take(yes, v, nil)
		} else {
			g.take(failed, nil, fmt.Errorf("%s: %w", s.name, err))
		}
	default:
		e.outside(s, g)
	}
	return g
}

// ralphName finds one of ralph's names.
func (e *evaluation) ralphName(s *symbol) (v any, err error) {
	v, given := e.in.Values[s.name]
	switch {
	case s.name == "loop":
		m, elapsed := &e.in.Memory, time.Duration(0)
		if !m.Since.IsZero() {
			elapsed = e.in.Now.Sub(m.Since)
		}
		return map[string]any{"continuations": m.Continuations, "repeats": e.repeats(), "elapsed": elapsed, "total": e.in.Total}, nil
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
		g.take(missing, nil, nil)
	default:
		g.take(failed, nil, e.mistake(s.name, "is not given"))
	}
	if s.fact != nil {
		e.settle(s.fact, g)
	}
}

// given takes a value of the program as it is, but for JSON, which is decoded and validated, and for a struct that no Options.Values declared,
// which is read as its JSON.
func (e *evaluation) given(s *symbol, g *gathered, v any) {
	var err error
	switch t := reflect.TypeOf(v); {
	case v == nil:
		g.take(missing, nil, fmt.Errorf("%s: nothing is given", s.name))
	case s.goType != nil && t != s.goType:
		g.take(failed, nil, e.mistake(s.name, fmt.Sprintf("must be of type %s, and is of type %T", s.goType, v)))
	case s.goType != nil:
		g.take(yes, v, nil)
	case isJSON(v):
		g.found = &Found{OK: true}
		if g.found.Value, err = schema.ParseJSON(reflect.ValueOf(v).Bytes()); err != nil {
			g.take(failed, nil, fmt.Errorf("%s: %w", s.name, err))
		} else {
			g.take(yes, nil, nil)
		}
	case isForeign(t):
		b, err := json.Marshal(v)
		if err == nil {
			v, err = schema.ParseJSON(b)
		}
		if err != nil {
			g.take(failed, nil, e.mistake(s.name, "cannot be read as JSON: "+err.Error()))
			return
		}
		fallthrough
	default:
		g.take(yes, v, nil)
		g.given = true
	}
}

// gather asks the world for a fact.
func (e *evaluation) gather(f *Fact, g *gathered) {
	q := Query{Fact: f, Usable: func(v any) error {
		_, problems := f.read(v)
		if whole, ok := problems.Whole(); ok {
			return errors.New(whole.Message)
		}
		return nil
	}}
	if state, err := e.arguments(f, &q); state != yes {
		g.take(state, nil, fmt.Errorf("%s: %w", f.Name, err))
		return
	}
	found := Found{}
	if e.in.World != nil {
		found = e.in.World.Fact(e.ctx, q)
	}
	if found.Path == "" && f.OnePath {
		found.Path = q.Args[0]
	}
	g.found, g.file = &found, f.OnePath && found.OK
	what := strings.TrimSpace(f.Name + " " + strings.TrimSuffix("("+found.Path+")", "()"))
	switch {
	case found.OK:
		g.take(yes, nil, nil)
	case found.Err != nil:
		found.Problem = found.Err.Error()
		g.take(failed, nil, fmt.Errorf("%s cannot be used: %w", what, found.Err))
	case found.Problem != "":
		g.take(missing, nil, fmt.Errorf("%s is missing: %s", what, found.Problem))
	default:
		g.take(missing, nil, fmt.Errorf("%s is missing", what))
	}
}

// settle applies the schema and the default of a fact to what was found.
func (e *evaluation) settle(f *Fact, g *gathered) {
	if g.state == yes && g.found.OK {
		g.value = g.found.Value
		if f.Parse != "" {
			e.elements(f, g)
		} else {
			g.value, g.problems = f.read(g.value)
		}
		g.found.Value = g.value
		if whole, ok := g.problems.Whole(); ok {
			g.take(failed, nil, fmt.Errorf("%s: %s", f.Name, whole.Message))
			g.found.Problem = whole.Message
		} else if g.value == nil || f.Source == "text" && g.value == "" {
			g.take(missing, nil, fmt.Errorf("%s is empty", f.Name))
		} else if g.found.Problem != "" && e.doubt == nil {
			e.doubt = fmt.Errorf("%s leaves files out: %s", f.Name, g.found.Problem)
		}
	}
	if g.state == missing && f.defaults {
		g.take(yes, f.fallback, nil)
		at := *g.found
		at.Problem = ""
		g.found = &at
	}
}

// elements applies the schema to the files of a glob one by one, and leaves out those that break it.
func (e *evaluation) elements(f *Fact, g *gathered) {
	list, _ := g.value.([]any)
	out := make([]any, 0, len(list))
	for _, x := range list {
		file, _ := x.(map[string]any)
		value, problems := f.read(file["value"])
		if len(problems) == 0 {
			out = append(out, map[string]any{"path": file["path"], "value": value})
			continue
		}
		g.found.Problem = strings.TrimSpace(fmt.Sprintf("%s\n%s: %s", g.found.Problem, show(file["path"]), problemText(problems[0])))
	}
	g.value = out
}

// read applies the schema to a value, or to that of one file of a glob. A schema that allows no other fields is about those of the front
// matter, not about body. One with fields is about an object, also where it does not say so.
func (f *Fact) read(v any) (any, schema.Problems) {
	m, ok := v.(map[string]any)
	body, there := m["body"]
	t := f.Schema.Type()
	if ok && there && t != nil && t.Closed && t.Properties["body"] == nil && (f.Source == "frontmatter" || f.Parse == "frontmatter") {
		delete(m, "body")
		v, problems := f.Schema.Read(m) // v is a copy
		v.(map[string]any)["body"], m["body"] = body, body
		return v, problems
	}
	v, problems := f.Schema.Read(v)
	if v != nil && !ok && len(problems) == 0 && (f.Inline || t != nil && t.Kind == "object") {
		problems = schema.Problems{{Message: "must be an object, and is " + kindOf(v)}}
	}
	return v, problems
}
