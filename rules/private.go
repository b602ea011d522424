package rules

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// secrecy says which parts of a value traces and logs do not show: where the value
// enters, and wherever it goes from there. nil shows all of it. The elements of a list
// are as private as the list.
type secrecy struct {
	shows map[string]*secrecy // of fields: how far each is shown
	rest  bool                // all other fields are shown; else none is
}

// hidden shows nothing.
func hidden() *secrecy { return &secrecy{} }

// secret is the secrecy of a value that is private as a whole or not at all.
func secret(private bool) *secrecy {
	if private {
		return hidden()
	}
	return nil
}

// showing shows these fields of an object, and nothing else.
func showing(fields ...string) *secrecy {
	s := &secrecy{shows: make(map[string]*secrecy, len(fields))}
	for _, f := range fields {
		s.shows[f] = nil
	}
	return s
}

// hiding shows all fields of an object but this one.
func hiding(field string) *secrecy {
	return &secrecy{shows: map[string]*secrecy{field: hidden()}, rest: true}
}

// field is the secrecy of a field.
func (s *secrecy) field(name string) *secrecy {
	if s == nil || s.shows == nil {
		return s
	}
	if of, ok := s.shows[name]; ok || s.rest {
		return of
	}
	return hidden()
}

// at is the secrecy of what stands at a path, whose indexes say nothing.
func (s *secrecy) at(path []string) *secrecy {
	for _, step := range path {
		if s != nil && step != "*" && !isIndex(step) {
			s = s.field(step)
		}
	}
	return s
}

// showsAll reports whether these fields are shown.
func (s *secrecy) showsAll(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return s.field(f) != nil })
}

// isIndex reports whether a step of a path is an index of a list.
func isIndex(step string) bool { return step != "" && step[0] >= '0' && step[0] <= '9' }

// answered is the secrecy of the answer of a model, which may repeat what it was
// shown: a text is private unless it is one of a few words.
func answered(t *schema.Schema) *secrecy {
	switch {
	case t == nil:
		return hidden()
	case t.Enum != nil:
		return nil
	}
	switch t.Kind {
	case schema.Bool, schema.Int, schema.Number, schema.Null:
		return nil
	case schema.Array:
		return answered(t.Elem)
	case schema.Object:
		s := showing()
		for name, field := range t.Fields {
			s.shows[name] = answered(field)
		}
		return s
	}
	return hidden()
}

// without returns a value with something instead of its private parts, which are left out
// where that is nil.
func (s *secrecy) without(v any, instead func(any) any) any {
	if s == nil || v == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if s.shows == nil {
			break
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			if shown := s.field(name).without(e, instead); shown != nil {
				out[name] = shown
			}
		}
		return out
	case []any:
		if s.shows == nil {
			break
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = s.without(e, instead)
		}
		return out
	}
	return instead(v)
}

// masked is a value without its private parts, of which it says how large they are. An
// answer gives nothing away.
func (s *secrecy) masked(v any) any {
	return s.without(v, func(v any) any {
		switch v := v.(type) {
		case bool:
			return v
		case []any, []string:
			return fmt.Sprintf("(%d items)", reflect.ValueOf(v).Len())
		case string:
			return sizeOnly(v)
		}
		return "(hidden)"
	})
}

// sizeOnly says how much there is of a text, without showing it.
func sizeOnly(text string) string { return fmt.Sprintf("(%d bytes)", len(text)) }

// remark is a sentence that may quote something private: as the user reads it, and as
// traces and logs show it.
type remark struct{ full, shown string }

// public is a remark that quotes nothing private.
func public(text string) remark { return remark{text, text} }

// veiled is a remark of which only the size is shown if it is private.
func veiled(text string, private bool) remark {
	if private && text != "" {
		return remark{text, sizeOnly(text)}
	}
	return public(text)
}

// private reports whether users read more than traces show.
func (r remark) private() bool { return r.full != r.shown }

// remarkf is Sprintf; what is shown of remarks among the arguments is shown of the whole.
func remarkf(format string, args ...any) remark {
	full := slices.Clone(args)
	private := false
	for i, a := range args {
		if r, ok := a.(remark); ok {
			full[i], args[i] = r.full, r.shown
			private = private || r.private()
		}
	}
	text := fmt.Sprintf(format, full...)
	if !private {
		return public(text)
	}
	return remark{text, fmt.Sprintf(format, args...)}
}
