package main

import "runtime/debug"

// gcPercent lets the heap grow further than usual between collections: a process
// that lives for milliseconds would spend more on them than they give back.
const gcPercent = 400

// protect ends the process long before a stack overflow has taken the machine's
// memory. No overflow can be recovered.
func protect() { debug.SetMaxStack(maxStack) }

// maxStack is far more than the limits of every parser let a goroutine use.
const maxStack = 128 << 20
