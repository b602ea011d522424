package rules

import (
	"maps"
	"slices"

	"github.com/ralph-sdk/ralph/next/schema"
)

// argument is the kind of a source's argument.
type argument int

const (
	aPath    argument = iota // of one file
	aPlace                   // of a file or directory
	aPattern                 // of files, where a value matches only itself
	aProgram                 // a list: the program and its arguments
	aText
	aWord // without placeholders
)

// source is a kind of fact, with what is known of its values.
type source struct {
	argument argument
	options  []string
	typ      *schema.Type
	own      bool // of the embedding program
}

// sources returns the sources by name, without those of the embedding program.
func sources() map[string]*source {
	str, number, truth := kind("string"), kind("integer"), kind("boolean")
	item := object(map[string]*schema.Type{"text": str, "mark": str, "done": truth, "depth": number, "line": number, "section": str, "tags": listOf(str), "source": str})
	return map[string]*source{
		"text":        {argument: aPath, typ: str},
		"json":        {argument: aPath},
		"frontmatter": {argument: aPath, typ: kind("object")},
		"checklist":   {argument: aPath, typ: listOf(item)},
		"glob":        {argument: aPattern, typ: listOf(str), options: []string{"parse"}},
		"exec": {argument: aProgram, options: []string{"dir"}, typ: object(map[string]*schema.Type{
			"code": number, "stdout": str, "stderr": str, "output": str, "lines": listOf(str)})},
		"git": {argument: aPlace, typ: object(map[string]*schema.Type{
			"dirty": truth, "changed": listOf(str), "branch": str, "ahead": number})},
		"tasks": {argument: aWord, typ: listOf(nil)},
		"junit": {argument: aPath, typ: object(map[string]*schema.Type{
			"tests": number, "failures": number, "errors": number, "skipped": number, "failed": listOf(str)})},
		"judge": {argument: aText, options: []string{"model", "system", "turns", "max_tokens", "tool_results", "command"}},
		"value": {argument: aWord},
	}
}

func kind(k string) *schema.Type { return &schema.Type{Kind: k} }

func listOf(t *schema.Type) *schema.Type { return &schema.Type{Kind: "array", Items: t} }

func object(properties map[string]*schema.Type) *schema.Type {
	return &schema.Type{Kind: "object", Properties: properties, Closed: true}
}

// parsers are the formats of a glob's files.
var parsers = []string{"json", "frontmatter", "checklist"}

// typeOf returns the type of a fact's value. The schema of a glob is that of each file.
func (s *source) typeOf(f *Fact, known map[string]*source) *schema.Type {
	var declared *schema.Type
	if f.Schema != nil {
		declared = f.Schema.Type()
	}
	switch {
	case f.Parse != "":
		value := declared
		if p := known[f.Parse]; value == nil {
			value = p.typ
		}
		if f.Parse == "frontmatter" {
			value = withBody(value)
		}
		return listOf(object(map[string]*schema.Type{"path": kind("string"), "value": value}))
	case f.Source == "frontmatter":
		return withBody(declared)
	case declared != nil:
		return declared
	}
	return s.typ
}

// withBody adds the text below front matter to its fields.
func withBody(t *schema.Type) *schema.Type {
	body := &schema.Type{Kind: "string", HasDefault: true, Default: ""}
	if t == nil || t.Properties == nil {
		return t
	}
	out := *t
	out.Properties = maps.Clone(t.Properties)
	out.Properties["body"] = body
	return &out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
