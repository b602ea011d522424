package rules

import (
	"encoding/json"
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
		if !c.free(spot{k, 0}, k.Value, "the param") {
			return
		}
		p := Param{Name: k.Value, Schema: c.schema(v)}
		s := c.symbol(p.Name, paramName, nil)
		if p.Schema != nil {
			s.typ = p.Schema.Type()
			c.engine.declare(p.Name, s.typ)
			c.paramValue(&p, k, v)
		}
		s.value = p.Value
		c.p.Params = append(c.p.Params, p)
	})
	for _, name := range sortedKeys(c.config.params) {
		if !slices.Contains(c.paramNames(), name) {
			c.add(Finding{Line: 1, Col: 1, Check: "param", Message: "the policy has no param " + name, Help: text.Nearest(name, c.paramNames())})
		}
	}
}

func (c *compiler) paramValue(p *Param, k, v *yaml.Node) {
	for i := 0; i+1 < len(v.Content); i += 2 {
		if v.Content[i].Value == "description" {
			p.Description = v.Content[i+1].Value
		}
	}
	t := p.Schema.Type()
	given, ok := c.config.params[p.Name]
	switch {
	case ok:
		value, problems := p.Schema.Read(paramText(given, t.Kind))
		if len(problems) > 0 {
			help := ""
			if len(t.Enum) > 0 {
				help = text.Nearest(given, texts(t.Enum))
			}
			c.reportNode(k, "param", fmt.Sprintf("the param %s is set to %q, which %s", p.Name, given, problems[0].Message), help)
		}
		p.Value = value
	case t.HasDefault:
		value, problems := p.Schema.Read(numbers(t.Default))
		if len(problems) > 0 {
			c.reportNode(k, "param", fmt.Sprintf("the default of the param %s %s", p.Name, problems[0].Message), "")
		}
		p.Value = value
	default:
		c.reportNode(k, "param", fmt.Sprintf("the param %s has no default, and is not set", p.Name), "give it a default")
	}
}

// paramText reads the text of a param by the type of its schema.
func paramText(s, kind string) any {
	switch kind {
	case "integer", "number", "boolean", "array", "object":
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
	name, src, err := c.file, []byte(nil), error(nil)
	switch {
	case n.Kind == yaml.MappingNode:
		var v any
		if v, err = plainValueOf(n); err == nil {
			src, err = json.Marshal(v)
		}
	case !c.scalar(n, "a schema"):
		return nil
	default:
		name = n.Value
		src, err = c.schemaFile(n.Value)
	}
	var s *schema.Schema
	if err == nil {
		s, err = schema.Compile(name, src)
	}
	if err != nil {
		help := ""
		if rest, ok := strings.CutPrefix(n.Value, "ralph:"); ok {
			help = text.Nearest(rest, schema.ShippedNames())
		}
		c.reportNode(n, "schema", "the schema cannot be used: "+err.Error(), help)
		return nil
	}
	return s
}

func (c *compiler) schemaFile(name string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(name, "ralph:"); ok {
		src, ok := schema.Shipped(rest)
		if !ok {
			return nil, fmt.Errorf("ralph ships no schema %s", rest)
		}
		return src, nil
	}
	if c.files == nil {
		return nil, fmt.Errorf("%s is a file, and no files can be read here", name)
	}
	return fs.ReadFile(c.files, strings.TrimPrefix(name, "./"))
}

// facts reads the facts.
func (c *compiler) facts(n *yaml.Node) {
	known := sources()
	for name := range c.sources {
		known[name] = &source{argument: aText, own: true}
	}
	c.entries(n, "facts", func(k, v *yaml.Node) {
		if !c.free(spot{k, 0}, k.Value, "a fact") {
			return
		}
		f := &Fact{Name: k.Value, Line: k.Line, options: map[string]*template{}}
		given := c.symbols[f.Name]
		c.fact(f, k, v, known)
		if f.source == nil {
			f.typ = nil
		} else if f.typ = f.source.typeOf(f, known); f.Source == "value" && f.Schema == nil && given != nil {
			f.typ = given.typ
		}
		c.p.Facts = append(c.p.Facts, f)
		f.symbol = c.symbol(f.Name, factName, f.typ)
		f.symbol.fact = f
		if given != nil && f.Source == "value" && f.Schema == nil {
			f.symbol.goType = given.goType
		}
	})
}

var factOptions = []string{"schema", "default", "inline", "timeout"}

func (c *compiler) fact(f *Fact, k, v *yaml.Node, known map[string]*source) {
	if v.Kind != yaml.MappingNode {
		c.reportNode(k, "source", fmt.Sprintf("the fact %s has no source", f.Name), "write a source and its argument, such as json: state.json")
		return
	}
	allowed := append(sortedKeys(known), factOptions...)
	for i := 0; i < len(v.Content); i += 2 {
		if s := known[v.Content[i].Value]; s != nil {
			allowed = append(allowed, s.options...)
		}
	}
	values := c.fields(v, "the fact "+f.Name, allowed...)
	for _, name := range sortedKeys(known) {
		switch {
		case !values.has(name):
		case f.source != nil:
			c.reportNode(values.keys[name], "source", fmt.Sprintf("the fact %s has two sources, %s and %s", f.Name, f.Source, name), "make two facts of it")
		default:
			f.Source, f.source = name, known[name]
		}
	}
	if f.source == nil {
		if len(values.node.Content) == 0 || len(values.values)*2 == len(values.node.Content) {
			c.reportNode(k, "source", fmt.Sprintf("the fact %s has no source", f.Name), "there is "+strings.Join(sortedKeys(known), ", "))
		}
		return
	}
	c.factArgument(f, values.values[f.Source])
	c.factOptions(f, values)
}

// factArgument reads what a source is asked for.
func (c *compiler) factArgument(f *Fact, n *yaml.Node) {
	f.OnePath = f.source.argument == aPath
	switch f.source.argument {
	case aProgram:
		f.args = c.program(n, f.Source)
	case aWord:
		if c.scalar(n, f.Source) {
			f.args = []*template{{lits: []string{n.Value}}}
			if f.Source == "tasks" && n.Value != "claude" {
				c.reportNode(n, "source", "the host's task list is written tasks: claude", "")
			}
		}
	default:
		if t := c.template(n, f.Source); t != nil {
			f.args = []*template{t}
			if f.source.argument != aText {
				c.pathTemplate(t)
			}
		}
	}
}

// pathTemplate reports a path that leads out of the project as it is written.
func (c *compiler) pathTemplate(t *template) {
	first := t.lits[0]
	bad := strings.HasPrefix(first, "/") || strings.HasPrefix(first, `\`)
	for _, lit := range t.lits {
		bad = bad || slices.Contains(strings.FieldsFunc(lit, isSlash), "..")
	}
	if bad {
		c.reportNode(t.node, "path", "the path leads out of the project", "write a path from the project's root, or one that begins with ~/")
	}
}

// program reads a program and its arguments. The program itself is literal: no value may choose it.
func (c *compiler) program(n *yaml.Node, what string) (args []*template) {
	for _, x := range c.list(n, what) {
		t := c.template(x, what)
		if t == nil {
			return nil
		}
		if len(args) == 0 && len(t.exprs) > 0 {
			c.reportNode(x, "program", "the program is written out, without placeholders", "")
		}
		args = append(args, t)
	}
	if len(args) == 0 && n != nil && n.Kind == yaml.SequenceNode {
		c.reportNode(n, "program", what+" names no program", "write "+what+": [program, argument, …]")
	}
	return args
}

func (c *compiler) factOptions(f *Fact, values fields) {
	for _, key := range f.source.options {
		v := values.values[key]
		switch {
		case v == nil:
		case key == "parse":
			if f.Parse = v.Value; !slices.Contains(parsers, v.Value) {
				c.reportNode(v, "source", "a file is not parsed as "+v.Value, text.Nearest(v.Value, parsers))
				f.Parse = ""
			}
		case key == "command":
			f.command = c.program(v, key)
		default:
			if t := c.template(v, key); t != nil {
				f.options[key] = t
			}
		}
	}
	if v := values.values["timeout"]; v != nil {
		f.Timeout = c.duration(v, "timeout")
	}
	if v := values.values["schema"]; v != nil {
		f.Schema = c.schema(v)
	}
	if v := values.values["default"]; v != nil {
		value, err := plainValueOf(v)
		if err != nil {
			c.reportNode(v, "type", "the default is no JSON value: "+err.Error(), "")
		}
		c.factDefault(f, v, value)
	}
	if v := values.values["inline"]; v != nil && c.truth(v, "inline") {
		f.Inline = true
		if fixed := f.source.typ != nil && f.source.typ.Properties != nil; values.values["schema"] == nil && !fixed && c.values[f.Name] == nil {
			c.reportNode(values.keys["inline"], "inline", "inline makes names of the fields of a schema, and there is none", "add schema: with properties")
		}
	}
}

// factDefault takes the value of a fact that is missing, as its schema completes it.
func (c *compiler) factDefault(f *Fact, n *yaml.Node, value any) {
	f.defaults, f.fallback = true, numbers(value)
	if f.Schema == nil || f.Parse != "" {
		return
	}
	v, problems := f.Schema.Read(f.fallback)
	if len(problems) > 0 {
		c.reportNode(n, "type", "the default of the fact "+f.Name+" breaks its schema: "+problemText(problems[0]), "")
	}
	f.fallback = v
}

// numbers makes whole numbers of a YAML value int, as in JSON.
func numbers(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	if out, err := schema.ParseJSON(b); err == nil {
		return out
	}
	return v
}

// inlineFields makes names of the fields of inline facts. A field whose name has a meaning already stays FACT.FIELD.
func (c *compiler) inlineFields() {
	for _, f := range c.p.Facts {
		if !f.Inline {
			continue
		}
		for _, name := range c.fieldNames(f.typ) {
			switch s := c.symbols[name]; {
			case c.engine.isFunction(name) || !isName(name):
			case s == nil:
				s = &symbol{id: f.symbol.id, name: name, meaning: factName, typ: f.typ.At(name), fact: f, inlined: []*symbol{f.symbol}}
				c.symbols[name] = s
				c.engine.declare(name, s.typ)
			default:
				s.inlined = append(s.inlined, f.symbol)
			}
		}
	}
}

// fieldNames returns the fields of a type, sorted.
func (c *compiler) fieldNames(t *schema.Type) []string {
	switch {
	case t == nil:
		return nil
	case t.Go != nil:
		return goFields(t.Go)
	}
	return sortedKeys(t.Properties)
}

// lets reads the named expressions.
func (c *compiler) lets(n *yaml.Node) {
	c.entries(n, "let", func(k, v *yaml.Node) {
		if !c.free(spot{k, 0}, k.Value, "the let") || !c.scalar(v, "let "+k.Value) {
			return
		}
		s := c.symbol(k.Value, letName, nil)
		s.let = c.newExpression(spot{v, 0}, v.Value, anyValue)
		s.let.symbol = s
	})
}
