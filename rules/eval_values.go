package rules

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Values returns facts with fixed values. The keys are names of facts, as in [Fact].Name, and ralph's own names in
// full: "state", "transcript.last", "env.HOME". Values convert as in [ValueOf]; functions need a func of their type,
// such as func(string) bool for "said". What m lacks is missing, or the zero value of its type. A key that is neither a
// fact of the policy nor one of ralph's names is a problem of the verdict.
//
// You must not modify m while it is in use.
func Values(m map[string]any) Facts { return values(m) }

type values map[string]any

func (m values) Fact(_ context.Context, f *Fact, _ []string) Value {
	v, ok := m[f.Name]
	if !ok {
		return Value{Status: Missing, Problem: "is not given", Quiet: true}
	}
	return ValueOf(f, v)
}

func (m values) Name(_ context.Context, name string) any { return m[name] }

// ValueOf returns the Value of a source for a Go value: a present fact, read with its schema. v is nil (the fact is
// missing) or anything that encoding/json writes, except that []byte is a string, a nil slice or map is an empty one,
// and a time.Duration stays a duration; inside structs they are what encoding/json writes. If v is a [Value] that is
// OK, its V converts, unless ValueOf made it, and the rest stays.
//
// A field of the wrong type is unusable by itself: only rules that read it report it. A value that cannot convert makes
// the fact invalid, with the reason as its problem.
func ValueOf(f *Fact, v any) Value {
	if given, ok := v.(Value); ok {
		switch {
		case !given.Status.known():
			return Value{Status: Invalid, Problem: fmt.Sprintf("has the unknown status %q", string(given.Status))}
		case given.read || given.Status != OK:
			return given
		}
		of := ValueOf(f, given.V)
		given.Unusable, given.Warnings = append(of.Unusable, given.Unusable...), append(of.Warnings, given.Warnings...)
		if given.V, given.Status = of.V, of.Status; of.Status != OK {
			given.Problem, given.Quiet = of.Problem, of.Quiet
		}
		given.read = true
		return given
	}
	if f == nil {
		f = &Fact{}
	}
	plain, err := plainOf(v, 0)
	switch {
	case err != nil:
		return Value{Status: Invalid, Problem: err.Error()}
	case plain == nil:
		return Value{Status: Missing, Problem: "is nil", Quiet: true}
	}
	body, hasBody := any(nil), false
	if fields, ok := plain.(map[string]any); ok && f.Source.Value.Body {
		if body, hasBody = fields["body"]; !hasBody {
			body = ""
		}
		delete(fields, "body") // plainOf created the map
		hasBody = true
	}
	var r schema.Result
	switch {
	case f.Schema != nil && f.Source.Value.Around == nil:
		r = f.Schema.Check(schema.Document{Value: plain})
	case f.plan.sym != nil && f.plan.sym.typ != nil:
		r = f.plan.sym.typ.Check(schema.Document{Value: zeroed(f.plan.sym.typ, plain)})
	default:
		r = new(schema.Schema).Check(schema.Document{Value: plain})
	}
	out := Value{V: r.Value, Unusable: r.Unusable, Warnings: r.Warnings, read: true}
	if r.Value == nil && len(r.Unusable) > 0 {
		u := r.Unusable[0]
		return Value{Status: Invalid, Problem: strings.TrimPrefix(u.Pointer+" "+u.Message, " ")}
	}
	if fields, ok := r.Value.(map[string]any); ok && hasBody {
		fields["body"] = body
	}
	return out
}

// sound reports whether the fields of a value are as [Value] documents them; a foreign value inside a list or an object
// is an error where it is used.
func (v *Value) sound() bool {
	switch v.V.(type) {
	case nil, bool, int, float64, string, time.Duration, []any, map[string]any:
		return v.Status.known()
	}
	return v.read || v.Status != OK && v.Status.known()
}

func (s Status) known() bool { return s == OK || s == Missing || s == Invalid || s == Withheld }
