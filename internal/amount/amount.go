// Package amount writes amounts as people do. Start with [Of].
package amount

import (
	"strconv"
	"strings"
	"time"
)

// Of returns a number of things, of which what names one: 1 task, 2 tasks, 3 processes.
func Of(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "s"):
		what += "es"
	default:
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Time returns a duration without zero minutes and seconds at its end: 24h.
func Time(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if rest := strings.TrimSuffix(s, zero); strings.TrimRight(rest, "hm") != rest {
			s = rest
		}
	}
	return s
}
