package rules

import (
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// SourceKind declares a fact source: the key that names it in a policy and what
// its values are. A program that embeds ralph adds its own kinds to
// [Config.Sources] and gathers their values itself.
type SourceKind struct {
	Name string // the key, such as json
	Doc  string // one sentence, for the schema of policies

	// Argv says that the argument is a list of words (exec) and not one text.
	Argv bool
	// Path says that the argument is a path: holes are literal and must stay
	// beneath the project root.
	Path bool
	// Glob says that the argument is a pattern: glob characters in holes are escaped too.
	Glob bool

	Schema   bool         // takes schema, and with it inline
	Settle   bool         // takes settle
	Editable bool         // its file can be changed by set
	File     bool         // its file can be deleted and archived
	Value    *schema.Type // type of the value when there is no schema; nil means anything
}

func (s SourceKind) argument() shape {
	switch {
	case s.Argv:
		return shapeWords
	case s.Path:
		return shapePath
	}
	return shapeTemplate
}

func (s SourceKind) options() keys {
	var ks keys
	if s.Schema {
		ks = append(ks, key{"schema", shapeSchema, "JSON Schema of the document: a file beside the policy, ralph:NAME, or inline."})
	}
	if s.Schema && s.Editable {
		ks = append(ks, key{"inline", shapeBool, "The fields of this fact are names too."})
	}
	if s.Settle {
		ks = append(ks, key{"settle", shapeDuration, "How long to wait for a file that was just written and does not parse yet."})
	}
	return ks
}

// Sources gives the sources that ralph has itself.
func Sources() []SourceKind {
	text := &schema.Type{Kind: schema.String}
	item := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{
		"text":    text,
		"done":    {Kind: schema.Bool},
		"tags":    {Kind: schema.Array, Elem: text},
		"depth":   {Kind: schema.Int},
		"section": text,
		"source":  text,
		"line":    {Kind: schema.Int},
	}}
	return []SourceKind{
		{Name: "text", Doc: "A text file, trimmed.", Path: true, Settle: true, File: true, Value: text},
		{Name: "json", Doc: "A JSON file that holds an object.", Path: true, Schema: true, Settle: true, Editable: true, File: true},
		{Name: "frontmatter", Doc: "The YAML front matter of a file; .body is the text below it.", Path: true, Schema: true, Settle: true, Editable: true, File: true},
		{Name: "checklist", Doc: "The task list items of a Markdown file.", Path: true, Settle: true, File: true, Value: &schema.Type{Kind: schema.Array, Elem: item}},
	}
}

func sourceNames(kinds []SourceKind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

func findSource(kinds []SourceKind, name string) (SourceKind, bool) {
	i := slices.IndexFunc(kinds, func(k SourceKind) bool { return k.Name == name })
	if i < 0 {
		return SourceKind{}, false
	}
	return kinds[i], true
}
