package main

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// An output is what a command prints as JSON.
type output struct {
	name string
	what string
	of   reflect.Type
}

// outputs returns the JSON outputs of commands, by their names for ralph help schema.
func outputs() []output {
	record := reflect.TypeFor[loop.Record]()
	return []output{
		{"status", "What ralph status --format json prints.", reflect.TypeFor[project.Status]()},
		{"policies", "What ralph policies --format json prints.", reflect.TypeFor[[]listedPolicy]()},
		{"log", "A line of the decision log, which ralph log --format json prints.", record},
		{"explain", "What ralph explain --format json prints: decisions, the oldest first.", reflect.SliceOf(record)},
		{"check", "What ralph check --format json prints: the findings.", reflect.TypeFor[rules.Diagnostics]()},
		{"test-report", "What ralph test --format json prints.", reflect.TypeFor[testReport]()},
		{"doctor", "What ralph doctor --format json prints.", reflect.TypeFor[doctorReport]()},
		{"diff", "What ralph diff --format json prints.", reflect.TypeFor[rules.Comparison]()},
		{"diff-log", "What ralph diff --log --format json prints.", reflect.TypeFor[logComparison]()},
		{"graph", "What ralph graph --format json prints.", reflect.TypeFor[graph.Graph]()},
		{"run", "A line of what ralph run --format json prints: an event. All but the kind output are lines of run.jsonl too.", reflect.TypeFor[run.Event]()},
		{"runs", "What ralph run --list --format json prints.", reflect.TypeFor[[]run.Info]()},
	}
}

func outputNames() (names []string) {
	for _, o := range outputs() {
		names = append(names, o.name)
	}
	return names
}

// schema returns the JSON Schema of an output, generated from the Go type that is printed, so that they agree. Fields
// may be added later; none is renamed.
func (o output) schema() []byte {
	w := schemaWriter{defs: map[string]any{}}
	root := w.of(o.of, true)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "ralph " + o.name
	root["description"] = o.what
	if len(w.defs) > 0 {
		root["$defs"] = w.defs
	}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // it has only strings, lists and maps
	}
	return append(b, '\n')
}

// A schemaWriter generates JSON Schemas of Go types. Structs become definitions, by name.
type schemaWriter struct{ defs map[string]any }

// of returns the schema of a type. With absent, a nil list or map is omitted; otherwise it is null.
func (w *schemaWriter) of(t reflect.Type, absent bool) map[string]any {
	nullable := func(kind string) any {
		if absent {
			return kind
		}
		return []string{kind, "null"}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Pointer:
		return w.of(t.Elem(), true) // no printed pointer is nil
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": nullable("array"), "items": w.of(t.Elem(), false)}
	case reflect.Map:
		return map[string]any{"type": nullable("object"), "additionalProperties": w.of(t.Elem(), false)}
	case reflect.Struct:
		return w.object(t)
	}
	return map[string]any{} // any value
}

func (w *schemaWriter) object(t reflect.Type) map[string]any {
	if t.Name() == "" {
		return w.fields(t)
	}
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if _, known := w.defs[name]; !known {
		w.defs[name] = nil // it may contain itself
		w.defs[name] = w.fields(t)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

func (w *schemaWriter) fields(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		absent := strings.Contains(options, "omit")
		properties[name] = w.of(f.Type, absent)
		if !absent {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
