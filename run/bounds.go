package run

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/run/step"
)

// Client output may be forged, because an agent can write to the output of its own client. The run therefore limits a
// result before it counts or keeps it.
const (
	maxCost    = 1e9 // US dollars
	maxProblem = 4 << 10
	maxSession = 128
	maxWindow  = 1000 // percent
	maxReset   = 366 * 24 * time.Hour
)

// within returns the result with values that are safe to count, to keep, and to pass to the client.
func (res Result) within(now time.Time) Result {
	res.Tokens, res.Used = min(max(res.Tokens, 0), step.MaxTokens), min(max(res.Used, 0), step.MaxTokens)
	if c := res.Cost; c != nil {
		cost := min(*c, maxCost)
		if res.Cost = &cost; !(cost >= 0) {
			res.Cost = nil
		}
	}
	if res.Window = min(res.Window, maxWindow); !(res.Window >= 0) {
		res.Window = 0
	}
	if len(res.Problem) > maxProblem {
		res.Problem = res.Problem[:maxProblem] + "…"
	}
	res.Problem = strings.ToValidUTF8(res.Problem, "\ufffd")
	if !isSession(res.Session) {
		res.Session = ""
	}
	if last := now.Add(maxReset); res.ResetsAt.After(last) {
		res.ResetsAt = last
	}
	if res.ResetsAt.Before(now.Add(-maxReset)) {
		res.ResetsAt = time.Time{}
	}
	return res
}

// isSession reports whether s can be a client's session ID. Since it becomes an argument of the client, it cannot begin
// with a hyphen.
func isSession(s string) bool {
	odd := func(r rune) bool { return !plain(r) && !strings.ContainsRune("-_.:", r) }
	return len(s) <= maxSession && !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, odd)
}

// A count is a number of tokens in a record, at most step.MaxTokens; 0 if the number is negative or invalid.
type count int

// UnmarshalJSON reads a number of any size.
func (c *count) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err == nil && f > 0 {
		*c = step.MaxTokens
		if f < step.MaxTokens {
			*c = count(f)
		}
	}
	return nil
}

// plus adds two numbers of tokens, up to step.MaxTokens.
func plus(a, b int) int { return min(a+b, step.MaxTokens) }
