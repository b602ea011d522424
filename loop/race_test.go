//go:build race

package loop_test

// raceEnabled says that the race detector watches, which makes everything slow.
const raceEnabled = true
