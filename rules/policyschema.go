package rules

import (
	"encoding/json"
	"fmt"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// jsonSchema is a JSON Schema that is being made.
type jsonSchema = map[string]any

// PolicySchema gives the JSON Schema of policy files, for editors and for programs
// that write policies. It is made from the tables that the parser uses: a policy
// that loads satisfies it. sources are the fact sources to describe; nil means
// those that ralph has.
func PolicySchema(sources []SourceKind) []byte {
	if sources == nil {
		sources = Sources()
	}
	p := objectSchema(form.PolicyKeys(), sources)
	p["required"] = []string{"ralph"}
	p["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	p["title"] = "ralph policy"
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil { // it is made of texts, numbers, lists and maps
		panic(err)
	}
	return append(b, '\n')
}

// objectSchema is the schema of an object with these keys and no others.
func objectSchema(ks form.Keys, sources []SourceKind) jsonSchema {
	properties := jsonSchema{}
	for _, k := range ks {
		p := shapeSchema(k.Shape, sources)
		p["description"] = k.Doc
		properties[k.Name] = p
	}
	return jsonSchema{"type": "object", "additionalProperties": false, "properties": properties}
}

// Patterns of texts in policies.
const (
	namePattern     = `^[a-z0-9]+(-[a-z0-9]+)*$`
	variablePattern = `^[A-Za-z_][A-Za-z0-9_]*$`
	durationPattern = `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
)

// shapeSchema is the schema of what a key of this shape takes.
func shapeSchema(s form.Shape, sources []SourceKind) jsonSchema {
	scalar := func() jsonSchema { return jsonSchema{"type": []string{"string", "number", "boolean"}} }
	object := func(ks form.Keys, required ...string) jsonSchema {
		o := objectSchema(ks, sources)
		if len(required) > 0 {
			o["required"] = required
		}
		return o
	}
	list := func(items jsonSchema) jsonSchema {
		return jsonSchema{"type": []string{"array", "null"}, "items": items}
	}
	named := func(values jsonSchema) jsonSchema {
		return jsonSchema{"type": []string{"object", "null"}, "propertyNames": jsonSchema{"pattern": variablePattern}, "additionalProperties": values}
	}
	switch s {
	case form.Name:
		name := scalar()
		name["pattern"] = namePattern
		return name
	case form.Exprs:
		return jsonSchema{"type": []string{"string", "number", "boolean", "array"}, "minItems": 1, "items": scalar()}
	case form.Bool:
		return jsonSchema{"type": "boolean"}
	case form.Int:
		return jsonSchema{"type": "integer", "minimum": 0}
	case form.Count:
		return jsonSchema{"type": "integer", "minimum": 1}
	case form.Duration:
		return jsonSchema{"type": "string", "pattern": durationPattern}
	case form.Version:
		return jsonSchema{"const": languageVersion}
	case form.Events:
		event := jsonSchema{"enum": vocab.Events()}
		return jsonSchema{"anyOf": []jsonSchema{event, {"type": "array", "minItems": 1, "uniqueItems": true, "items": event}}}
	case form.Gate:
		return jsonSchema{"enum": gateWords()}
	case form.Per:
		return jsonSchema{"enum": perWords()}
	case form.Any:
		return jsonSchema{}
	case form.Schema:
		return jsonSchema{"type": []string{"string", "object", "boolean"}}
	case form.Args:
		return jsonSchema{"type": "array", "items": scalar()}
	case form.Words:
		return jsonSchema{"type": "array", "minItems": 1, "items": scalar()}
	case form.Params:
		return named(jsonSchema{"type": "object"})
	case form.Memory:
		per := jsonSchema{"enum": memoryPer(), "description": "What the value belongs to; session by default."}
		return named(jsonSchema{"type": "object", "required": []string{"default"}, "properties": jsonSchema{"per": per}})
	case form.Lets, form.Bindings:
		return named(scalar())
	case form.Facts:
		kinds := make([]jsonSchema, len(sources))
		for i, k := range sources {
			kinds[i] = k.jsonSchema(sources)
		}
		return named(jsonSchema{"oneOf": kinds})
	case form.Limit:
		return jsonSchema{"anyOf": []jsonSchema{{"type": "integer", "minimum": 0}, {"type": "string", "pattern": variablePattern}}}
	case form.Span:
		return jsonSchema{"anyOf": []jsonSchema{{"type": "string", "pattern": durationPattern}, {"type": "string", "pattern": variablePattern}}}
	case form.Amount:
		return jsonSchema{"anyOf": []jsonSchema{{"type": "number", "minimum": 0}, {"type": "string", "pattern": variablePattern}}}
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
	case form.Starts:
		return named(jsonSchema{"type": []string{"string", "number", "boolean", "object"}})
	case form.Unless:
		unless := object(form.UnlessKeys(), "times")
		unless["properties"].(jsonSchema)["times"].(jsonSchema)["maximum"] = maxSaid
		return unless
	case form.Rules:
		rule := object(form.RuleKeys(), "name")
		rule["not"] = jsonSchema{"anyOf": []jsonSchema{
			{"required": []string{"continue", "stop"}}, {"required": []string{"continue", "note"}}, {"required": []string{"stop", "note"}},
		}}
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
		entry["anyOf"] = []jsonSchema{{"required": []string{"prune"}}, {"required": []string{"log"}}}
		return list(entry)
	case form.Parts:
		part := scalar()
		part["pattern"] = `\S`
		keyed := object(form.PartKeys(), "text")
		return jsonSchema{"anyOf": []jsonSchema{scalar(), {"type": "array", "minItems": 1, "items": jsonSchema{"anyOf": []jsonSchema{part, keyed}}}}}
	case form.Text, form.Template, form.Path, form.Expr, form.Assignment, form.Word, form.Fact:
		return scalar() // a number or a boolean in YAML is its text here
	}
	panic(fmt.Sprintf("the shape %d has no schema", s))
}

// jsonSchema is the schema of a fact with this source.
func (s SourceKind) jsonSchema(sources []SourceKind) jsonSchema {
	o := objectSchema(s.keys(), sources)
	required := []string{s.Name}
	if s.Returns {
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
