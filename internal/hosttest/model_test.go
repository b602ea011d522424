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

// request is what a client sends to the model in its turn. Requests without tools, such as those for a title, belong to no turn.
type request struct {
	n    int    // from 1
	last string // the texts since the model's last reply
}

// reply is what the model says: a text, or the call of a tool.
type reply struct {
	text  string
	tool  string
	space string // of the tool, where Codex has one
	input object
	error int // the status of a failure of the model, with the text as its message
	n     int // of the request, which makes IDs differ
}

// model follows a script, one request at a time. It has four wire formats, each on the path that its clients use.
type model struct {
	url string

	mu     sync.Mutex
	script func(request) reply
	asked  []request
	others []string // paths that no format has
}

func newModel(t *testing.T) *model {
	m := &model{}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// format is where a request has its messages, and how an answer is written.
type format struct {
	messages, role string
	write          func(w io.Writer, r reply)
}

func formatOf(path string) (format, bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return format{"messages", "assistant", writeMessages}, true
	case strings.HasSuffix(path, "/responses"):
		return format{"input", "assistant", writeResponses}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return format{"messages", "assistant", writeChat}, true
	case strings.HasSuffix(path, "enerateContent"):
		return format{"contents", "model", writeGemini}, true
	}
	return format{}, false
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := formatOf(r.URL.Path)
	var body object
	if !ok || json.NewDecoder(r.Body).Decode(&body) != nil {
		m.others = append(m.others, r.Method+" "+r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"models":[],"input_tokens":10,"totalTokens":10}`)
		return
	}
	answer := reply{text: "{}"}
	if tools, _ := body["tools"].([]any); len(tools) > 0 && m.script != nil {
		req := request{n: len(m.asked) + 1}
		messages, _ := body[f.messages].([]any)
		for _, msg := range messages {
			if o, _ := msg.(object); o["role"] == f.role || o["type"] == "function_call" {
				req.last = ""
				continue
			}
			req.last += texts(msg)
		}
		m.asked = append(m.asked, req)
		answer = m.script(req)
		answer.n = req.n
	}
	if answer.error != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.error)
		fmt.Fprint(w, encode(object{"type": "error", "error": object{"code": answer.error, "status": "UNAUTHENTICATED", "type": "authentication_error", "message": answer.text}}))
		return
	}
	if body["stream"] == true || strings.Contains(r.URL.Path, ":stream") {
		w.Header().Set("Content-Type", "text/event-stream")
		f.write(w, answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	f.write(plain{w}, answer)
}

// plain is the writer of an answer that is one JSON value.
type plain struct{ io.Writer }

// texts joins the texts of a message, in whatever parts it has.
func texts(v any) string {
	all := ""
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			all += texts(e)
		}
	case object:
		for _, key := range []string{"text", "content", "parts", "output", "functionResponse", "response"} {
			if s, ok := v[key].(string); ok {
				all += s + "\n"
			} else {
				all += texts(v[key])
			}
		}
	}
	return all
}

type object = map[string]any

// send writes an answer: whole, or as server-sent events, which have names in some formats.
func send(w io.Writer, named bool, whole object, events ...object) {
	if _, ok := w.(plain); ok {
		fmt.Fprint(w, encode(whole))
		return
	}
	for _, e := range events {
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
func writeMessages(w io.Writer, r reply) {
	id := fmt.Sprint("toolu_", r.n)
	block, stop := object{"type": "text", "text": r.text}, "end_turn"
	start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": r.text}
	if r.tool != "" {
		block, stop = object{"type": "tool_use", "id": id, "name": r.tool, "input": r.input}, "tool_use"
		start = object{"type": "tool_use", "id": id, "name": r.tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": encode(r.input)}
	}
	usage := object{"input_tokens": 10, "output_tokens": 5}
	message := func(content []any, stop any) object {
		return object{"id": fmt.Sprint("msg_", r.n), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "stop_reason": stop, "usage": usage}
	}
	send(w, true, message([]any{block}, stop),
		object{"type": "message_start", "message": message([]any{}, nil)},
		object{"type": "content_block_start", "index": 0, "content_block": start},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": usage},
		object{"type": "message_stop"})
}

// writeResponses answers as OpenAI's Responses.
func writeResponses(w io.Writer, r reply) {
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
	send(w, true, response,
		object{"type": "response.created", "response": object{"id": "resp_1"}},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": response})
}

// writeChat answers as OpenAI's chat completions.
func writeChat(w io.Writer, r reply) {
	message, finish := object{"role": "assistant", "content": r.text}, "stop"
	if r.tool != "" {
		call := object{"index": 0, "id": fmt.Sprint("call_", r.n), "type": "function", "function": object{"name": r.tool, "arguments": encode(r.input)}}
		message, finish = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	usage := object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	answer := func(kind, key string, finish any, message object) object {
		return object{"id": "chatcmpl-1", "object": kind, "created": 1, "model": "scripted", "usage": usage,
			"choices": []any{object{"index": 0, key: message, "finish_reason": finish}}}
	}
	send(w, false, answer("chat.completion", "message", finish, message),
		answer("chat.completion.chunk", "delta", nil, message), answer("chat.completion.chunk", "delta", finish, object{}))
	if _, ok := w.(plain); !ok {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// writeGemini answers as Gemini's generateContent.
func writeGemini(w io.Writer, r reply) {
	part := object{"text": r.text}
	if r.tool != "" {
		part = object{"functionCall": object{"name": r.tool, "args": r.input}}
	}
	response := object{
		"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	send(w, false, response, response)
}
