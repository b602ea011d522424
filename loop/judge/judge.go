package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The wire formats.
const (
	Anthropic = "anthropic" // messages, https://api.anthropic.com
	OpenAI    = "openai"    // chat completions, https://api.openai.com/v1
)

// MaxResponse bounds the bytes of a response. A longer one is an error.
const MaxResponse = 1 << 20

// DefaultMaxTokens is the default of [Request].MaxTokens.
const DefaultMaxTokens = 1024

// Request is one question.
type Request struct {
	API     string // Anthropic, the default, or OpenAI
	BaseURL string // of the service; "" means the one that the API is named after
	Key     string // sent in a header; only your own service with OpenAI's format needs none
	Model   string // as the service names it

	System    string // the role and criteria of the model; may be empty
	Question  string
	Turns     []Turn          // of the conversation, oldest first; see [Excerpt] for what is sent
	Schema    json.RawMessage // JSON Schema of the answer, an object; empty allows any object
	MaxTokens int             // of the answer; 0 means DefaultMaxTokens
}

// Turn is what one side said until the other side replied.
type Turn struct {
	Role string // "user" or "assistant"
	Text string // with uses of tools, and optionally their results, shortened and in order
}

// Answer is the model's answer.
type Answer struct {
	Value        map[string]any // numbers are json.Number; not validated with the schema
	Text         string         // as the model wrote it, with any text around the object
	Model        string         // as the service names it
	InputTokens  int            // as the service counts them; 0 if it does not
	OutputTokens int
}

// Limits on retries: a busy service may recover in a moment, and one that is down does not answer sooner if asked
// often.
const (
	maxTries   = 3
	firstPause = 250 * time.Millisecond
)

// Ask asks the model. The deadline of ctx covers everything; without one, Ask waits as long as the service takes. It
// follows no redirect. Every error is an [*Error]; with a BadAnswer, the answer may be non-nil and have only the tokens
// that it used.
//
// Ask retries a service that is busy (status 429, 503 or 529) or unreachable, three attempts in all, within the
// deadline. If a service rejects the form of the answer's schema, Ask retries once without it: the question also
// describes the schema.
func Ask(ctx context.Context, r Request) (*Answer, error) {
	w, err := r.wire()
	if err != nil {
		return nil, err
	}
	client := http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true},
		// A redirect would send the key to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	structured, pause := true, firstPause
	for try := 1; ; try++ {
		body, err := json.Marshal(w.body(r, structured))
		if err != nil {
			return nil, &Error{Kind: BadRequest, Message: "the schema of the answer is no JSON", Err: err}
		}
		response, wait, failed := send(ctx, &client, w, body)
		switch {
		case failed == nil:
			return answerOf(response)
		case failed.Status == http.StatusBadRequest && structured && w.refusesSchema(failed.Message):
			structured = false
			continue
		case !failed.passing() || try == maxTries:
			return nil, failed
		}
		wait = max(wait, pause)
		pause *= 3
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
			return nil, failed // the reason is more useful than a timeout
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, failed
		}
	}
}

// send makes one request. wait is the service's requested delay before a retry.
func send(ctx context.Context, client *http.Client, w *wire, body []byte) (response []byte, wait time.Duration, failed *Error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(string(body)))
	if err != nil {
		return nil, 0, &Error{Kind: BadRequest, Message: "the address " + w.host + " cannot be used", Err: err}
	}
	req.Header = w.header
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, w.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	response, err = io.ReadAll(io.LimitReader(resp.Body, MaxResponse+1))
	switch {
	case err != nil:
		return nil, 0, w.unreachable(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return nil, retryAfter(resp.Header), &Error{Kind: BadStatus, Status: resp.StatusCode, Message: w.complaint(resp.StatusCode, response)}
	case len(response) > MaxResponse:
		return nil, 0, &Error{Kind: BadAnswer, Message: fmt.Sprintf("%s sent more than %d KiB", w.host, MaxResponse>>10)}
	}
	return response, 0, nil
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 3600 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// unreachable returns the error of a request without a response.
func (w *wire) unreachable(ctx context.Context, err error) *Error {
	if ctx.Err() != nil {
		return &Error{Kind: Timeout, Message: w.host + " did not answer in time", Err: ctx.Err()}
	}
	reason := err
	var inURL *url.Error
	if errors.As(err, &inURL) {
		reason = inURL.Err // without the address, which may contain a password
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &Error{Kind: Timeout, Message: w.host + " did not answer in time", Err: reason}
	}
	return &Error{Kind: Unreachable, Message: w.host + " cannot be reached: " + oneLine(reason.Error(), 200), Err: reason}
}

// oneLine returns a text from elsewhere for a message: one line of at most n bytes.
func oneLine(s string, n int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
