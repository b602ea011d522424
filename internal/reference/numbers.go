package reference

import (
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/internal/amount"
)

// Number returns a nonnegative number with commas: 10,000.
func Number[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size returns a number of bytes: 8 MiB.
func Size[N int | int64](n N) string {
	for shift, unit := range map[int]string{30: "GiB", 20: "MiB", 10: "KiB"} {
		if whole := n >> shift; whole > 0 && whole < 1<<10 && whole<<shift == n {
			return fmt.Sprintf("%d %s", whole, unit)
		}
	}
	return Number(n) + " bytes"
}

// Duration returns a duration in common form: 24h.
func Duration(d time.Duration) string {
	if day := 24 * time.Hour; d >= 2*day && d%day == 0 {
		return fmt.Sprintf("%dh (%d days)", d/time.Hour, d/day)
	}
	return amount.Time(d)
}
