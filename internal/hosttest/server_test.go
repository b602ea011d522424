//go:build hosts

package hosttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A request is what a client sends to the model in its turn. Requests without tools, such as those for a title, are not
// part of a turn: the server answers them itself.
type request struct {
	n    int    // from 1, among those of this server
	text string // of all messages
	last string // of the messages since the model's last reply
}

// A reply is what the model says: a text, or the call of a tool.
type reply struct {
	text  string
	tool  string
	space string // of the tool, where Codex has one
	input map[string]any
	fails int // the HTTP status of an error instead
	n     int // of the request, which makes ids differ
}

// A script answers requests, one at a time.
type script func(request) reply

// A server is a model that follows a script. It has the four wire formats, each on the path that its clients use.
type server struct {
	url string

	mu     sync.Mutex
	script script
	asked  []request
	others []string // paths that no wire format has
}

func newServer(t *testing.T) *server {
	s := &server{}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// A wire is one of the formats: where a request has its messages, and how an answer is written.
type wire struct {
	messages string // the key of their list
	says     func(message map[string]any) bool
	write    func(w io.Writer, r reply, stream bool)
}

func wireOf(path string) (w wire, ok bool) {
	byRole := func(role string) func(map[string]any) bool {
		return func(m map[string]any) bool { return m["role"] == role || m["type"] == "function_call" }
	}
	switch {
	case strings.HasSuffix(path, "/messages"):
		return wire{"messages", byRole("assistant"), writeMessages}, true
	case strings.HasSuffix(path, "/responses"):
		return wire{"input", byRole("assistant"), writeResponses}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return wire{"messages", byRole("assistant"), writeChat}, true
	case strings.HasSuffix(path, "enerateContent"):
		return wire{"contents", byRole("model"), writeGemini}, true
	}
	return w, false
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	format, ok := wireOf(r.URL.Path)
	var body map[string]any
	if !ok || json.NewDecoder(r.Body).Decode(&body) != nil {
		s.others = append(s.others, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"models":[],"input_tokens":10,"totalTokens":10}`)
		return
	}
	answer := reply{text: "{}"}
	if tools, _ := body["tools"].([]any); len(tools) > 0 && s.script != nil {
		req := request{n: len(s.asked) + 1}
		messages, _ := body[format.messages].([]any)
		for _, m := range messages {
			m, _ := m.(map[string]any)
			text := texts(m)
			req.text += text
			req.last += text
			if format.says(m) {
				req.last = ""
			}
		}
		s.asked = append(s.asked, req)
		answer = s.script(req)
		answer.n = req.n
	}
	if answer.fails != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.fails)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","code":%d,"message":"scripted failure"}}`, answer.fails)
		return
	}
	stream := body["stream"] == true || strings.Contains(r.URL.Path, ":stream")
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	format.write(w, answer, stream)
}

// texts joins the texts of a message, in whatever parts it has.
func texts(v any) string {
	switch v := v.(type) {
	case []any:
		all := ""
		for _, e := range v {
			all += texts(e)
		}
		return all
	case map[string]any:
		all := ""
		for _, key := range []string{"text", "content", "parts", "output", "functionResponse", "response"} {
			if s, ok := v[key].(string); ok {
				all += s + "\n"
			} else {
				all += texts(v[key])
			}
		}
		return all
	}
	return ""
}

type object = map[string]any

// events writes server-sent events. Each is named by its type where the format does so.
func events(w io.Writer, named bool, all ...object) {
	for _, e := range all {
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", encode(e))
	}
}

func encode(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // of what a script says
	}
	return string(out)
}

// writeMessages answers as Anthropic's Messages.
func writeMessages(w io.Writer, r reply, stream bool) {
	block, stop := object{"type": "text", "text": r.text}, "end_turn"
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": r.text}
	if r.tool != "" {
		block, stop = object{"type": "tool_use", "id": fmt.Sprint("toolu_", r.n), "name": r.tool, "input": r.input}, "tool_use"
		start = object{"type": "tool_use", "id": fmt.Sprint("toolu_", r.n), "name": r.tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": encode(r.input)}
	}
	usage := object{"input_tokens": 10, "output_tokens": 5}
	message := object{"id": fmt.Sprint("msg_", r.n), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{}, "stop_reason": nil, "usage": usage}
	if !stream {
		message["content"], message["stop_reason"] = []any{block}, stop
		fmt.Fprint(w, encode(message))
		return
	}
	events(w, true,
		object{"type": "message_start", "message": message},
		object{"type": "content_block_start", "index": 0, "content_block": start},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": usage},
		object{"type": "message_stop"})
}

// writeResponses answers as OpenAI's Responses.
func writeResponses(w io.Writer, r reply, stream bool) {
	item := object{"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": []any{object{"type": "output_text", "text": r.text, "annotations": []any{}}}}
	if r.tool != "" {
		item = object{"type": "function_call", "id": fmt.Sprint("fc_", r.n), "call_id": fmt.Sprint("call_", r.n), "name": r.tool, "arguments": encode(r.input)}
		if r.space != "" {
			item["namespace"] = r.space
		}
	}
	response := object{
		"id": "resp_1", "object": "response", "status": "completed", "output": []any{item},
		"usage": object{"input_tokens": 10, "input_tokens_details": nil, "output_tokens": 5, "output_tokens_details": nil, "total_tokens": 15},
	}
	if !stream {
		fmt.Fprint(w, encode(response))
		return
	}
	events(w, true,
		object{"type": "response.created", "response": object{"id": "resp_1"}},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": response})
}

// writeChat answers as OpenAI's chat completions.
func writeChat(w io.Writer, r reply, stream bool) {
	message, finish := object{"role": "assistant", "content": r.text}, "stop"
	if r.tool != "" {
		call := object{"index": 0, "id": fmt.Sprint("call_", r.n), "type": "function", "function": object{"name": r.tool, "arguments": encode(r.input)}}
		message, finish = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	usage := object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	whole := func(kind, key string, finish any, message object) object {
		return object{"id": "chatcmpl-1", "object": kind, "created": 1, "model": "scripted", "usage": usage,
			"choices": []any{object{"index": 0, key: message, "finish_reason": finish}}}
	}
	if !stream {
		fmt.Fprint(w, encode(whole("chat.completion", "message", finish, message)))
		return
	}
	events(w, false, whole("chat.completion.chunk", "delta", nil, message), whole("chat.completion.chunk", "delta", finish, object{}))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// writeGemini answers as Gemini's generateContent.
func writeGemini(w io.Writer, r reply, stream bool) {
	part := object{"text": r.text}
	if r.tool != "" {
		part = object{"functionCall": object{"name": r.tool, "args": r.input}}
	}
	response := object{
		"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	if !stream {
		fmt.Fprint(w, encode(response))
		return
	}
	events(w, false, response)
}
