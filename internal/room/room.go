// Package room grows the stack of a Go program once, while it is nearly empty. If a stack grows later, Go looks up each
// function on it in the tables of the program file, which takes most of a mebibyte.
//
// A main package imports it for its effect. It imports nothing, so that it is initialized before libraries whose
// initialization calls deeply.
package room

// stack is a little more than a decision needs, in bytes.
const stack = 40 << 10

func init() { use(len(path)) }

// path is not a constant, so that use allocates an array.
var path = "room"

//go:noinline
func use(i int) byte {
	var room [stack]byte
	return room[i%stack]
}
