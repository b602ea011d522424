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
)

// source is a kind of fact, with what is known of its values.
type source struct {
	argument argument
	typ      *schema.Type
	options  []string
}

// sources returns the sources by name, without those of the embedding program.
func sources() map[string]*source {
	str, number, truth := kind("string"), kind("integer"), kind("boolean")
	item := object(map[string]*schema.Type{"text": str, "mark": str, "done": truth, "depth": number, "line": number, "section": str, "tags": listOf(str), "source": str})
	return map[string]*source{
		"text":        {aPath, str, nil},
		"json":        {aPath, nil, nil},
		"frontmatter": {aPath, kind("object"), nil},
		"checklist":   {aPath, listOf(item), nil},
		"glob":        {aPattern, listOf(str), []string{"parse"}},
		"exec":        {aProgram, object(map[string]*schema.Type{"code": number, "stdout": str, "stderr": str, "output": str, "lines": listOf(str)}), []string{"dir"}},
		"git":         {aPlace, object(map[string]*schema.Type{"dirty": truth, "changed": listOf(str), "branch": str, "ahead": number}), nil},
		"tasks":       {aText, listOf(nil), nil},
		"junit":       {aPath, object(map[string]*schema.Type{"tests": number, "failures": number, "errors": number, "skipped": number, "failed": listOf(str)}), nil},
		"judge":       {aText, nil, []string{"model", "system", "turns", "max_tokens", "command"}},
		"value":       {aText, nil, nil},
	}
}

func kind(k string) *schema.Type { return &schema.Type{Kind: k} }

func listOf(t *schema.Type) *schema.Type { return &schema.Type{Kind: "array", Items: t} }

func object(properties map[string]*schema.Type) *schema.Type {
	return &schema.Type{Kind: "object", Properties: properties, Closed: true}
}

// typeOf returns the type of a fact's value. The schema of a glob is that of each file.
func (s *source) typeOf(f *Fact, known map[string]*source) *schema.Type {
	t := s.typ
	if f.Parse != "" {
		t = known[f.Parse].typ
	}
	if f.Schema != nil {
		t = f.Schema.Type()
	}
	if (f.Source == "frontmatter" || f.Parse == "frontmatter") && t != nil && t.Properties != nil {
		body := &schema.Type{Kind: "string", HasDefault: true, Default: ""}
		withBody := *t
		withBody.Properties = merged(t.Properties, map[string]*schema.Type{"body": body})
		t = &withBody
	}
	if f.Parse != "" {
		return listOf(object(map[string]*schema.Type{"path": kind("string"), "value": t}))
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
