package rules

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// mask is the class of a value, whatever shows it: which parts of it traces and logs hide, where it enters and in
// everything derived from it. nil shows all of it. The elements of a list are as private as the list.
type mask struct {
	words bool             // what is hidden are words of the user or the agent; otherwise it is secret
	shows map[string]*mask // of fields: what is shown of each
	rest  bool             // all other fields are shown; otherwise none
}

// hidden returns a mask that shows nothing.
func hidden() *mask { return &mask{} }

// secret returns the mask of a value that is private as a whole or not at all.
func secret(private bool) *mask {
	if private {
		return hidden()
	}
	return nil
}

// showing returns a mask that shows only these fields of an object.
func showing(fields ...string) *mask {
	s := &mask{shows: make(map[string]*mask, len(fields))}
	for _, f := range fields {
		s.shows[f] = nil
	}
	return s
}

// hiding returns a mask that shows all fields of an object except this one.
func hiding(field string) *mask {
	return &mask{shows: map[string]*mask{field: hidden()}, rest: true}
}

// spoken returns a mask that hides the words of the user or the agent.
func (s *mask) spoken() *mask {
	if s != nil {
		s.words = true
	}
	return s
}

// field returns the mask of a field.
func (s *mask) field(name string) *mask {
	if s == nil || s.shows == nil {
		return s
	}
	if of, ok := s.shows[name]; ok || s.rest {
		return of
	}
	return hidden()
}

// at returns the mask at a path, ignoring its indexes.
func (s *mask) at(path []string) *mask {
	for _, step := range path {
		if s != nil && step != "*" && !isIndex(step) {
			s = s.field(step)
		}
	}
	return s
}

// showsAll reports whether these fields are shown.
func (s *mask) showsAll(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return s.field(f) != nil })
}

// isIndex reports whether a step of a path is an index of a list.
func isIndex(step string) bool { return step != "" && step[0] >= '0' && step[0] <= '9' }

// answered returns the mask of a model's answer, which may repeat private input: a string is private unless it is one
// of a few words.
func answered(t *schema.Schema) *mask {
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

// without returns a value whose private parts are replaced by instead, or omitted if that returns nil.
func (s *mask) without(v any, instead func(any) any) any {
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

// masked returns a value with the sizes of its private parts. A boolean reveals nothing.
func (s *mask) masked(v any) any {
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

// sizeOnly returns the size of a text.
func sizeOnly(text string) string { return fmt.Sprintf("(%d bytes)", len(text)) }

// sentence is a message that may quote something private: in full for the user, and as traces and logs show it.
type sentence struct{ full, shown string }

// public returns a sentence without private parts.
func public(text string) sentence { return sentence{text, text} }

// masked returns a sentence of which traces show only the size if it is private.
func masked(text string, private bool) sentence {
	if private && text != "" {
		return sentence{text, sizeOnly(text)}
	}
	return public(text)
}

// private reports whether traces hide a part of the sentence.
func (r sentence) private() bool { return r.full != r.shown }

// sentencef is like Sprintf, for full and shown: sentences among the arguments contribute their part to each.
func sentencef(format string, args ...any) sentence {
	full := slices.Clone(args)
	private := false
	for i, a := range args {
		if r, ok := a.(sentence); ok {
			full[i], args[i] = r.full, r.shown
			private = private || r.private()
		}
	}
	text := fmt.Sprintf(format, full...)
	if !private {
		return public(text)
	}
	return sentence{text, fmt.Sprintf(format, args...)}
}
