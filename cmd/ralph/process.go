package main

import "runtime/debug"

// gcPercent lets the heap grow further than usual between collections: a process
// that lives for milliseconds would spend more on them than they give back.
const gcPercent = 400

// stackRoom is a little more than what a decision takes of the stack, in bytes.
const stackRoom = 40 << 10

// makeRoom lets the stack grow once, while there is next to nothing on it. When it
// grows in the middle of a decision, Go looks up each function on it in the tables
// of the program file, and those take most of a mebibyte.
//
//go:noinline
func makeRoom(i int) byte {
	var room [stackRoom]byte
	return room[i%stackRoom] // i is not known in advance, so that there is an array
}

// protect ends the process long before a stack overflow has taken the machine's
// memory. No overflow can be recovered.
func protect() { debug.SetMaxStack(maxStack) }

// maxStack is far more than the limits of every parser let a goroutine use.
const maxStack = 128 << 20
