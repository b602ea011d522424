// Package form holds the tables of keys that the policy language is made of. The
// parser and the JSON Schema for editors are made from them, and the formatter is
// tested against them, so that the three cannot disagree.
package form

import "slices"

// A Key is one key of an object of the policy language.
type Key struct {
	Name  string
	Shape Shape
	Doc   string
}

// Keys is the table of one kind of object.
type Keys []Key

// Names lists the keys in the order of the table.
func (ks Keys) Names() []string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.Name
	}
	return names
}

// Has reports whether there is a key of this name.
func (ks Keys) Has(name string) bool { return ks.index(name) >= 0 }

// Shape returns what the key of this name takes, Text if there is none.
func (ks Keys) Shape(name string) Shape {
	if i := ks.index(name); i >= 0 {
		return ks[i].Shape
	}
	return Text
}

func (ks Keys) index(name string) int {
	return slices.IndexFunc(ks, func(k Key) bool { return k.Name == name })
}

// Shape is what a key of the policy language takes.
type Shape uint8

// The shapes.
const (
	Text       Shape = iota // plain text
	Name                    // text in kebab-case
	Template                // text with ${expr} holes
	Parts                   // one, or a list of parts
	Path                    // a path with ${expr} holes
	Expr                    // an expr expression
	Exprs                   // one, or a list of them
	Assignment              // path = expression
	Bool                    //
	Int                     // a whole number, 0 or more
	Count                   // a whole number, 1 or more
	Duration                // such as 30s, 5m, 24h
	Version                 // the language version
	Events                  // a list of event names
	Gate                    // first or all
	Per                     // prompt, session or project
	Word                    // one of the words that a source names
	Any                     // any value
	Schema                  // a JSON Schema, or the name of one
	Fact                    // the name of a fact
	Words                   // a list of templates
	Params                  // name → JSON Schema with default
	Facts                   // name → fact
	Memory                  // name → JSON Schema with default and per
	Lets                    // name → expression
	Bindings                // name → expression
	Limits
	Limit  // a whole number, 0 or more, or the name of a param
	Span   // a duration, or the name of a param
	Amount // a number, 0 or more, or the name of a param
	Measure
	Run
	Args // a list of texts
	Unless
	Rules
	Effects
	Prune
	Finally
	Loop
	Starts // fact → value
)
