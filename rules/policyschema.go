package rules

import (
	"encoding/json"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// jsonSchema is a JSON Schema under construction.
type jsonSchema = map[string]any

// PolicySchema returns the JSON Schema of policy files, for editors and for programs that write policies. It is
// generated from the parser's tables: every policy that loads satisfies it. sources are the fact sources to include;
// nil means ralph's own.
func PolicySchema(sources []SourceKind) []byte {
	if sources == nil {
		sources = SourceKinds()
	}
	p := objectSchema(form.PolicyKeys(), sources)
	p["required"] = []string{"ralph"}
	p["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	p["title"] = "ralph policy"
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil { // it contains only strings, numbers, lists and maps
		panic(err)
	}
	return append(b, '\n')
}

// objectSchema returns the schema of an object with only these keys.
func objectSchema(ks form.Keys, sources []SourceKind) jsonSchema {
	properties := jsonSchema{}
	for _, k := range ks {
		p := shapeSchema(k.Shape, sources)
		p["description"] = k.Doc
		properties[k.Name] = p
	}
	return jsonSchema{"type": "object", "additionalProperties": false, "properties": properties}
}

// Patterns of strings in policies.
const (
	namePattern     = `^[a-z0-9]+(-[a-z0-9]+)*$`
	variablePattern = `^[A-Za-z_][A-Za-z0-9_]*$`
	durationPattern = `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
)

// plainShapes returns the schemas of shapes without keys of the language. All others but those of shapeSchema are
// texts, where a YAML number or boolean counts as its text.
func plainShapes() map[form.Shape]jsonSchema {
	scalar := []string{"string", "number", "boolean"}
	named := func(values jsonSchema) jsonSchema {
		return jsonSchema{"type": []string{"object", "null"}, "propertyNames": jsonSchema{"pattern": variablePattern}, "additionalProperties": values}
	}
	orParam := func(s jsonSchema) jsonSchema {
		return jsonSchema{"anyOf": []jsonSchema{s, {"type": "string", "pattern": variablePattern}}}
	}
	texts := jsonSchema{"type": scalar}
	event := jsonSchema{"enum": vocab.Events()}
	per := jsonSchema{"enum": memoryPer(), "description": "What the value belongs to; session by default."}
	return map[form.Shape]jsonSchema{
		form.Any:      {},
		form.Bool:     {"type": "boolean"},
		form.Int:      {"type": "integer", "minimum": 0},
		form.Count:    {"type": "integer", "minimum": 1},
		form.Duration: {"type": "string", "pattern": durationPattern},
		form.Limit:    orParam(jsonSchema{"type": "integer", "minimum": 0}),
		form.Amount:   orParam(jsonSchema{"type": "number", "minimum": 0}),
		form.Span:     orParam(jsonSchema{"type": "string", "pattern": durationPattern}),
		form.Name:     {"type": scalar, "pattern": namePattern},
		form.Exprs:    {"type": append(scalar, "array"), "minItems": 1, "items": texts},
		form.Args:     {"type": "array", "items": texts},
		form.Words:    {"type": "array", "minItems": 1, "items": texts},
		form.Version:  {"const": languageVersion},
		form.Gate:     {"enum": gateWords()},
		form.Per:      {"enum": perWords()},
		form.OK:       {"enum": emptyWords()},
		form.Halt:     {"enum": haltWords()},
		form.Events:   {"anyOf": []jsonSchema{event, {"type": "array", "minItems": 1, "uniqueItems": true, "items": event}}},
		form.Schema:   {"type": []string{"string", "object", "boolean"}},
		form.Params:   named(jsonSchema{"type": "object"}),
		form.Memory:   named(jsonSchema{"type": "object", "required": []string{"default"}, "properties": jsonSchema{"per": per}}),
		form.Lets:     named(texts),
		form.Bindings: named(texts),
		form.Starts:   named(jsonSchema{"type": append(scalar, "object")}),
	}
}

// shapeSchema returns the schema of a key's value.
func shapeSchema(s form.Shape, sources []SourceKind) jsonSchema {
	object := func(ks form.Keys, required ...string) jsonSchema {
		o := objectSchema(ks, sources)
		if required != nil {
			o["required"] = required
		}
		return o
	}
	list := func(items jsonSchema) jsonSchema {
		return jsonSchema{"type": []string{"array", "null"}, "items": items}
	}
	needs := func(keys ...string) jsonSchema { return jsonSchema{"required": keys} }
	switch s {
	case form.Facts:
		facts := plainShapes()[form.Lets]
		kinds := make([]jsonSchema, len(sources))
		for i, k := range sources {
			kinds[i] = k.jsonSchema(sources)
		}
		facts["additionalProperties"] = jsonSchema{"oneOf": kinds}
		return facts
	case form.Measure:
		return object(form.MeasureKeys(), "done", "total")
	case form.Run:
		run := object(form.AgentKeys())
		run["dependentRequired"] = jsonSchema{"args": []string{"client"}}
		return run
	case form.Limits:
		return object(form.LimitKeys())
	case form.Loop:
		return object(form.LoopKeys(), "state")
	case form.Unless:
		unless := object(form.UnlessKeys(), "times")
		unless["properties"].(jsonSchema)["times"].(jsonSchema)["maximum"] = maxSaid
		return unless
	case form.Rules:
		rule := object(form.RuleKeys(), "name")
		var two []jsonSchema
		for i, a := range verbWords() {
			for _, b := range verbWords()[:i] {
				two = append(two, needs(b, a))
			}
		}
		rule["dependentRequired"] = jsonSchema{verbWait: []string{"until", "for"}, "until": []string{verbWait}, "every": []string{verbWait}, "for": []string{verbWait}, "on_unknown": []string{verbContinue}}
		rule["not"] = jsonSchema{"anyOf": two}
		return list(jsonSchema{"oneOf": []jsonSchema{rule, object(form.IncludeKeys(), "include")}})
	case form.Effects:
		var kinds []jsonSchema
		for _, k := range form.EffectKeys() {
			keys := form.Keys{k}
			if k.Name == "run" {
				keys = form.RunKeys()
			}
			kinds = append(kinds, object(keys, k.Name))
		}
		return list(jsonSchema{"oneOf": kinds})
	case form.Prune:
		return object(form.PruneKeys(), "glob", "older")
	case form.Finally:
		entry := object(form.FinallyKeys())
		entry["anyOf"] = []jsonSchema{needs("prune"), needs("log")}
		return list(entry)
	}
	text := jsonSchema{"type": []string{"string", "number", "boolean"}}
	if s == form.Parts {
		items := []jsonSchema{{"type": text["type"], "pattern": `\S`}, object(form.PartKeys(), "text")}
		return jsonSchema{"anyOf": []jsonSchema{text, {"type": "array", "minItems": 1, "items": jsonSchema{"anyOf": items}}}}
	}
	if plain, ok := plainShapes()[s]; ok {
		return plain
	}
	return text
}

// jsonSchema returns the schema of a fact with this source.
func (s SourceKind) jsonSchema(sources []SourceKind) jsonSchema {
	o := objectSchema(s.keys(), sources)
	required := []string{s.Name}
	if s.Value.Returns {
		required = append(required, s.schemaKey())
	}
	o["required"] = required
	properties := o["properties"].(jsonSchema)
	for _, option := range s.Options {
		if option.Kind == optionWord {
			properties[option.Name] = jsonSchema{"enum": option.Words, "description": option.Doc}
		}
	}
	if len(s.Words) > 0 {
		properties[s.Name] = jsonSchema{"enum": s.Words, "description": s.Doc}
	}
	return o
}
