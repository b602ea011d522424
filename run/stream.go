package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// decode parses a line of a stream of JSON records. ok is false for anything but an object: clients also print
// warnings. A field of an unexpected type is zero.
func decode[T any](line []byte) (rec T, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return rec, false
	}
	err := json.Unmarshal(line, &rec)
	var mistyped *json.UnmarshalTypeError
	return rec, err == nil || errors.As(err, &mistyped)
}

// ending is the outcome of an iteration as the client reports it.
type ending struct {
	said    bool // the client reported one
	outcome Outcome
	problem string
}

// fill completes a result. A client that exits without its usual result record counts as crashed.
func (e ending) fill(res Result, p Process) Result {
	res.Outcome, res.Problem = e.outcome, strings.TrimSpace(e.problem)
	switch {
	case !e.said && res.Outcome == "" && p.Exit == 0 && p.Signal == "":
		res.Outcome, res.Problem = Crashed, "the client exited without a result"
	case res.Outcome == OK && (p.Exit != 0 || p.Signal != ""):
		res.Outcome = "" // it failed after its report
	}
	if len(res.Text) > maxText {
		res.Text = res.Text[len(res.Text)-maxText:]
	}
	res.Text = strings.ToValidUTF8(res.Text, "\ufffd")
	if res.Outcome != RateLimited {
		res.ResetsAt = time.Time{}
	}
	return res
}

// failure returns the outcome for a client's names for a failure, or for the HTTP status of the model's server; Crashed
// if both are unknown.
func failure(status int, names ...string) Outcome {
	for _, name := range append(names, strconv.Itoa(status)) {
		switch name {
		case "authentication_failed", "oauth_org_not_allowed", "authentication", "authorization", "FatalAuthenticationError", "401", "403":
			return Auth
		case "billing_error", "quota", "402":
			return Billing
		case "rate_limit", "429":
			return RateLimited
		case "error_max_turns", "FatalTurnLimitedError":
			return TurnLimit
		case "error_max_budget_usd":
			return OverBudget
		case "prompt_too_long", "blocking_limit", "rapid_refill_breaker", "context_limit", "context_length_exceeded", "model_max_prompt_tokens_exceeded":
			return ContextOverflow
		}
	}
	return Crashed
}

// statusIn returns the HTTP status in the message of a client that has no field for it, or 0.
func statusIn(message string) int {
	m := regexp.MustCompile(`(?s)(?:^\[API Error: (?:.*?"code":\s*)?|\b(?:unexpected status|last status:) )([1-5][0-9][0-9])\b`).FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1])
	return status
}

// calling returns a tool's name and its first string argument, shortened.
func calling(tool string, args json.RawMessage) string {
	for c := jsontext.Value(args).Members(); c.Next(); {
		if text, _ := c.Value.Decode(); text != "" {
			return tool + " " + firstLine(text)
		}
	}
	return tool
}

// firstLine returns the first line of text that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.ToValidUTF8(line, "\ufffd")
		}
	}
	return ""
}

// block is a part of a message of Claude Code; Qwen Code writes the same.
type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// message is a message of an agent.
type message struct {
	ID      string  `json:"id"`
	Content []block `json:"content"`
	Usage   usage   `json:"usage"`
}

// usage is the usage of a message or a turn, as Anthropic counts: input excludes cached tokens.
type usage struct {
	Input       count `json:"input_tokens"`
	Output      count `json:"output_tokens"`
	CacheRead   count `json:"cache_read_input_tokens"`
	CacheCreate count `json:"cache_creation_input_tokens"`
	Total       count `json:"total_tokens"`
}

func (u usage) sum() int {
	return plus(int(cmp.Or(u.Total, u.Input+u.Output+u.CacheRead+u.CacheCreate)), 0)
}

// read returns the last text of a message, and what the agent is doing.
func (m message) read() (text, shown string) {
	for _, b := range m.Content {
		switch {
		case b.Type == "text" && strings.TrimSpace(b.Text) != "":
			text, shown = b.Text, firstLine(b.Text)
		case b.Type == "tool_use":
			shown = calling(b.Name, b.Input)
		}
	}
	return text, shown
}

// spent counts the tokens of messages. A client writes a message again with each of its parts.
type spent struct {
	before int
	id     string
	now    int
}

func (s *spent) message(m message) {
	if m.ID == "" || m.ID != s.id {
		s.next()
	}
	s.id, s.now = m.ID, max(s.now, m.Usage.sum())
}

// next begins another message.
func (s *spent) next() { s.before, s.now, s.id = s.total(), 0, "" }

func (s *spent) total() int { return plus(s.before, s.now) }
