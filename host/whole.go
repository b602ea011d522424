package host

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// TotalTokens is how many tokens the session has used so far: what was sent with each request, from the cache or not, and
// what came back. Older files of Copilot CLI have only what came back; of subagents with a file of their own nothing is counted.
// It reads the file once more in a fixed amount of memory, within ctx and the budgets of the session; of a larger file it
// counts the end. 0 means that the file does not say.
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
	seen := map[string]bool{}
	for {
		line, long, ok, err := lines.line()
		if err != nil || !ok {
			return cmp.Or(total, replies)
		}
		if long || !mayCount(line) {
			continue
		}
		u := usageOf(line)
		if u.total > 0 { // of the session until here
			return plus(total, u.total)
		}
		replies = plus(replies, u.replied)
		if u.tokens == 0 || u.id != "" && seen[u.id] {
			continue // an older form of a message that was counted
		}
		if u.id != "" {
			seen[u.id] = true
		}
		total = plus(total, u.tokens)
	}
}

// mayCount reports whether a record may have tokens.
func mayCount(line []byte) bool {
	for _, key := range []string{`"usage"`, `"usageMetadata"`, `"total_token_usage"`, `"tokens"`, `"outputTokens"`} {
		if bytes.Contains(line, []byte(key)) {
			return true
		}
	}
	return false
}

// usage is what one record says of the tokens of a request, or of the whole session.
type usage struct {
	id            string
	tokens, total int
	replied       int // what came back, where that is all
}

func usageOf(line []byte) usage {
	r, whole := readRecord(line)
	if !whole {
		return usage{}
	}
	switch {
	case r.payload != nil:
		return usage{total: r.payload.Field("info").Field("total_token_usage").Field("total_tokens").Int()}
	case r.usageMetadata != nil:
		return usage{tokens: r.usageMetadata.Field("totalTokenCount").Int()}
	case r.typ == "gemini":
		return usage{id: r.id, tokens: r.tokens.Field("total").Int()}
	case r.data != nil && r.typ == "session.usage_record":
		used := r.data.Field("usage")
		return usage{tokens: plus(used.Field("inputTokens").Int(), used.Field("outputTokens").Int())}
	case r.data != nil && r.typ == "assistant.message":
		return usage{replied: r.data.Field("outputTokens").Int()}
	case r.message != nil && r.typ != "user":
		m := readMessage(r.message)
		return usage{id: m.id, tokens: m.tokens}
	}
	return usage{}
}

// headBytes is how much of the beginning of a file is searched for the time of its first record.
const headBytes = 64 << 10

// Began is the time of the first record that has one, the zero time if none of the first has.
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
