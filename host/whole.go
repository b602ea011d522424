package host

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// TotalTokens returns how many tokens the session has used so far: input of each request, cached or not, and output.
// Older files of Copilot CLI have only the output; subagents with their own files do not count. It reads the file again
// in a fixed amount of memory, within ctx and the budgets of the session; of a larger file it counts the end. 0 means
// that the file does not have it.
func (s *Session) TotalTokens(ctx context.Context) int {
	if s.plain {
		return 0
	}
	file, size, err := open(s.path, s.options.Open)
	if err != nil {
		return 0
	}
	defer file.Close()
	budget := s.options.MaxBytes
	if s.options.SearchBytes > 0 {
		budget += s.options.SearchBytes
	}
	lines := newFar(file, size, budget, ctx.Err)
	total, replies := 0, 0
	seen, all := map[string]bool{}, records{}
	for {
		line, long, ok, err := lines.line()
		if err != nil || !ok {
			return cmp.Or(total, replies)
		}
		if long || !mayCount(line) {
			continue
		}
		e := all.read(line, true)
		if e.usage.total > 0 { // the total of the session so far
			return plus(total, e.usage.total)
		}
		replies = plus(replies, e.usage.replied)
		used := cmp.Or(e.usage.used, e.usage.tokens)
		if used == 0 || e.id != "" && seen[e.id] {
			continue // an older form of a counted message
		}
		if e.id != "" {
			seen[e.id] = true
		}
		total = plus(total, used)
	}
}

// mayCount reports whether a record may contain tokens.
func mayCount(line []byte) bool {
	for _, key := range []string{`"usage"`, `"usageMetadata"`, `"total_token_usage"`, `"tokens"`, `"outputTokens"`} {
		if bytes.Contains(line, []byte(key)) {
			return true
		}
	}
	return false
}

// headBytes bounds the search for the first record with a time.
const headBytes = 64 << 10

// Began returns the time of the first record that has one, or the zero time if none of the first records does.
func (s *Session) Began(ctx context.Context) time.Time {
	file, size, err := open(s.path, s.options.Open)
	if err != nil || s.plain {
		return time.Time{}
	}
	defer file.Close()
	head := make([]byte, min(size, headBytes))
	if n, _ := file.ReadAt(head, 0); n < len(head) || ctx.Err() != nil {
		return time.Time{}
	}
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		for c := jsontext.Value(clean(line)).Members(); c.Next(); {
			if key := string(c.Key); key != "timestamp" && key != "startTime" {
				continue
			}
			if at, err := time.Parse(time.RFC3339Nano, c.Value.Text()); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}
