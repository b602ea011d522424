package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
	"github.com/ralph-sdk/ralph/schema"
)

// model is what the analyses know of the world, of one program or of two that are compared.
//
// It follows the schemas: a field has a value of its type, its enum and its
// bounds, or is unusable as a whole. Conditions that it cannot express are opaque.
type model struct {
	*analysis.Model
	things []*quantity
	byKey  map[string]*quantity

	notes  []string // what a comparison should say of it
	doubts []string // what it cannot compare
}

func newModel() *model {
	return &model{Model: analysis.NewModel(), byKey: map[string]*quantity{}}
}

// ask looks for a state in which fs hold: one in which each field has a value of its type,
// if there is one.
func (m *model) ask(s *analysis.Solver, fs ...*analysis.Formula) analysis.Result {
	r := m.Ask(s, fs...)
	if r.Status == analysis.Sat {
		if fits := m.Ask(s, append(fs, m.fits()...)...); fits.Status == analysis.Sat {
			return fits
		}
	}
	return r
}

// fits says that each field has a value of its type.
func (m *model) fits() (all []*analysis.Formula) {
	for _, q := range m.things {
		if q.kind == fieldUsable {
			all = append(all, analysis.In(q.Var, isUsable))
		}
	}
	return all
}

// quantityKind says what a quantity is.
type quantityKind uint8

const (
	factStatus  quantityKind = iota // ok, missing or invalid
	fieldUsable                     // whether a field has a value of its type
	fieldValue                      // what a field holds, or a whole fact that is a text
	nameValue                       // one of ralph's names
	paramValue
	memoryOf   // a value of the memory
	ruleAside  // whether unless_repeated lets a rule step aside
	opaqueTest // an operand whose meaning is not known: false, true, or an error
)

// The values of the choices that are not values of the policy language.
const (
	isOK, isMissing, isInvalid = 0, 1, 2 // factStatus
	isUsable, isUnusable       = 0, 1    // fieldUsable
	isActive, isAside          = 0, 1    // ruleAside
	isNo, isYes, isError       = 0, 1, 2 // opaqueTest
)

// quantity is one quantity of a model, and what it is in a policy.
type quantity struct {
	analysis.Quantity
	kind  quantityKind
	name  string // of the fact, name, param or rule
	path  []string
	fact  *Fact
	times int // of unless_repeated
}

// define gives the quantity with this key, made by make at its first use.
func (m *model) define(key string, create func() *quantity) *quantity {
	q := m.byKey[key]
	if q == nil {
		q = create()
		m.byKey[key] = q
		m.things = append(m.things, q)
	}
	return q
}

// Witness is a state of the world that shows a finding. What it leaves out
// does not matter. As JSON it is what a test of `ralph test` is given.
type Witness struct {
	Facts    map[string]any    `json:"facts,omitempty"`    // values of facts that are ok, as far as they matter
	Missing  []string          `json:"missing,omitempty"`  // facts without a document
	Invalid  map[string]string `json:"invalid,omitempty"`  // facts that cannot be used, with the reason
	Unusable []string          `json:"unusable,omitempty"` // fields of a wrong type: fact.field
	Names    map[string]any    `json:"names,omitempty"`    // values of ralph's names
	Memory   map[string]any    `json:"memory,omitempty"`   // values of the policy's memory
	Params   map[string]any    `json:"set,omitempty"`      // values of params
	Given    map[string]int    `json:"repeated,omitempty"` // rules that step aside, with the verdicts they have been in
}

// asJSON is the witness on one line.
func (w Witness) asJSON() json.RawMessage {
	b, err := json.Marshal(w)
	if err != nil { // it holds only what JSON knows
		return nil
	}
	return b
}

// witness makes a state of the values that a solver found.
func (m *model) witness(r *analysis.Result) Witness {
	var w Witness
	facts := map[string]any{}
	for _, q := range m.things {
		if q.kind != factStatus {
			continue
		}
		switch status, asked := r.Value(q.Var); {
		case !asked:
		case status == isMissing:
			w.Missing = append(w.Missing, q.name)
		case status == isInvalid:
			put(&w.Invalid, q.name, "it cannot be read")
		default:
			facts[q.name] = emptyFact(q.fact)
		}
	}
	for _, q := range m.things {
		value, asked := q.Value(r)
		if !asked {
			continue
		}
		switch q.kind {
		case fieldValue:
			if slices.Contains(w.Missing, q.name) || w.Invalid[q.name] != "" {
				break
			}
			if len(q.path) == 0 {
				facts[q.name] = value
				break
			}
			object, ok := facts[q.name].(map[string]any)
			if !ok {
				object = map[string]any{}
				facts[q.name] = object
			}
			for _, step := range q.path[:len(q.path)-1] {
				inner, ok := object[step].(map[string]any)
				if !ok {
					inner = map[string]any{}
					object[step] = inner
				}
				object = inner
			}
			object[q.path[len(q.path)-1]] = value
		case fieldUsable:
			if value == isUnusable {
				w.Unusable = append(w.Unusable, q.name+"."+strings.Join(q.path, "."))
			}
		case nameValue:
			put(&w.Names, q.name, value)
		case memoryOf:
			put(&w.Memory, q.name, value)
		case paramValue:
			put(&w.Params, q.name, value)
		case ruleAside:
			if value == isAside {
				put(&w.Given, q.name, q.times)
			}
		}
	}
	if len(facts) > 0 {
		w.Facts = facts
	}
	return w
}

// emptyFact is a value of the fact's type of which nothing is known.
func emptyFact(f *Fact) any {
	if t := f.sym.typ; t != nil && t.Kind == schema.String {
		return "something"
	} else if t != nil && t.Kind == schema.Array {
		return []any{}
	}
	return map[string]any{}
}

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
