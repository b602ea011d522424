// Package room lets the stack of a Go program that imports it grow once, while there is
// next to nothing on it. When it grows later, Go looks up each function on it in the tables
// of the program file, and those take most of a mebibyte.
//
// The package is for a main package, which imports it for its effect. It imports nothing, so
// that it comes before libraries whose initialization calls deeply.
package room

// stack is a little more than what a decision takes of the stack, in bytes.
const stack = 40 << 10

func init() { use(len(path)) }

// path is not a constant, so that use makes an array.
var path = "room"

//go:noinline
func use(i int) byte {
	var room [stack]byte
	return room[i%stack]
}
