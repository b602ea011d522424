package rules

import (
	"bytes"
	"errors"
	"io/fs"
	stdpath "path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// schemaOf returns the compiled schema of a fact.
func (c *compiler) schemaOf(sc *scope, n *yamltree.Node) *schema.Schema {
	s, err := c.findSchema(sc, n)
	if err != nil {
		at, message, help := schemaProblem(n, err)
		c.errorf(sc, at, "schema", help, "the schema cannot be used: %s", message)
		return nil
	}
	if s != nil {
		const perValue = 5 // a value of a schema costs more than one of the policy
		values, instructions := s.Size()
		if !c.load.affords(perValue*values) || !c.engine.patterns.affords(instructions) {
			c.errorf(sc, n, "too-big", "write shorter schemas and patterns", "the schemas of the policy are too large together")
			return nil
		}
	}
	if s == nil || c.lazy {
		return s
	}
	for _, w := range s.Widened() {
		c.warnf(sc, keyAt(n, w.Pointer), "schema-widened", "declare the type of each field, or ignore this", "rules can use the value at %q without a check of its type: %s", w.Pointer, w.Why)
	}
	for _, u := range s.Unknown() {
		c.warnf(sc, keyAt(n, u.Pointer), "schema-keyword", u.Help, "%s, at %q in the schema", u.Message, u.Pointer)
	}
	return s
}

// findSchema returns the schema in a node or named by it. It is nil without an error if the problem was reported.
func (c *compiler) findSchema(sc *scope, n *yamltree.Node) (*schema.Schema, error) {
	if n.Kind == yamltree.Map || n.Tag == "!!bool" {
		return schema.FromValue(sc.file.name, n.Decode())
	}
	if n.Kind != yamltree.Scalar || n.Value == "" || n.Tag == "!!null" {
		return nil, errors.New("write an object, a file name or ralph:NAME")
	}
	if name, ok := strings.CutPrefix(n.Value, "ralph:"); ok {
		src, ok := schema.Shipped(name)
		if !ok {
			c.errorf(sc, n, "schema", nearest.DidYouMean(name, schema.ShippedNames()), "unknown shipped schema %q; the shipped ones are %s", name, list(schema.ShippedNames()))
			return nil, nil
		}
		return schema.Compile(n.Value, src)
	}
	at, err := beside(sc.file, n.Value)
	if err != nil {
		return nil, err
	}
	f, err := c.load.read(sc.file.fs, at)
	if err != nil {
		name, _, _ := strings.Cut(stdpath.Base(at), ".")
		if src, shipped := schema.Shipped(name); shipped && errors.Is(err, fs.ErrNotExist) {
			c.errorf(sc, n, "schema", "write ralph:"+name+" for the schema that ships with ralph", "the schema cannot be used: %v", err)
			return schema.Compile("ralph:"+name, src) // this is the intended one
		}
		return nil, err
	}
	if !slices.ContainsFunc(c.program.origin.files, func(o File) bool { return o.Name == f.name && bytes.Equal(o.Src, f.src) }) {
		c.program.origin.files = append(c.program.origin.files, File{Name: f.name, Src: f.src})
	}
	return schema.Compile(at, f.src)
}

// schemaProblem describes a problem of a schema, and its node if the schema is in the policy.
func schemaProblem(n *yamltree.Node, err error) (at *yamltree.Node, message, help string) {
	var ce *schema.CompileError
	if !errors.As(err, &ce) {
		return n, err.Error(), ""
	}
	message, help = ce.Message, ce.Help
	if ce.Pointer != "" {
		message += ", at " + quote(ce.Pointer)
	}
	at = n
	for _, step := range schema.SplitPointer(ce.Pointer) {
		child := at.Get(step)
		if child == nil {
			break
		}
		at = child
	}
	return at, message, help
}

// keyAt returns the key that a pointer names in a schema within the policy; n itself if the schema is a file.
func keyAt(n *yamltree.Node, pointer string) *yamltree.Node {
	at, key := n, n
	for _, step := range schema.SplitPointer(pointer) {
		i := slices.IndexFunc(at.Fields, func(f yamltree.Field) bool { return f.Key.Value == step })
		if i < 0 {
			break
		}
		key, at = at.Fields[i].Key, at.Fields[i].Value
	}
	return key
}
