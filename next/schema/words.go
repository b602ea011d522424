package schema

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// expected says in plain words what a keyword of a schema expects of a value. Where it has no words, it returns those of the library.
func expected(s *jsonschema.Schema, keyword string, v any, library string) string {
	must := ""
	switch keyword {
	case "type":
		must = "be " + list(each(s.Types, kindWord), "or")
	case "enum":
		must = "be " + list(each(s.Enum, literal), "or")
	case "const":
		must = "be " + literal(s.Constant[0])
	case "minimum":
		must = "be at least " + figure(s.Minimum)
	case "maximum":
		must = "be at most " + figure(s.Maximum)
	case "exclusiveMinimum":
		must = "be more than " + figure(s.ExclusiveMinimum)
	case "exclusiveMaximum":
		must = "be less than " + figure(s.ExclusiveMaximum)
	case "multipleOf":
		must = "be a multiple of " + figure(s.MultipleOf)
	case "minLength":
		must = "have at least " + count(s.MinLength, "character", "characters")
	case "maxLength":
		must = "have at most " + count(s.MaxLength, "character", "characters")
	case "pattern":
		must = "match the pattern " + s.Pattern.String()
	case "format":
		must = "have the format " + s.Format
	case "minItems":
		return "must have at least " + count(s.MinItems, "entry", "entries")
	case "maxItems":
		return "must have at most " + count(s.MaxItems, "entry", "entries")
	case "minProperties":
		return "must have at least " + count(s.MinProperties, "field", "fields")
	case "maxProperties":
		return "must have at most " + count(s.MaxProperties, "field", "fields")
	case "uniqueItems":
		return "must not have an entry twice"
	case "required":
		return "must have " + missing(s, v)
	case "additionalProperties":
		return "must not have " + foreign(s, v)
	case "anyOf":
		return "must fit one of the alternatives of the schema, and fits none"
	case "oneOf":
		return "must fit exactly one of the alternatives of the schema"
	case "not":
		return "must not be what the schema excludes"
	default:
		return library
	}
	return "must " + must + ", and is " + show(v)
}

// missing names the required fields that an object lacks.
func missing(s *jsonschema.Schema, v any) string {
	have, _ := v.(map[string]any)
	return fieldsOf(slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
		_, ok := have[name]
		return ok
	}))
}

// foreign names the fields of an object that the schema does not know.
func foreign(s *jsonschema.Schema, v any) string {
	have, _ := v.(map[string]any)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		known := s.Properties[name] != nil
		for pattern := range s.PatternProperties {
			known = known || pattern.MatchString(name)
		}
		if !known {
			names = append(names, name)
		}
	}
	if help := text.Nearest(names[0], slices.Sorted(maps.Keys(s.Properties))); help != "" {
		return fieldsOf(names) + "; " + help
	}
	return fieldsOf(names)
}

func fieldsOf(names []string) string {
	noun := "the field "
	if len(names) > 1 {
		noun = "the fields "
	}
	return noun + list(each(names, strconv.Quote), "and")
}

// kindWord is the plain word for a type of JSON Schema.
func kindWord(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return kind
}

// show returns a value of a document for messages.
func show(v any) string {
	if _, ok := v.(string); ok {
		return "the text " + literal(v)
	}
	return literal(v)
}

// literal returns a value of a schema for messages.
func literal(v any) string {
	switch v := numbers(v).(type) {
	case string:
		return strconv.Quote(text.Cut(v, 40))
	case int, float64, bool:
		return fmt.Sprint(v)
	default:
		return kindWord(kindOf(v))
	}
}

func figure(r *big.Rat) string {
	f, _ := r.Float64()
	return fmt.Sprint(whole(f))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

func each[T any](all []T, word func(T) string) []string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = word(one)
	}
	return words
}

// list joins words, at most 20 of them.
func list(words []string, and string) string {
	if rest := len(words) - 20; rest > 0 {
		words = append(words[:20:20], fmt.Sprintf("%d others", rest))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}
