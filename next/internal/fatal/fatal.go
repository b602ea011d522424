// Package fatal makes a crashing Go program end with a signal.
//
// Go ends a crashed program with exit status 2, which hosts read as "continue". A main package imports this package for
// its effect.
//
// It takes effect before other packages are initialized, including the standard library: Go initializes packages in the
// order of their import paths, each as soon as its imports are ready, and this package imports nothing. It does not
// cover the runtime itself before any package is initialized.
package fatal

import _ "unsafe" // for go:linkname

func init() { setTraceback("crash") }

// setTraceback is debug.SetTraceback. Importing runtime/debug would put most of the
// standard library, which can panic, before this package.
//
//go:linkname setTraceback runtime/debug.SetTraceback
func setTraceback(level string)
