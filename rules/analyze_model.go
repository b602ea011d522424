package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
	"github.com/ralph-sdk/ralph/schema"
)

// model is what the analyses know of the world: the quantities on which decisions
// depend, and what always holds of them. Programs that are compared share one.
//
// It follows the schemas: a field has a value of its type, its enum and its
// bounds, or is unusable as a whole. Conditions that it cannot express are opaque.
type model struct {
	space  *solve.Space
	things []*quantity
	byKey  map[string]*quantity
	always []*solve.Formula // what holds in every state

	notes  []string // what a comparison should say of it
	doubts []string // what it cannot compare
}

func newModel() *model {
	return &model{space: solve.NewSpace(), byKey: map[string]*quantity{}}
}

// ask looks for a state in which fs hold, of the steps that are left: one in which each
// field has a value of its type, if there is one.
func (m *model) ask(s *solve.Solver, left *int, fs ...*solve.Formula) solve.Result {
	try := func(fs []*solve.Formula) (r solve.Result) {
		if *left > 0 {
			r = s.Solve(min(stepsPerQuestion, *left), fs...)
			*left -= r.Steps
		}
		return r
	}
	r := try(fs)
	if r.Status == solve.Sat {
		if fits := try(append(fs, m.fits()...)); fits.Status == solve.Sat {
			return fits
		}
	}
	return r
}

// fits says that each field has a value of its type.
func (m *model) fits() (all []*solve.Formula) {
	for _, q := range m.things {
		if q.kind == fieldUsable {
			all = append(all, solve.In(q.v, isUsable))
		}
	}
	return all
}

// solver gives a solver that knows what always holds. All quantities must be known by then.
func (m *model) solver() *solve.Solver {
	s := solve.NewSolver(m.space)
	s.Add(m.always...)
	return s
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

// quantity is one variable of a model.
type quantity struct {
	kind quantityKind
	v    solve.Var
	name string // of the fact, name, param or rule
	path []string
	fact *Fact

	// A quantity that can be nil beside being a number has a choice for that.
	nilable  bool
	presence solve.Var // a choice: 0 it is nil, 1 it is not

	number   bool
	min, max int
	values   []any // of a choice, by their number
	open     bool  // values[0] stands for all that are not named
	nonempty bool  // a string that is never ""
	times    int   // of unless_repeated
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

// is says that a choice has this value. A value that it can never have is never there.
func (m *model) is(q *quantity, value any) *solve.Formula {
	i := slices.Index(q.values, value)
	if i < 0 {
		s, text := value.(string)
		if !q.open || q.nonempty && text && s == "" {
			return solve.False()
		}
		i = m.space.Widen(q.v)
		q.values = append(q.values, value)
	}
	return solve.In(q.v, i)
}

// unnamed stands in the values of an open choice for all that no rule names.
type unnamed struct{}

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
func (m *model) witness(r *solve.Result) Witness {
	var w Witness
	facts := map[string]any{}
	for _, q := range m.things {
		if q.kind != factStatus {
			continue
		}
		switch status, asked := r.Value(q.v); {
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
		value, asked := m.valueOf(q, r)
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

// valueOf gives the value that a quantity has in a result; asked is false if it
// is of no matter.
func (m *model) valueOf(q *quantity, r *solve.Result) (value any, asked bool) {
	i, asked := r.Value(q.v)
	if q.nilable && q.number {
		if present, known := r.Value(q.presence); known && present == 0 {
			return nil, true
		} else if known {
			asked = true
		}
	}
	if !asked || q.number || q.values == nil {
		return i, asked
	}
	if q.values[i] == (unnamed{}) {
		return q.anotherText(), true
	}
	return q.values[i], true
}

// anotherText is a text that no rule names.
func (q *quantity) anotherText() string {
	text := "something"
	for slices.Contains(q.values, any(text)) {
		text += " else"
	}
	return text
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
