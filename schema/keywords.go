package schema

import (
	"sort"
	"strings"
)

// shape is the form that a keyword's value must have.
type shape uint8

const (
	anything      shape = iota
	aSchema             // a schema
	schemaMap           // an object of schemas
	schemaList          // a list of schemas, not empty
	schemaOrList        // a schema; before 2020-12 also a list of them
	schemaOrNames       // an object of schemas or lists of distinct texts
	aText               // text
	aFlag               // true or false
	aNumber             // a number
	aPositive           // a number greater than 0
	aCount              // an integer from 0
	aList               // a list
	aValueSet           // a list of values, not empty
	typeNames           // the name of a type, or a list of distinct ones
	names               // a list of distinct texts
	namesMap            // an object of lists of distinct texts
	aPattern            // text that is a regular expression
	patternMap          // an object of schemas whose keys are regular expressions
	aReference          // text that refers to a schema in this document
	ignored             // an annotation that the library may check, depending on the draft; it is not checked
	refused             // what has no effect in one document alone
)

// keyword is one word of JSON Schema's vocabulary.
type keyword struct {
	name  string
	shape shape
	// covered says that the own checker can do without the library where this keyword stands.
	covered bool
}

// keywords is the vocabulary of all drafts, sorted by name.
var keywords = [...]keyword{
	{"$anchor", aText, true},
	{"$comment", aText, true},
	{"$defs", schemaMap, true},
	{"$dynamicAnchor", refused, false},
	{"$dynamicRef", refused, false},
	{"$id", aText, true},
	{"$recursiveAnchor", refused, false},
	{"$recursiveRef", refused, false},
	{"$ref", aReference, true},
	{"$schema", aText, true},
	{"$vocabulary", refused, false},
	{"additionalItems", aSchema, false},
	{"additionalProperties", aSchema, true},
	{"allOf", schemaList, true},
	{"anyOf", schemaList, false},
	{"const", anything, true},
	{"contains", aSchema, false},
	{"contentEncoding", ignored, true},
	{"contentMediaType", ignored, true},
	{"contentSchema", ignored, true},
	{"default", anything, true},
	{"definitions", schemaMap, true},
	{"dependencies", schemaOrNames, false},
	{"dependentRequired", namesMap, false},
	{"dependentSchemas", schemaMap, false},
	{"deprecated", aFlag, true},
	{"description", aText, true},
	{"else", aSchema, false},
	{"enum", aValueSet, true},
	{"examples", aList, true},
	{"exclusiveMaximum", aNumber, true},
	{"exclusiveMinimum", aNumber, true},
	{"format", aText, true},
	{"if", aSchema, false},
	{"items", schemaOrList, true},
	{"maxContains", aCount, false},
	{"maxItems", aCount, true},
	{"maxLength", aCount, true},
	{"maxProperties", aCount, true},
	{"maximum", aNumber, true},
	{"minContains", aCount, false},
	{"minItems", aCount, true},
	{"minLength", aCount, true},
	{"minProperties", aCount, true},
	{"minimum", aNumber, true},
	{"multipleOf", aPositive, false},
	{"not", aSchema, false},
	{"oneOf", schemaList, false},
	{"pattern", aPattern, true},
	{"patternProperties", patternMap, false},
	{"prefixItems", schemaList, false},
	{"properties", schemaMap, true},
	{"propertyNames", aSchema, false},
	{"readOnly", aFlag, true},
	{"required", names, true},
	{"then", aSchema, false},
	{"title", aText, true},
	{"type", typeNames, true},
	{"unevaluatedItems", aSchema, false},
	{"unevaluatedProperties", aSchema, false},
	{"uniqueItems", aFlag, false},
	{"writeOnly", aFlag, true},
}

func keywordOf(name string) (keyword, bool) {
	i := sort.Search(len(keywords), func(i int) bool { return keywords[i].name >= name })
	if i < len(keywords) && keywords[i].name == name {
		return keywords[i], true
	}
	return keyword{}, false
}

// draft is the year of a draft, or its number before there were years, so that drafts compare by age.
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
