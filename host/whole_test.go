package host_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/host"
)

func TestTotalTokens(t *testing.T) {
	claude := func(id string, in, cached, out int) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}}}`, id, in, cached, out)
	}
	for _, c := range []struct {
		host  string
		lines []string
		want  int
	}{
		{"nothing is known", []string{userSays("go"), agentSays("Done.")}, 0},
		{"claude: all turns, each message once", []string{
			userSays("go"), claude("m1", 10, 100, 1), claude("m1", 10, 100, 5), userSays("more"), claude("m2", 20, 200, 2),
		}, 10 + 100 + 5 + 20 + 200 + 2},
		{"claude: what a tool printed is no usage", []string{userSays("go"), claude("m1", 1, 0, 0), toolSays("t", `{"usage":{"input_tokens":99}}`, false)}, 1},
		{"codex has it", []string{
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":400},"last_token_usage":{"total_tokens":400}}}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":1000},"last_token_usage":{"total_tokens":600}}}}`,
			`{"type":"event_msg","payload":{"type":"token_count","info":null}}`,
		}, 1000},
		{"gemini: a message that is written again counts once", []string{
			`{"id":"1","type":"user","content":"go"}`, `{"id":"2","type":"gemini","content":"a","tokens":{"total":50}}`, `{"id":"2","type":"gemini","content":"ab","tokens":{"total":60}}`,
			`{"id":"3","type":"gemini","content":"c","tokens":{"total":7}}`,
		}, 67},
		{"qwen", []string{
			`{"type":"assistant","message":{"role":"model","parts":[{"text":"a"}]},"usageMetadata":{"promptTokenCount":8,"totalTokenCount":10}}`,
			`{"type":"assistant","message":{"role":"model","parts":[{"text":"b"}]},"usageMetadata":{"totalTokenCount":20}}`,
		}, 30},
		{"copilot", []string{
			`{"type":"user.message","data":{"content":"go"}}`, `{"type":"session.usage_record","data":{"usage":{"inputTokens":30,"outputTokens":3}}}`, `{"type":"assistant.message","data":{"content":"a","outputTokens":3}}`,
			`{"type":"session.usage_record","data":{"usage":{"inputTokens":40,"outputTokens":4}}}`, `{"type":"assistant.message","data":{"content":"b","outputTokens":4}}`,
		}, 77},
		{"no number makes the sum small", slices.Concat([]string{userSays("go")}, slices.Repeat([]string{
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"x"}],"usage":{` +
				strings.Repeat(`"input_tokens":9999999999999999,`, 500) + `"output_tokens":1}}}`,
		}, 3)), math.MaxInt},
		{"an older copilot has only what came back", []string{
			`{"type":"user.message","data":{"content":"go"}}`, `{"type":"assistant.message","data":{"content":"a","outputTokens":3}}`, `{"type":"assistant.message","data":{"content":"b","outputTokens":4}}`,
		}, 7},
	} {
		t.Run(c.host, func(t *testing.T) {
			if got := session(t, c.lines...).TotalTokens(t.Context()); got != c.want {
				t.Errorf("TotalTokens = %d, want %d", got, c.want)
			}
		})
	}
}

// A file beyond the budgets of the session is counted from its end.
func TestTotalTokensOfALargeFile(t *testing.T) {
	message := func(id string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"role":"assistant","content":[{"type":"text","text":%q}],"usage":{"output_tokens":1}}}`, id, strings.Repeat("x", 900))
	}
	lines := []string{userSays("go")}
	for i := range 100 {
		lines = append(lines, message(fmt.Sprint("m", i)))
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := host.ReadSession(t.Context(), path, host.SessionOptions{MaxBytes: 8 << 10, SearchBytes: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.TotalTokens(t.Context()); got < 10 || got > 20 {
		t.Errorf("TotalTokens = %d of a file whose last 16 KiB hold about 16 messages of one token", got)
	}
}

func TestBegan(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 12, 47, 0, time.UTC)
	for _, c := range []struct {
		host  string
		lines []string
		want  time.Time
	}{
		{"claude", []string{`{"type":"mode"}`, `{"type":"user","message":{"role":"user","content":"go"},"timestamp":"2026-11-20T09:12:47Z"}`, `{"type":"mode","timestamp":"2026-11-20T10:00:00Z"}`}, at},
		{"codex", []string{`{"timestamp":"2026-11-20T09:12:47Z","type":"session_meta","payload":{"timestamp":"2020-01-01T00:00:00Z"}}`}, at},
		{"gemini", []string{`{"sessionId":"s","startTime":"2026-11-20T09:12:47Z"}`, `{"id":"1","type":"user","content":"go","timestamp":"2026-11-20T09:13:00Z"}`}, at},
		{"no times", []string{userSays("go")}, time.Time{}},
		{"no time", []string{`{"type":"user","timestamp":"soon","message":{"role":"user","content":"go"}}`}, time.Time{}},
	} {
		t.Run(c.host, func(t *testing.T) {
			if got := session(t, c.lines...).Began(t.Context()); !got.Equal(c.want) {
				t.Errorf("Began = %v, want %v", got, c.want)
			}
		})
	}
}
