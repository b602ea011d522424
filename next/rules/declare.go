package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/schema"
)

// params reads the params and gives them their values.
func (c *compiler) params(n *yaml.Node) {
	c.entries(n, "params", func(k, v *yaml.Node) {
		if !c.free(at(k), "param") {
			return
		}
		p := Param{Name: k.Value, Schema: c.schema(v)}
		if p.Schema == nil {
			c.symbol(p.Name, constant, nil)
			return
		}
		t := p.Schema.Type()
		given, isGiven := c.config.params[p.Name]
		value := copied(t.Default)
		if isGiven {
			value = paramText(given, t.Kind)
		}
		value, problems := p.Schema.Read(value)
		switch {
		case !isGiven && !t.HasDefault:
			c.report(at(k), 0, "param", fmt.Sprintf("the param %s has no default, and is not set", p.Name), "give it a default")
		case len(problems) > 0 && isGiven:
			c.report(at(k), 0, "param", fmt.Sprintf("the param %s is set to %q, and %s", p.Name, given, problems[0].Message), text.Nearest(given, texts(t.Enum)))
		case len(problems) > 0:
			c.report(at(k), 0, "param", fmt.Sprintf("the default of the param %s %s", p.Name, problems[0].Message), "")
		}
		p.Value = value
		for i := 0; i+1 < len(v.Content); i += 2 {
			if v.Content[i].Value == "description" {
				p.Description = v.Content[i+1].Value
			}
		}
		c.symbol(p.Name, constant, t).value = value
		c.p.Params = append(c.p.Params, p)
	})
	for _, name := range sortedKeys(c.config.params) {
		if s := c.symbols[name]; s == nil || s.meaning != constant {
			var names []string
			for _, p := range c.p.Params {
				names = append(names, p.Name)
			}
			c.report(spot{}, 1, "param", "the policy has no param "+name, text.Nearest(name, names))
		}
	}
}

// paramText reads the text of a param by the type of its schema.
func paramText(s, kind string) any {
	if kind != "string" && kind != "" {
		if v, err := schema.ParseJSON([]byte(strings.TrimSpace(s))); err == nil {
			return v
		}
	}
	return s
}

func texts(values []any) (out []string) {
	for _, v := range values {
		out = append(out, show(v))
	}
	return out
}

// schema compiles a schema that is written in the policy, in a file, or shipped. It is nil where that fails, which is reported once.
func (c *compiler) schema(n *yaml.Node) *schema.Schema {
	name, help := c.file, ""
	var src []byte
	var err error
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.MappingNode:
		if _, src = c.data(n); src == nil {
			return nil
		}
	case !c.scalar(n, "a schema"):
		return nil
	case strings.HasPrefix(n.Value, "ralph:"):
		name = n.Value[len("ralph:"):]
		var ok bool
		if src, ok = schema.Shipped(name); !ok {
			err, help = fmt.Errorf("ralph ships none of this name"), text.Nearest(name, schema.ShippedNames())
		}
	case c.files == nil:
		err = fmt.Errorf("no files can be read here")
	default:
		name = n.Value
		src, err = fs.ReadFile(c.files, strings.TrimPrefix(name, "./"))
	}
	var s *schema.Schema
	if err == nil {
		if s, err = schema.Compile(name, src); err != nil && n.Kind == yaml.MappingNode { // its place is one of the JSON text
			_, message, _ := strings.Cut(err.Error(), ": ")
			err = errors.New(message)
		}
	}
	if err != nil {
		c.report(at(n), 0, "schema", "the schema cannot be used: "+err.Error(), help)
		return nil
	}
	return s
}

// facts reads the facts.
func (c *compiler) facts(n *yaml.Node) {
	known := sources()
	for name := range c.config.sources {
		known[name] = &source{argument: aText}
	}
	c.entries(n, "facts", func(k, v *yaml.Node) {
		if !c.free(at(k), "fact") {
			return
		}
		f := &Fact{Name: k.Value, Line: k.Line, options: map[string]*template{}}
		given := c.symbols[f.Name]
		found := len(c.findings)
		c.fact(f, k, v, known)
		var t *schema.Type
		if found == len(c.findings) { // else the value is any, so that nothing follows from the mistake
			t = f.source.typeOf(f, known)
		}
		c.p.Facts = append(c.p.Facts, f)
		f.symbol = c.symbol(f.Name, factName, t)
		f.symbol.fact = f
		c.use(f.symbol)
		if given != nil && f.Source == "value" && f.Schema == nil {
			f.symbol.typ, f.symbol.goType = given.typ, given.goType
			c.engine.declare(f.symbol)
		}
	})
}

func (c *compiler) fact(f *Fact, k, v *yaml.Node, known map[string]*source) {
	names := sortedKeys(known)
	allowed := append(slices.Clone(names), "schema", "default", "inline", "timeout")
	for i := 0; i < len(v.Content); i += 2 {
		if s := known[v.Content[i].Value]; s != nil && v.Kind == yaml.MappingNode {
			f.source, f.Source = s, v.Content[i].Value
			allowed = append(allowed, s.options...)
		}
	}
	values := c.fields(v, "the fact "+f.Name, allowed)
	names = slices.DeleteFunc(names, func(s string) bool { return values.values[s] == nil })
	if len(names) != 1 {
		if len(names) > 0 {
			c.report(at(k), 0, "source", fmt.Sprintf("the fact %s has two sources, %s and %s", f.Name, names[0], names[1]), "make two facts of it")
		} else if v.Kind == yaml.MappingNode && values.whole() {
			c.report(at(k), 0, "source", fmt.Sprintf("the fact %s has no source", f.Name), "there is "+strings.Join(sortedKeys(known), ", "))
		}
		return
	}
	f.OnePath = f.source.argument == aPath
	argument := values.values[f.Source]
	switch {
	case f.source.argument == aProgram:
		f.args = c.program(argument, f.Source)
	case f.source.argument == aText:
		f.args = templates(c.template(argument, f.Source))
	default:
		f.args = templates(c.pathTemplate(argument, f.Source))
	}
	for _, key := range f.source.options {
		switch o := values.values[key]; key {
		case "parse":
			if c.scalar(o, key) {
				f.Parse = o.Value
			}
		case "command":
			f.command = c.program(o, key)
		default:
			if t := c.template(o, key); t != nil {
				f.options[key] = t
			}
		}
	}
	if parsers := []string{"", "json", "frontmatter", "checklist"}; !slices.Contains(parsers, f.Parse) {
		c.report(at(values.values["parse"]), 0, "source", "no file is parsed as "+f.Parse, text.Nearest(f.Parse, parsers[1:]))
	}
	c.factOptions(f, values)
}

func templates(t *template) []*template {
	if t == nil {
		return nil
	}
	return []*template{t}
}

// factOptions reads the options of all sources.
func (c *compiler) factOptions(f *Fact, values fields) {
	f.Timeout = c.duration(values.values["timeout"], "timeout")
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
			c.report(at(v), 0, "type", "inline is true or false", "")
		}
		if t := f.source.typ; values.values["schema"] == nil && (t == nil || t.Properties == nil) && c.values[f.Name] == nil {
			c.report(at(values.keys["inline"]), 0, "inline", "inline makes names of the fields of a schema, and there is none", "add schema: with properties")
		}
	}
}

// inlineFields makes names of the fields of inline facts. A field whose name has a meaning already stays FACT.FIELD.
func (c *compiler) inlineFields() {
	for _, f := range c.p.Facts {
		var fields map[string]*schema.Type
		if t := f.symbol.typ; f.Inline && t != nil {
			fields = merged(t.Properties, goFields(f.symbol.goType))
		}
		for _, name := range sortedKeys(fields) {
			s := c.symbols[name]
			switch {
			case s != nil:
				s.fieldOf = append(s.fieldOf, f.symbol)
			case isName(name) && !c.engine.isBuiltin(name):
				s = &symbol{id: -1, name: name, meaning: fieldName, typ: fields[name], fact: f, fieldOf: []*symbol{f.symbol}, read: map[*expression]spot{}}
				c.symbols[name] = s
				c.engine.declare(s)
			}
		}
	}
}

// copied returns a copy of a JSON value, which may be changed.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = copied(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copied(x)
		}
		return out
	}
	return v
}
