package rules

import (
	"encoding/json"
	"fmt"
	"slices"
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
	p := objectSchema(policyKeys(), sources)
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
func objectSchema(ks keys, sources []SourceKind) jsonSchema {
	properties := jsonSchema{}
	for _, k := range ks {
		p := k.shape.schema(sources)
		p["description"] = k.doc
		properties[k.name] = p
	}
	return jsonSchema{"type": "object", "additionalProperties": false, "properties": properties}
}

// Patterns of texts in policies.
const (
	namePattern     = `^[a-z0-9]+(-[a-z0-9]+)*$`
	variablePattern = `^[A-Za-z_][A-Za-z0-9_]*$`
	durationPattern = `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
)

// schema is the schema of what a key of this shape takes.
func (s shape) schema(sources []SourceKind) jsonSchema {
	scalar := func() jsonSchema { return jsonSchema{"type": []string{"string", "number", "boolean"}} }
	object := func(ks keys, required ...string) jsonSchema {
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
	case shapeName:
		name := scalar()
		name["pattern"] = namePattern
		return name
	case shapeExprs:
		return jsonSchema{"type": []string{"string", "number", "boolean", "array"}, "minItems": 1, "items": scalar()}
	case shapeBool:
		return jsonSchema{"type": "boolean"}
	case shapeInt:
		return jsonSchema{"type": "integer", "minimum": 0}
	case shapeCount:
		return jsonSchema{"type": "integer", "minimum": 1}
	case shapeDuration:
		return jsonSchema{"type": "string", "pattern": durationPattern}
	case shapeVersion:
		return jsonSchema{"const": LanguageVersion}
	case shapeEvents:
		event := jsonSchema{"enum": KnownEvents()}
		return jsonSchema{"anyOf": []jsonSchema{event, {"type": "array", "minItems": 1, "uniqueItems": true, "items": event}}}
	case shapeGate:
		return jsonSchema{"enum": gateWords()}
	case shapePer:
		return jsonSchema{"enum": perWords()}
	case shapeAny:
		return jsonSchema{}
	case shapeSchema:
		return jsonSchema{"type": []string{"string", "object", "boolean"}}
	case shapeWords:
		return jsonSchema{"type": "array", "minItems": 1, "items": scalar()}
	case shapeParams:
		return named(jsonSchema{"type": "object"})
	case shapeLets, shapeBindings:
		return named(scalar())
	case shapeFacts:
		kinds := make([]jsonSchema, len(sources))
		for i, k := range sources {
			kinds[i] = k.jsonSchema(sources)
		}
		return named(jsonSchema{"oneOf": kinds})
	case shapeLimits:
		return object(limitKeys())
	case shapeUnless:
		return object(unlessKeys(), "times")
	case shapeRules:
		rule := object(ruleKeys(), "name")
		rule["not"] = jsonSchema{"anyOf": []jsonSchema{
			{"required": []string{"continue", "stop"}}, {"required": []string{"continue", "note"}}, {"required": []string{"stop", "note"}},
		}}
		return list(jsonSchema{"oneOf": []jsonSchema{rule, object(includeKeys(), "include")}})
	case shapeEffects:
		var kinds []jsonSchema
		for _, k := range effectKeys() {
			kinds = append(kinds, object(keys{k}, k.name))
		}
		return list(jsonSchema{"oneOf": kinds})
	case shapePrune:
		return object(pruneKeys(), "glob", "older")
	case shapeFinally:
		entry := object(finallyKeys())
		entry["anyOf"] = []jsonSchema{{"required": []string{"prune"}}, {"required": []string{"log"}}}
		return list(entry)
	case shapeText, shapeTemplate, shapePath, shapeExpr, shapeAssignment, shapeWord, shapeFact:
		return scalar() // a number or a boolean in YAML is its text here
	}
	panic(fmt.Sprintf("the shape %d has no schema", s))
}

// keys are the keys of a fact with this source.
func (s SourceKind) keys() keys {
	return slices.Concat(keys{{s.Name, s.argument(), s.Doc}}, s.options(), factOptionKeys())
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
		if option.Kind == OptionWord {
			properties[option.Name] = jsonSchema{"enum": option.Words, "description": option.Doc}
		}
	}
	if len(s.Words) > 0 {
		properties[s.Name] = jsonSchema{"enum": s.Words, "description": s.Doc}
	}
	return o
}
