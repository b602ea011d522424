package schema

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// shape is the required form of a keyword's value.
type shape uint8

const (
	anything      shape = iota
	aSchema             // a schema
	schemaMap           // an object of schemas
	schemaList          // a nonempty list of schemas
	schemaOrList        // a schema; before 2020-12 also a list of them
	schemaOrNames       // an object of schemas or lists of distinct strings
	aText               // a string
	aFlag               // true or false
	aNumber             // a number
	aPositive           // a number greater than 0
	aCount              // a nonnegative integer
	aList               // a list
	aValueSet           // a nonempty list of values
	typeNames           // the name of a type, or a list of distinct ones
	names               // a list of distinct strings
	namesMap            // an object of lists of distinct strings
	aPattern            // a regular expression
	patternMap          // an object of schemas whose keys are regular expressions
	aReference          // a reference to a schema in this document
	ignored             // an annotation whose form depends on the draft; not checked
	refused             // not supported
)

// keyword is one word of JSON Schema's vocabulary.
type keyword struct {
	name  string
	shape shape
	rare  bool // needs the library, see compiled.consult

	// For a keyword that bounds a value by a number:
	of    Kind                           // the kind: numbers, or what has characters, elements or fields
	words string                         // the words before the bound in a message
	holds func(size, bound float64) bool // reports whether a value of this size is within the bound
}

// keywords has the keywords of all drafts, sorted by name. A keyword counts in every draft.
var keywords = [...]keyword{
	{name: "$anchor", shape: aText},
	{name: "$comment", shape: aText},
	{name: "$defs", shape: schemaMap},
	{name: "$dynamicAnchor", shape: refused},
	{name: "$dynamicRef", shape: refused},
	{name: "$id", shape: aText},
	{name: "$recursiveAnchor", shape: refused},
	{name: "$recursiveRef", shape: refused},
	{name: "$ref", shape: aReference},
	{name: "$schema", shape: aText},
	{name: "$vocabulary", shape: refused},
	{name: "additionalItems", shape: aSchema},
	{name: "additionalProperties", shape: aSchema},
	{name: "allOf", shape: schemaList},
	{name: "anyOf", shape: schemaList},
	{name: "const", shape: anything},
	{name: "contains", shape: aSchema},
	{name: "contentEncoding", shape: ignored},
	{name: "contentMediaType", shape: ignored},
	{name: "contentSchema", shape: ignored},
	{name: "default", shape: anything},
	{name: "definitions", shape: schemaMap},
	{name: "dependencies", shape: schemaOrNames},
	{name: "dependentRequired", shape: namesMap},
	{name: "dependentSchemas", shape: schemaMap},
	{name: "deprecated", shape: aFlag},
	{name: "description", shape: aText},
	{name: "else", shape: aSchema},
	{name: "enum", shape: aValueSet},
	{name: "examples", shape: aList},
	{name: "exclusiveMaximum", shape: aNumber, of: Number, words: "less than", holds: func(size, bound float64) bool { return size < bound }},
	{name: "exclusiveMinimum", shape: aNumber, of: Number, words: "more than", holds: func(size, bound float64) bool { return size > bound }},
	{name: "format", shape: aText},
	{name: "if", shape: aSchema},
	{name: "items", shape: schemaOrList},
	{name: "maxContains", shape: aCount},
	{name: "maxItems", shape: aCount, of: Array, words: "at most", holds: atMost},
	{name: "maxLength", shape: aCount, of: String, words: "at most", holds: atMost},
	{name: "maxProperties", shape: aCount, of: Object, words: "at most", holds: atMost},
	{name: "maximum", shape: aNumber, of: Number, words: "at most", holds: atMost},
	{name: "minContains", shape: aCount},
	{name: "minItems", shape: aCount, of: Array, words: "at least", holds: atLeast},
	{name: "minLength", shape: aCount, of: String, words: "at least", holds: atLeast},
	{name: "minProperties", shape: aCount, of: Object, words: "at least", holds: atLeast},
	{name: "minimum", shape: aNumber, of: Number, words: "at least", holds: atLeast},
	{name: "multipleOf", shape: aPositive, of: Number, words: "a multiple of", holds: isMultiple},
	{name: "not", shape: aSchema},
	{name: "oneOf", shape: schemaList},
	{name: "pattern", shape: aPattern},
	{name: "patternProperties", shape: patternMap},
	{name: "prefixItems", shape: schemaList},
	{name: "properties", shape: schemaMap},
	{name: "propertyNames", shape: aSchema},
	{name: "readOnly", shape: aFlag},
	{name: "required", shape: names},
	{name: "then", shape: aSchema},
	{name: "title", shape: aText},
	{name: "type", shape: typeNames},
	{name: "unevaluatedItems", shape: aSchema, rare: true},
	{name: "unevaluatedProperties", shape: aSchema, rare: true},
	{name: "uniqueItems", shape: aFlag},
	{name: "writeOnly", shape: aFlag},
}

func atLeast(size, bound float64) bool { return size >= bound }
func atMost(size, bound float64) bool  { return size <= bound }

// isMultiple divides the decimal numbers: 1.2 is a multiple of 0.1, although their binary fractions are not.
func isMultiple(size, bound float64) bool {
	written := func(f float64) *big.Rat {
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64)) // it is finite
		return r
	}
	return new(big.Rat).Quo(written(size), written(bound)).IsInt()
}

func keywordOf(name string) (keyword, bool) {
	i, ok := slices.BinarySearchFunc(keywords[:], name, func(k keyword, name string) int { return strings.Compare(k.name, name) })
	if !ok {
		return keyword{}, false
	}
	return keywords[i], true
}

// draft is the year of a draft, or the number of an older one, so that drafts compare by age.
type draft int

const (
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// draftOf returns the draft whose metaschema has this address.
func draftOf(address string) (draft, bool) {
	if http, ok := strings.CutPrefix(address, "http://"); ok {
		address = "https://" + http
	}
	d, ok := map[string]draft{
		"https://json-schema.org/schema":               draft2020,
		"https://json-schema.org/draft/2020-12/schema": draft2020,
		"https://json-schema.org/draft/2019-09/schema": draft2019,
		"https://json-schema.org/draft-07/schema":      draft7,
	}[strings.TrimSuffix(strings.TrimSuffix(address, "#/"), "#")]
	return d, ok
}
