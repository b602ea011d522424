package main

import "runtime/debug"

// gcPercent lets the heap grow further than usual between collections, which would cost more than they save in a
// process that lives for milliseconds.
const gcPercent = 400

// protect ends the process long before a stack overflow uses the machine's memory. An overflow cannot be recovered.
func protect() { debug.SetMaxStack(maxStack) }

// maxStack is far more than the limits of every parser allow a goroutine to use.
const maxStack = 128 << 20
