package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
	"github.com/ralph-sdk/ralph/schema"
)

// model is what the analyses know about the world of one program, or of two that are compared.
//
// It follows the schemas: a field has a value of its type, enum and bounds, or is unusable as a whole. Conditions that
// it cannot express are opaque.
type model struct {
	*analysis.Model
	things []*quantity
	byKey  map[string]*quantity

	notes      []string // what a comparison should report
	uncompared []string // what it cannot compare
}

func newModel() *model {
	return &model{Model: analysis.NewModel(), byKey: map[string]*quantity{}}
}

// find returns a state in which fs hold, preferably one in which each field has a value of its type, or nil if none is
// known.
func (m *model) find(fs []*analysis.Formula) *Situation {
	status, r := m.Ask(fs...)
	if status != analysis.Sat {
		return nil
	}
	if status, fits := m.Ask(slices.Concat(fs, m.fits())...); status == analysis.Sat {
		r = fits
	}
	return m.situation(r)
}

// fits returns formulas for: each field has a value of its type.
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
	fieldUsable                     // the field has a value of its type
	fieldValue                      // the value of a field, or of a whole fact that is a string
	nameValue                       // a name of ralph
	paramValue
	memoryOf   // a value of memory
	ruleSpent  // unless_repeated has reached its count
	opaqueTest // an operand of unknown meaning: false, true, or an error
)

// Values of choices that are not values of the policy language.
const (
	isOK, isMissing, isInvalid = 0, 1, 2 // factStatus
	isUsable, isUnusable       = 0, 1    // fieldUsable
	isActive, isSpent          = 0, 1    // ruleSpent
	isNo, isYes, isError       = 0, 1, 2 // opaqueTest
)

// quantity is one quantity of a model, and its meaning in a policy.
type quantity struct {
	analysis.Quantity
	kind  quantityKind
	name  string // of the fact, name, param or rule
	path  []string
	fact  *Fact
	times int // of unless_repeated
}

// choice returns the quantity with this key, and creates it as a choice of size values if it is new.
func (m *model) choice(key string, size int, q quantity) *quantity {
	made := m.byKey[key]
	switch {
	case made != nil:
		return made
	case q.kind == opaqueTest:
		q.Var = m.Opaque(size)
	default:
		q.Var = m.Choice(size, 0)
	}
	return m.define(key, &q)
}

func (m *model) define(key string, q *quantity) *quantity {
	m.byKey[key] = q
	m.things = append(m.things, q)
	return q
}

// Situation is a state of the world that demonstrates a finding. What it omits does not matter. Its JSON form is the
// input of a test for `ralph test`.
type Situation struct {
	Facts    map[string]any    `json:"facts,omitempty"`    // values of facts that are ok, where they matter
	Missing  []string          `json:"missing,omitempty"`  // facts without a document
	Invalid  map[string]string `json:"invalid,omitempty"`  // facts that are invalid, with the reason
	Unusable []string          `json:"unusable,omitempty"` // fields of the wrong type: fact.field
	Names    map[string]any    `json:"names,omitempty"`    // values of ralph's names
	Memory   map[string]any    `json:"memory,omitempty"`   // values of the policy's memory
	Params   map[string]any    `json:"set,omitempty"`      // values of params
	Given    map[string]int    `json:"repeated,omitempty"` // rules that unless_repeated skips, with the number of their verdicts
}

// asJSON returns the situation on one line.
func (w *Situation) asJSON() json.RawMessage {
	b, err := json.Marshal(w)
	if err != nil { // all its values are JSON
		return nil
	}
	return b
}

// situation returns the state that a solver found.
func (m *model) situation(r *analysis.Result) *Situation {
	w := &Situation{
		Facts: map[string]any{}, Invalid: map[string]string{}, Names: map[string]any{},
		Memory: map[string]any{}, Params: map[string]any{}, Given: map[string]int{},
	}
	for _, q := range m.things {
		value, asked := q.Value(r)
		switch {
		case !asked:
		case q.kind == factStatus && value == isMissing:
			w.Missing = append(w.Missing, q.name)
		case q.kind == factStatus && value == isInvalid:
			w.Invalid[q.name] = "it cannot be read"
		case q.kind == factStatus && w.Facts[q.name] == nil:
			w.Facts[q.name] = emptyFact(q.fact)
		case q.kind == fieldValue:
			object, last := w.Facts, q.name
			for _, step := range q.path {
				inner, ok := object[last].(map[string]any)
				if !ok {
					inner = map[string]any{}
					object[last] = inner
				}
				object, last = inner, step
			}
			object[last] = value
		case q.kind == fieldUsable && value == isUnusable:
			w.Unusable = append(w.Unusable, q.name+"."+strings.Join(q.path, "."))
		case q.kind == nameValue:
			w.Names[q.name] = value
		case q.kind == memoryOf:
			w.Memory[q.name] = value
		case q.kind == paramValue:
			w.Params[q.name] = value
		case q.kind == ruleSpent && value == isSpent:
			w.Given[q.name] = q.times
		}
	}
	maps.DeleteFunc(w.Facts, func(name string, _ any) bool {
		return slices.Contains(w.Missing, name) || w.Invalid[name] != ""
	})
	return w
}

// emptyFact returns a value of the fact's type without content.
func emptyFact(f *Fact) any {
	if t := f.plan.sym.typ; t != nil && t.Kind == schema.String {
		return "something"
	} else if t != nil && t.Kind == schema.Array {
		return []any{}
	}
	return map[string]any{}
}
