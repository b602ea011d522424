package main

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// progressInterval is how often the line of progress changes at most.
const progressInterval = 100 * time.Millisecond

const clearLine = "\x1b[K" // from the cursor, which stays at the beginning of the line

// withProgress returns the items of a long command, and shows on a terminal how far it is: one line on stderr, which the end
// clears. The cursor is in front of it, so that a message overwrites it.
func withProgress[T any](a *app, what string, items []T) iter.Seq[T] {
	terminal, ok := a.terminal(a.stderr)
	if !ok || a.getenv("CI") != "" || len(items) < 2 {
		return slices.Values(items)
	}
	return func(yield func(T) bool) {
		defer io.WriteString(terminal, clearLine)
		var shown time.Time
		for i, item := range items {
			if now := time.Now(); now.Sub(shown) >= progressInterval {
				shown = now
				fmt.Fprintf(terminal, "%s %d of %d%s\r", what, i+1, len(items), clearLine)
			}
			if !yield(item) {
				return
			}
		}
	}
}
