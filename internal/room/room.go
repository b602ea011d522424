// Package room grows the stack of a goroutine once, while it is nearly empty. If a stack grows later, Go looks up each
// function on it in the tables of the program file, which takes most of a mebibyte.
//
// A main package imports it for its effect on the first goroutine. It imports nothing, so that it is initialized before
// libraries whose initialization calls deeply. Other goroutines begin with [Grow].
package room

// stack is a little more than a decision needs, in bytes.
const stack = 40 << 10

func init() { Grow() }

// Grow grows the stack of the goroutine that calls it.
func Grow() { use(0) }

// use has a frame with an array that it does not touch.
//
//go:noinline
func use(i int) byte {
	if i == 0 {
		return 0
	}
	var room [stack]byte
	return room[i%stack]
}
