package run

import (
	"encoding/json"
	"math"
	"strings"
	"time"
)

// What a client prints may be forged: an agent can write to the output of its own client. So a result is brought within bounds before the
// run counts or keeps it.
const (
	maxCost    = 1e9 // US dollars
	maxTokens  = math.MaxInt >> 8
	maxProblem = 4 << 10
	maxSession = 128
	maxReset   = 366 * 24 * time.Hour
)

// within is a result with what can be counted, kept, and given to the client again.
func (res Result) within(now time.Time) Result {
	res.Tokens, res.Used = min(max(res.Tokens, 0), maxTokens), min(max(res.Used, 0), maxTokens)
	if c := res.Cost; c != nil {
		cost := min(*c, maxCost)
		if res.Cost = &cost; !(cost >= 0) {
			res.Cost = nil
		}
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

// isSession reports whether a text can name a session of a client. It becomes an argument of the client, so it is no flag.
func isSession(s string) bool {
	odd := func(r rune) bool { return !plain(r) && !strings.ContainsRune("-_.:", r) }
	return len(s) <= maxSession && !strings.HasPrefix(s, "-") && !strings.ContainsFunc(s, odd)
}

// A count is a number of tokens in a record, at most maxTokens, and 0 where it is negative or no number.
type count int

// UnmarshalJSON reads a number of any size.
func (c *count) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err == nil && f > 0 {
		*c = maxTokens
		if f < maxTokens {
			*c = count(f)
		}
	}
	return nil
}

// plus adds two numbers of tokens, up to maxTokens.
func plus(a, b int) int { return min(a+b, maxTokens) }
