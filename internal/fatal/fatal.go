// Package fatal makes a Go program that imports it end by a signal if it crashes.
//
// Go ends a crashed program with exit status 2, and hosts of agents read that as
// "continue". The package is for a main package, which imports it for its effect.
//
// It takes effect before other packages are initialised, the standard library's
// included: Go initialises packages in the order of their import paths, each as soon as what it
// imports is ready, and this package imports nothing. What the runtime itself does
// before any package is initialised is out of its reach.
package fatal

import _ "unsafe" // for go:linkname

func init() { setTraceback("crash") }

// setTraceback is debug.SetTraceback. Importing runtime/debug would put most of the
// standard library, which can panic, before this package.
//
//go:linkname setTraceback runtime/debug.SetTraceback
func setTraceback(level string)
