package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/schema"
)

// params reads the params and gives them their values. Their schemas are compiled as one, which takes a third of the time, and of draft-07,
// whose meta-schema is one instead of eight.
func (c *compiler) params(n *yaml.Node) {
	schemas := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	var names []string
	c.entries(n, "params", func(k, v *yaml.Node) {
		if !c.free(at(k), "param") {
			return
		}
		c.symbol(k.Value, constant, nil).at = at(k)
		if c.isKind(v, yaml.MappingNode, "the param "+k.Value+" is a schema", "write "+k.Value+": {default: VALUE}") {
			schemas.Content, names = append(schemas.Content, k, v), append(names, k.Value)
		}
	})
	if len(names) > 0 {
		scalar := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }
		whole := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column,
			Content: []*yaml.Node{scalar("$schema"), scalar("http://json-schema.org/draft-07/schema#"), scalar("properties"), schemas}}
		if s := c.schema(whole); s != nil {
			c.setParams(s, names)
		}
	}
	for _, name := range sortedKeys(c.Params) {
		if !slices.Contains(names, name) && len(c.findings) == 0 && !c.MoreParams {
			c.report(spot{}, 1, "param", "the policy has no param "+name, text.Nearest(name, names))
		}
	}
}

// setParams sets params: the given value, else the default. all is the schema of an object of them.
func (c *compiler) setParams(all *schema.Schema, names []string) {
	types, given := all.Type().Properties, map[string]any{}
	for name, set := range c.Params {
		given[name] = set
		if t := types[name]; t != nil && (t.Kind == "array" || t.Kind == "object") {
			if v, err := schema.ParseJSON([]byte(set)); err == nil {
				given[name] = v
			}
		}
	}
	read, problems := all.Read(all.Complete(given))
	values, _ := read.(map[string]any)
	for _, name := range names {
		s, t := c.symbols[name], types[name]
		what, help := "the default of the param "+name, ""
		if set, isSet := c.Params[name]; isSet {
			what, help = "the param "+name, text.Nearest(set, texts(t.Enum))
		}
		if problem, bad := problems.Touching([]string{name}); bad {
			c.report(s.at, 0, "param", what+" "+problem.Message, help)
		} else if values[name] == nil {
			c.report(s.at, 0, "param", fmt.Sprintf("the param %s has no default, and is not set", name), "give it a default")
		}
		s.typ, s.value, c.p.Params[name] = t, values[name], values[name]
		c.engine.declare(s)
	}
}

// descend returns the node at a path of keys and indices, or the last one on the way.
func descend(n *yaml.Node, path ...string) *yaml.Node {
	for i, value := range n.Content {
		name := strconv.Itoa(i)
		if n.Kind == yaml.MappingNode {
			name = n.Content[i-i%2].Value
		}
		isValue := n.Kind != yaml.MappingNode || i%2 == 1
		if isValue && len(path) > 0 && name == path[0] {
			return descend(value, path[1:]...)
		}
	}
	return n
}

func texts(values []any) (out []string) {
	for _, v := range values {
		out = append(out, show(v))
	}
	return out
}

// schema compiles a schema that is written in the policy, in a file, or shipped. It is nil where that fails, which is reported once.
func (c *compiler) schema(n *yaml.Node) *schema.Schema {
	if n == nil || n.Kind != yaml.MappingNode && !c.scalar(n, "a schema") {
		return nil
	}
	name, isShipped := strings.CutPrefix(n.Value, "ralph:")
	var src []byte
	var err error
	help := ""
	switch {
	case n.Kind == yaml.MappingNode:
		c.schemas = append(c.schemas, n)
		_, src = c.data(n)
	case isShipped:
		if src, isShipped = schema.Shipped(name); !isShipped {
			err, help = errors.New("ralph ships none of this name"), strings.Replace(text.Nearest(name, schema.ShippedNames()), `"`, `"ralph:`, 1)
		}
	case c.Files == nil:
		err = errors.New("no files can be read here")
	default:
		src, err = fs.ReadFile(c.Files, strings.TrimPrefix(name, "./"))
	}
	var s *schema.Schema
	if err == nil {
		s, err = schema.Compile(src)
	}
	if err == nil {
		return s
	}
	message := strings.TrimPrefix(name+": "+err.Error(), ": ")
	if invalid := (schema.Problem{}); n.Kind == yaml.MappingNode && errors.As(err, &invalid) {
		n = descend(n, invalid.Path...)
	} else if errors.Is(err, fs.ErrNotExist) {
		help = "write its path from the project's root; a schema that ralph ships is written ralph:NAME"
	}
	c.report(at(n), 0, "schema", "the schema cannot be used: "+message, help)
	return nil
}

// facts reads the facts.
func (c *compiler) facts(n *yaml.Node) {
	known := sources()
	for _, name := range c.Sources {
		known[name] = &source{argument: aText, sets: maxFileDepth}
	}
	c.entries(n, "facts", func(k, v *yaml.Node) {
		if !c.free(at(k), "fact") {
			return
		}
		f := &Fact{Name: k.Value, Line: k.Line, options: map[string][]*template{}}
		given := c.symbols[f.Name]
		found := len(c.findings)
		c.fact(f, k, v, known)
		var t *schema.Type
		var goType reflect.Type
		switch {
		case found < len(c.findings): // then the value is any, so that nothing follows from the mistake
			c.anyName = c.anyName || descend(v, "inline") != v
		case given != nil && f.Source == "value" && f.Schema == nil:
			t, goType = given.typ, given.goType
		default:
			t = f.source.typeOf(f, known)
		}
		c.p.Facts = append(c.p.Facts, f)
		f.symbol = c.symbol(f.Name, factName, t)
		f.symbol.fact, f.symbol.at, f.symbol.goType = f, at(k), goType
	})
}

func (c *compiler) fact(f *Fact, k, v *yaml.Node, known map[string]*source) {
	allowed := append(sortedKeys(known), "schema", "default", "inline", "timeout")
	var names []string
	for i, k := range v.Content {
		if s := known[k.Value]; s != nil && v.Kind == yaml.MappingNode && i%2 == 0 {
			f.source, f.Source, names, allowed = s, k.Value, append(names, k.Value), append(allowed, sortedKeys(s.options)...)
		}
	}
	values := c.fields(v, "the fact "+f.Name, allowed)
	switch {
	case len(names) > 1:
		c.report(at(k), 0, "source", fmt.Sprintf("the fact %s has two sources, %s and %s", f.Name, names[0], names[1]), "make two facts of it")
		return
	case f.source == nil:
		if values.whole() {
			c.report(at(k), 0, "source", fmt.Sprintf("the fact %s has no source", f.Name), "there is "+strings.Join(sortedKeys(known), ", "))
		}
		return
	}
	f.OnePath = f.source.argument == aPath
	f.args = c.argument(values.values[f.Source], f.Source, f.source.argument)
	for key, as := range f.source.options {
		if args := c.argument(values.values[key], key, as); key == "parse" && args != nil {
			f.Parse = args[0].node.Value
		} else if args != nil {
			f.options[key] = args
		}
	}
	c.factOptions(f, values)
}

// argument reads what a source, an option or an effect takes.
func (c *compiler) argument(n *yaml.Node, what string, as argument) []*template {
	var t *template
	switch as {
	case aProgram:
		return c.program(n, what)
	case aText:
		t = c.template(n, what)
	case aWord:
		words := map[string][]string{"parse": {"json", "frontmatter", "checklist"}, "tasks": {"claude"}}[what]
		if t = c.template(n, what); t != nil && !slices.Contains(words, n.Value) {
			c.report(at(n), 0, "source", fmt.Sprintf("%s is %s, and this is %s", what, strings.Join(words, " or "), n.Value), text.Nearest(n.Value, words))
		}
	case aNumber:
		if i := amount[int](c, n, what); i > 0 {
			t = &template{node: n, lits: []string{strconv.Itoa(i)}}
		}
	default:
		t = c.pathTemplate(n, what)
	}
	if t == nil {
		return nil
	}
	return []*template{t}
}

// factOptions reads the options of all sources.
func (c *compiler) factOptions(f *Fact, values fields) {
	f.Timeout = amount[time.Duration](c, values.values["timeout"], "timeout")
	f.Schema = c.schema(values.values["schema"])
	if d := values.values["default"]; d != nil {
		f.fallback, _ = c.data(d)
		f.defaults = true
		if f.Parse == "" {
			v, problems := f.Schema.Read(f.fallback)
			if len(problems) > 0 {
				c.report(at(d), 0, "type", fmt.Sprintf("the default of the fact %s breaks its schema: %s", f.Name, problemText(problems[0])), "")
			}
			f.fallback = v
		}
	}
	if v := values.values["inline"]; v != nil {
		f.Inline = v.Value == "true"
		if v.Tag != "!!bool" {
			c.report(at(v), 0, "type", "inline is true or false", "write inline: true")
		}
		t, n := f.source.typ, values.values["schema"]
		if f.Schema != nil {
			t = f.Schema.Type()
		}
		if (n == nil || f.Schema != nil) && (t == nil || len(t.Properties) == 0) && c.Values[f.Name] == nil {
			c.report(at(values.keys["inline"]), 0, "inline", "inline makes names of the properties of a schema, and there are none", "write schema: {properties: {NAME: {}}}, or the path of a file with properties")
		}
	}
}

// inlineFields makes names of the fields of inline facts. A field whose name has a meaning already stays FACT.FIELD.
func (c *compiler) inlineFields() {
	for _, f := range c.p.Facts {
		if !f.Inline {
			continue
		}
		fields := goFields(f.symbol.goType)
		if t := f.symbol.typ; t != nil && t.Go == nil {
			fields = t.Properties
		}
		for _, name := range sortedKeys(fields) {
			s := c.name(name)
			switch {
			case s != nil:
				s.fieldOf = append(s.fieldOf, f.symbol)
			case c.engine.isName(name) && c.engine.conf.Builtins[name] == nil:
				s = c.symbol(name, fieldName, fields[name])
				s.fact, s.fieldOf = f, []*symbol{f.symbol}
			}
		}
	}
}

// argument is the kind of what a source, an option or an effect takes.
type argument int

const (
	aPath    argument = iota // of one file
	aPlace                   // of a file or directory
	aPattern                 // of files, where a value matches only itself
	aProgram                 // a list: the program and its arguments
	aText
	aWord // one of several
	aNumber
)

// source is a kind of fact, with what is known of its values.
type source struct {
	argument argument
	sets     int          // how many fields below it set can change; -1: set cannot change it
	typ      *schema.Type // nil: of any
	options  map[string]argument
}

// sources returns the sources by name, without those of the embedding program.
func sources() map[string]*source {
	item := object{"text": "", "mark": "", "done": false, "depth": 0, "line": 0, "section": "", "tags": []string{}, "source": ""}
	ran := object{"code": 0, "stdout": "", "stderr": "", "output": "", "lines": []string{}}
	return map[string]*source{
		"text":        {aPath, 0, typeOf(""), nil},
		"json":        {aPath, maxFileDepth, nil, nil},
		"frontmatter": {aPath, 1, &schema.Type{Kind: "object"}, nil},
		"checklist":   {aPath, -1, typeOf([]any{item}), nil},
		"glob":        {aPattern, -1, typeOf([]string{}), map[string]argument{"parse": aWord}},
		"exec":        {aProgram, -1, typeOf(ran), map[string]argument{"dir": aPath}},
		"git":         {aPlace, -1, typeOf(object{"dirty": false, "changed": []string{}, "branch": "", "ahead": 0}), nil},
		"tasks":       {aWord, -1, typeOf([]any{}), nil},
		"junit":       {aPath, -1, typeOf(object{"tests": 0, "failures": 0, "errors": 0, "skipped": 0, "failed": []string{}}), nil},
		"judge":       {aText, -1, nil, map[string]argument{"model": aText, "system": aText, "turns": aNumber, "max_tokens": aNumber, "command": aProgram}},
		"value":       {aText, maxFileDepth, nil, nil},
	}
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
		withBody := *t
		withBody.Properties = merged(t.Properties, map[string]*schema.Type{"body": {Kind: "string", HasDefault: true, Default: ""}})
		t = &withBody
	}
	if f.Parse != "" {
		file := typeOf(object{"path": "", "value": nil})
		file.Properties["value"] = t
		return &schema.Type{Kind: "array", Items: file}
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
