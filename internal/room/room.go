// Package room grows the stack of a goroutine once, while it is nearly empty. If a stack grows later, Go looks up each
// function on it in the tables of the program file, which takes most of a mebibyte.
//
// A main package imports it for its effect on the first goroutine. It imports nothing, so that it is initialized before
// libraries whose initialization calls deeply. Other goroutines begin with [Grow].
package room

// A little more than a decision needs, in bytes: one that reads files, and one in memory, whose stack Go can keep for the next.
const (
	stack = 40 << 10
	small = 13 << 10
)

func init() { Grow(true) }

// Grow grows the stack of the goroutine that calls it: for a decision that reads files, or for one in memory.
func Grow(files bool) {
	if files {
		use(0)
	} else {
		useSmall(0)
	}
}

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

// useSmall is use with a smaller array.
//
//go:noinline
func useSmall(i int) byte {
	if i == 0 {
		return 0
	}
	var room [small]byte
	return room[i%small]
}
