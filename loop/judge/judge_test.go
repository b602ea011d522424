package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop/judge"
)

const verdict = `{"should_continue": true, "reason": "no reflection"}`

// service is a model's service on a loopback port, which answers each request in turn; the last answer again and again.
type service struct {
	*httptest.Server
	requests chan *http.Request
	bodies   chan map[string]any
	calls    atomic.Int32
}

func serve(t *testing.T, answers ...http.HandlerFunc) *service {
	t.Helper()
	s := &service{requests: make(chan *http.Request, 100), bodies: make(chan map[string]any, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.calls.Add(1))
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		s.requests <- r
		s.bodies <- body
		answers[min(n, len(answers))-1](w, r)
	}))
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

// says answers in Anthropic's format.
func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"model": "m-1", "content": []any{map[string]any{"type": "text", "text": text}},
			"usage": map[string]any{"input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 4},
		})
	}
}

// saysAsChat answers in OpenAI's format.
func saysAsChat(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{
			"model":   "m-2",
			"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}},
			"usage":   map[string]any{"prompt_tokens": 20, "completion_tokens": 5},
		})
	}
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func sends(body string) http.HandlerFunc { return status(http.StatusOK, body) }

func question(base string) judge.Request {
	return judge.Request{
		BaseURL: base, Key: "secret-key", Model: "small", System: "You judge.", Question: "Is there more to do?",
		Turns:  []judge.Turn{{Role: "user", Text: "Build it."}, {Role: "assistant", Text: "Done."}},
		Schema: json.RawMessage(`{"type":"object","properties":{"should_continue":{"type":"boolean"}},"required":["should_continue"],"additionalProperties":false}`),
	}
}

func ask(t *testing.T, r judge.Request) (*judge.Answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return judge.Ask(ctx, r)
}

func TestAnthropicMessages(t *testing.T) {
	s := serve(t, says(verdict))
	a, err := ask(t, question(s.URL+"/"))
	if err != nil {
		t.Fatal(err)
	}
	want := &judge.Answer{
		Value: map[string]any{"should_continue": true, "reason": "no reflection"}, Text: verdict,
		Model: "m-1", InputTokens: 15, OutputTokens: 4,
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	r, body := <-s.requests, <-s.bodies
	if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "secret-key" || r.Header.Get("Anthropic-Version") == "" {
		t.Errorf("the request goes to %s with %v", r.URL.Path, r.Header)
	}
	format := body["output_config"].(map[string]any)["format"].(map[string]any)
	if format["type"] != "json_schema" || format["schema"].(map[string]any)["required"] == nil {
		t.Errorf("the schema is sent as %v", format)
	}
	if body["model"] != "small" || body["max_tokens"] != float64(judge.DefaultMaxTokens) {
		t.Errorf("the model is %v, the bound %v", body["model"], body["max_tokens"])
	}
}

func TestChatCompletions(t *testing.T) {
	s := serve(t, saysAsChat(verdict))
	r := question(s.URL + "/v1")
	r.API, r.MaxTokens = judge.OpenAI, 77
	a, err := ask(t, r)
	if err != nil {
		t.Fatal(err)
	}
	if a.Value["should_continue"] != true || a.InputTokens != 20 || a.OutputTokens != 5 || a.Model != "m-2" {
		t.Errorf("the answer is %+v", a)
	}
	got, body := <-s.requests, <-s.bodies
	if got.URL.Path != "/v1/chat/completions" || got.Header.Get("Authorization") != "Bearer secret-key" {
		t.Errorf("the request goes to %s with %v", got.URL.Path, got.Header)
	}
	if body["max_tokens"] != float64(77) || body["response_format"].(map[string]any)["type"] != "json_schema" {
		t.Errorf("the request is %v", body)
	}
}

// The user's own server with OpenAI's format needs no key; a service does.
func TestKeys(t *testing.T) {
	s := serve(t, saysAsChat(verdict))
	own := question(s.URL)
	own.API, own.Key = judge.OpenAI, ""
	if _, err := ask(t, own); err != nil {
		t.Errorf("a local server is asked without a key, and returns %v", err)
	}
	if h := (<-s.requests).Header.Get("Authorization"); h != "" {
		t.Errorf("an empty key is sent as %q", h)
	}
	for name, r := range map[string]judge.Request{
		"anthropic": {BaseURL: s.URL, Model: "m"},
		"openai":    {API: judge.OpenAI, Model: "m"},
		"blank":     {BaseURL: s.URL, Model: "m", Key: " \n"},
	} {
		_, err := ask(t, r)
		if got := kind(err); got != judge.NoKey {
			t.Errorf("%s: the error is %q (%v), want %q", name, got, err, judge.NoKey)
		}
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("without a key the service was asked %d times", n-1)
	}
}

func kind(err error) judge.Kind {
	var e *judge.Error
	if !errors.As(err, &e) {
		return judge.Kind(fmt.Sprintf("%T", err))
	}
	return e.Kind
}

func TestNoAnswer(t *testing.T) {
	big := `{"content":[{"type":"text","text":"` + strings.Repeat("x", judge.MaxResponse) + `"}]}`
	for _, c := range []struct {
		name  string
		reply http.HandlerFunc
		kind  judge.Kind
		says  string
		calls int32
	}{
		{"a client's mistake", status(400, `{"error":{"message":"model: not found"}}`), judge.BadStatus, "model: not found", 1},
		{"a broken server", status(500, "oops"), judge.BadStatus, "status 500", 1},
		{"a busy server", status(529, `{"error":"overloaded"}`), judge.BadStatus, "overloaded", 3},
		{"a page", sends("<html>bad gateway</html>"), judge.BadAnswer, "something else than its format", 1},
		{"nothing", sends(""), judge.BadAnswer, "something else than its format", 1},
		{"no content", sends(`{"content":[]}`), judge.BadAnswer, "empty", 1},
		{"prose", says("I think it should go on."), judge.BadAnswer, "prose", 1},
		{"a broken off object", says(`{"should_continue": true, "rea`), judge.BadAnswer, "breaks off", 1},
		{"two objects", says(verdict + " or rather " + verdict), judge.BadAnswer, "more than one", 1},
		{"too much", sends(big), judge.BadAnswer, "more than", 1},
		{"a refusal", sends(`{"content":[],"stop_reason":"refusal"}`), judge.BadAnswer, "refused", 1},
		{"cut off", sends(`{"content":[{"type":"text","text":"{\"a\":"}],"stop_reason":"max_tokens"}`), judge.BadAnswer, "max_tokens", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.reply)
			_, err := ask(t, question(s.URL))
			if got := kind(err); got != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %q: %v; want %q with %q", got, err, c.kind, c.says)
			}
			if n := s.calls.Load(); n != c.calls {
				t.Errorf("the service was asked %d times, want %d", n, c.calls)
			}
			if strings.Contains(err.Error(), "secret-key") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the message is not fit to be shown: %q", err)
			}
		})
	}
}

// A request that cannot be made is refused before anything is sent.
func TestBadRequests(t *testing.T) {
	for name, r := range map[string]judge.Request{
		"another api":      {API: "telepathy", Key: "k", Model: "m"},
		"no model":         {Key: "k"},
		"a file":           {Key: "k", Model: "m", BaseURL: "file:///etc/passwd"},
		"no address":       {Key: "k", Model: "m", BaseURL: "http://"},
		"a broken schema":  {Key: "k", Model: "m", BaseURL: "http://127.0.0.1:1", Schema: json.RawMessage("{")},
		"a broken address": {Key: "k", Model: "m", BaseURL: "http://[::1"},
	} {
		if _, err := ask(t, r); kind(err) != judge.BadRequest {
			t.Errorf("%s: the error is %q: %v", name, kind(err), err)
		}
	}
}

func TestBusyServiceIsAskedAgain(t *testing.T) {
	s := serve(t, status(529, ""), status(429, ""), says(verdict))
	a, err := ask(t, question(s.URL))
	if err != nil || a.Value["should_continue"] != true {
		t.Errorf("the answer is %v, %v", a, err)
	}
}

// A service that does not know structured output is asked without it, since the question states the schema too.
func TestServiceWithoutStructuredOutput(t *testing.T) {
	s := serve(t, status(400, `{"error":{"message":"output_config: Extra inputs are not permitted"}}`), says(verdict))
	if _, err := ask(t, question(s.URL)); err != nil {
		t.Fatal(err)
	}
	first, second := <-s.bodies, <-s.bodies
	if first["output_config"] == nil || second["output_config"] != nil {
		t.Error("the second request has the form that the first was refused for")
	}
	content := second["messages"].([]any)[0].(map[string]any)["content"].(string)
	if !strings.Contains(content, `"should_continue"`) {
		t.Errorf("the question does not state the schema: %s", content)
	}
}

// The deadline covers a service that never answers, one that never ends its answer, and the pauses between tries.
func TestDeadlineCoversEverything(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}
	wait := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3000")
		w.WriteHeader(503)
	}
	for name, c := range map[string]struct {
		reply http.HandlerFunc
		kind  judge.Kind
	}{
		"never answers": {hang, judge.Timeout}, "never ends": {drip, judge.Timeout}, "asks to wait": {wait, judge.BadStatus},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.reply)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := judge.Ask(ctx, question(s.URL)); kind(err) != c.kind {
				t.Errorf("the error is %q: %v, want %q", kind(err), err, c.kind)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // from now on, connections are refused
	if _, err := ask(t, question("http://"+l.Addr().String())); kind(err) != judge.Unreachable {
		t.Errorf("the error is %q: %v", kind(err), err)
	}
}

// A redirect is an error, wherever it comes from: the key is for the address that was named.
func TestKeyIsNotCarriedElsewhere(t *testing.T) {
	thief := serve(t, says(verdict))
	for _, code := range []int{301, 302, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL+r.URL.Path, code) })
		_, err := judge.Ask(t.Context(), question(s.URL))
		if kind(err) != judge.BadStatus || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: the error is %q: %v", code, kind(err), err)
		}
	}
	if n := thief.calls.Load(); n != 0 {
		t.Errorf("the redirect was followed %d times", n)
	}
}
