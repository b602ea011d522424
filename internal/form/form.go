// Package form has the tables of keys of the policy language. The parser and the JSON Schema for editors are made from
// them, and the formatter is tested with them, so that they agree. Start with [PolicyKeys].
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

// Names returns the keys in the order of the table.
func (ks Keys) Names() []string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.Name
	}
	return names
}

// Has reports whether there is a key of this name.
func (ks Keys) Has(name string) bool { return ks.index(name) >= 0 }

// Shape returns the shape of the named key's value, Text if there is no such key.
func (ks Keys) Shape(name string) Shape {
	if i := ks.index(name); i >= 0 {
		return ks[i].Shape
	}
	return Text
}

func (ks Keys) index(name string) int {
	return slices.IndexFunc(ks, func(k Key) bool { return k.Name == name })
}

// Shape is the shape of a key's value in the policy language.
type Shape uint8

// The shapes.
const (
	Text       Shape = iota // plain text
	Name                    // text in kebab-case
	Template                // text with ${expr} placeholders
	Parts                   // a template, or a list of parts
	Path                    // a path with ${expr} placeholders
	Expr                    // an expression
	Exprs                   // an expression, or a list of them
	Assignment              // path = expression
	Bool                    //
	Int                     // a whole number from 0
	Count                   // a whole number from 1
	Duration                // such as 30s, 5m, 24h
	Version                 // the language version
	Events                  // a list of event names
	Gate                    // first or all
	Per                     // prompt, session or project
	OK                      // the word ok
	Halt                    // the word stop
	Word                    // one of the source's words
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
	Limit  // a whole number from 0, or the name of a param
	Span   // a duration, or the name of a param
	Amount // a number from 0, or the name of a param
	Measure
	Run
	Args // a list of strings
	Unless
	Rules
	Effects
	Prune
	Finally
	Loop
	Starts // fact → value
)
