package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// wire is the protocol of one service.
type wire struct {
	url      string
	host     string // for messages to users
	header   http.Header
	body     func(r Request, structured bool) any
	ofSchema []string // words in an error about the form of the schema
}

// wire checks the request before anything is sent.
func (r *Request) wire() (*wire, error) {
	w := &wire{header: http.Header{"Content-Type": {"application/json"}, "User-Agent": {"ralph"}}}
	key, base := strings.TrimSpace(r.Key), strings.TrimSpace(r.BaseURL)
	own, path := base != "", "/v1/messages"
	switch r.API {
	case "", Anthropic:
		base = cmp.Or(base, "https://api.anthropic.com")
		w.body, w.ofSchema = anthropicBody, []string{"output_config", "output_format", "schema"}
		w.header.Set("X-Api-Key", key)
		w.header.Set("Anthropic-Version", "2023-06-01")
	case OpenAI:
		base, path = cmp.Or(base, "https://api.openai.com/v1"), "/chat/completions"
		w.body = func(r Request, structured bool) any { return openAIBody(r, structured, own) }
		w.ofSchema = []string{"response_format", "schema"}
		if key != "" {
			w.header.Set("Authorization", "Bearer "+key)
		}
	default:
		return nil, &Error{Kind: BadRequest, Message: fmt.Sprintf("the API must be %s or %s; got %q", Anthropic, OpenAI, r.API)}
	}
	if key == "" && (r.API != OpenAI || !own) {
		return nil, &Error{Kind: NoKey, Message: "there is no API key"}
	}
	if r.Model == "" {
		return nil, &Error{Kind: BadRequest, Message: "no model is named: write model: for the api " + OpenAI}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &Error{Kind: BadRequest, Message: "the base address of the service is no http or https address"}
	}
	w.host = u.Host
	w.url = strings.TrimRight(u.String(), "/") + path
	return w, nil
}

// refusesSchema reports whether an error is about the form of the schema.
func (w *wire) refusesSchema(complaint string) bool {
	return slices.ContainsFunc(w.ofSchema, func(word string) bool { return strings.Contains(complaint, word) })
}

// complaint describes an error status.
func (w *wire) complaint(status int, body []byte) string {
	said := ""
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && len(e.Error) > 0 {
		var detail struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(e.Error, &detail) != nil || detail.Message == "" {
			_ = json.Unmarshal(e.Error, &detail.Message) // some servers send only a string
		}
		said = oneLine(detail.Message, 200)
	}
	message := fmt.Sprintf("%s answered with status %d", w.host, status)
	if status >= 300 && status < 400 {
		message += ", a redirect, which is not followed"
	} else if text := http.StatusText(status); text != "" {
		message += " (" + text + ")"
	}
	if said != "" {
		message += ": " + said
	}
	return message
}

func message(role, content string) map[string]any {
	return map[string]any{"role": role, "content": content}
}

func (r *Request) maxTokens() int { return cmp.Or(max(r.MaxTokens, 0), DefaultMaxTokens) }

func anthropicBody(r Request, structured bool) any {
	body := map[string]any{
		"model": r.Model, "max_tokens": r.maxTokens(), "system": r.system(), "messages": []any{message("user", r.prompt())},
	}
	if structured && len(r.Schema) > 0 {
		body["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": r.Schema}}
	}
	return body
}

// openAIBody returns a chat completion. OpenAI's own service has another name for the token limit than other servers
// with its format.
func openAIBody(r Request, structured, own bool) any {
	bound := "max_completion_tokens"
	if own {
		bound = "max_tokens"
	}
	body := map[string]any{
		"model": r.Model, bound: r.maxTokens(), "messages": []any{message("system", r.system()), message("user", r.prompt())},
	}
	if structured && len(r.Schema) > 0 {
		format := map[string]any{"name": "answer", "strict": true, "schema": r.Schema}
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": format}
	}
	return body
}

// answerOf parses a response in either format. An unusable answer also costs tokens, so these are returned with the
// error.
func answerOf(response []byte) (*Answer, error) {
	var doc struct {
		Model   string `json:"model"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		StopReason string `json:"stop_reason"`
		Choices    []struct {
			Message struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Input      int `json:"input_tokens"`
			Cached     int `json:"cache_read_input_tokens"`
			Output     int `json:"output_tokens"`
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(response, &doc); err != nil {
		return nil, &Error{Kind: BadAnswer, Message: "the service sent something else than its format", Err: err}
	}
	u := doc.Usage
	a := &Answer{Model: doc.Model, InputTokens: u.Input + u.Cached + u.Prompt, OutputTokens: u.Output + u.Completion}
	refused, cutOff := doc.StopReason == "refusal", doc.StopReason == "max_tokens"
	for _, block := range doc.Content {
		if block.Type == "text" {
			a.Text += block.Text
		}
	}
	if len(doc.Choices) > 0 {
		first := doc.Choices[0]
		a.Text, refused, cutOff = first.Message.Content, first.Message.Refusal != "", first.FinishReason == "length"
	}
	if refused {
		return a, &Error{Kind: BadAnswer, Message: "the model refused to answer"}
	}
	v, err := object(a.Text)
	if err != nil {
		if cutOff {
			err.Message += "; it was cut off at max_tokens"
		}
		return a, err
	}
	a.Value = v
	return a, nil
}
