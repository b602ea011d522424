package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

const (
	usualTurns = 5
	usualModel = "claude-haiku-4-5-20251001" // Anthropic's, if the policy names none
)

// Source returns the source of facts of kind judge:
//
//	loop.New(program, loop.WithSource(judge.Source()))
//
// If the model does not return a complete answer of the declared type, the fact is missing, so that no rule depends on
// it. [rules.Value.Meta] has the model, and the tokens as input_tokens and output_tokens. Keys and addresses come from
// the environment.
func Source() loop.Source {
	kinds := rules.SourceKinds()
	return source{kinds[slices.IndexFunc(kinds, func(k rules.SourceKind) bool { return k.Name == "judge" })]}
}

type source struct{ kind rules.SourceKind }

func (s source) Kind() rules.SourceKind { return s.kind }

func (source) Gather(ctx context.Context, q loop.Query) rules.Value {
	absent := func(why string) rules.Value {
		return rules.Value{Status: rules.Missing, Quiet: true, Problem: why}
	}
	for _, name := range []string{"RALPH_JUDGE", "CLAUDE_HOOK_JUDGE_MODE"} {
		if v := q.Env(name); v != "" && v != "0" && v != "false" {
			return absent("this session is a judge itself: " + name + " is set")
		}
	}
	r, key := request(q)
	timeout := cmp.Or(q.Fact.Timeout, q.Fact.Source.Timeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	failure := func(err error) rules.Value {
		v := rules.Value{Status: rules.Missing, Problem: err.Error()}
		var failed *Error
		if errors.As(err, &failed) {
			switch failed.Kind {
			case BadStatus, BadAnswer: // they quote the service, which may repeat the request
				v.Private = true
			case Timeout:
				v.Problem = fmt.Sprintf("the model did not answer within %s", timeout)
			case NoKey:
				v.Quiet, v.Problem = true, key+" is not set"
			}
		}
		return v
	}
	if _, err := r.wire(); err != nil {
		return failure(err)
	}
	limit := usualTurns
	if n, ok := q.Fact.Options["turns"].(int); ok {
		limit = n
	}
	results := q.Options["tool_results"]
	if results != "" && results != "true" && results != "false" {
		return rules.Value{Status: rules.Missing, Problem: fmt.Sprintf("tool_results must be true or false; got %q", results)}
	}
	var err error
	switch r.Turns, err = turns(ctx, q, limit, results == "true"); {
	case err != nil:
		return failure(err)
	case len(r.Turns) == 0:
		return absent("there is no conversation to judge")
	}
	answer, err := Ask(ctx, r)
	var v rules.Value
	if err == nil {
		v = typed(q.Fact.Schema, answer)
	} else {
		v = failure(err)
	}
	v.Meta = map[string]any{"model": r.Model}
	if answer != nil {
		v.Meta["input_tokens"], v.Meta["output_tokens"] = answer.InputTokens, answer.OutputTokens
	}
	return v
}

// request returns the question without the conversation, and the variable with the key.
func request(q loop.Query) (r Request, key string) {
	api, _ := q.Fact.Options["api"].(string)
	key, address, model := "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", usualModel
	if api == OpenAI {
		key, address, model = "OPENAI_API_KEY", "OPENAI_BASE_URL", ""
	}
	r = Request{
		API: api, BaseURL: q.Env(address), Key: q.Env(key), Model: cmp.Or(q.Options["model"], model),
		System: q.Options["system"], Question: q.Args[0],
	}
	r.MaxTokens, _ = q.Fact.Options["max_tokens"].(int)
	r.Schema, _ = json.Marshal(answerSchema(q.Fact.Schema)) // a schema always marshals
	return r, key
}

// turns returns the last n turns of the conversation, and the prompt that the first of them answers. The session file
// may lag behind the agent, whose last message is then only in the event.
func turns(ctx context.Context, q loop.Query, n int, results bool) ([]Turn, error) {
	s, err := q.Session(ctx)
	if s == nil {
		return nil, err
	}
	var all []Turn
	for _, e := range s.Conversation(ctx, n, results) {
		all = append(all, Turn(e))
	}
	last := strings.TrimSpace(q.Event.LastAssistantMessage)
	switch {
	case len(all) == 0 || last == "":
	case all[len(all)-1].Role != "assistant":
		all = append(all, Turn{Role: "assistant", Text: last})
	case !strings.Contains(all[len(all)-1].Text, last):
		all[len(all)-1].Text += "\n" + last
	}
	from := max(0, len(all)-n)
	if from > 0 && all[from].Role == "assistant" {
		from-- // the prompt that it answers
	}
	return all[from:], nil
}

// typed validates an answer with the schema in the policy. Unlike in files, which people write, a string with a
// boolean is not one.
func typed(s *schema.Schema, a *Answer) rules.Value {
	missing := func(pointer, message string) rules.Value {
		return rules.Value{Status: rules.Missing, Private: true, Problem: "the answer does not fit: " + strings.TrimPrefix(pointer+" ", " ") + message}
	}
	r := s.Check(schema.Document{Value: a.Value})
	if bad := r.Unfit(); bad != nil {
		return missing(bad.Pointer, bad.Message)
	}
	if at, ok := spelled(a.Value, r.Value, ""); ok {
		return missing(at, "is a string")
	}
	if _, ok := r.Value.(map[string]any); !ok {
		return missing("", "it is not an object")
	}
	return rules.Value{V: r.Value, Warnings: r.Warnings}
}

// spelled returns a string that was read as the value that it spells.
func spelled(raw, value any, at string) (string, bool) {
	switch raw := raw.(type) {
	case string:
		_, same := value.(string)
		return at, !same && value != nil
	case map[string]any:
		fields, _ := value.(map[string]any)
		for name, v := range raw {
			if where, ok := spelled(v, fields[name], at+"/"+name); ok {
				return where, true
			}
		}
	case []any:
		list, _ := value.([]any)
		for i := range min(len(raw), len(list)) {
			if where, ok := spelled(raw[i], list[i], fmt.Sprintf("%s/%d", at, i)); ok {
				return where, true
			}
		}
	}
	return "", false
}

// answerSchema returns the schema of an answer in the subset of JSON Schema for structured output: every field is
// required, no others are allowed.
func answerSchema(t *schema.Schema) map[string]any {
	out := map[string]any{}
	if t.Doc != "" {
		out["description"] = t.Doc
	}
	if t.Enum != nil {
		out["enum"] = t.Enum
	}
	switch {
	case t.Kind == schema.Any:
	case (t.Nullable || t.Optional) && t.Kind != schema.Null && t.Enum == nil:
		out["type"] = []string{t.Kind.String(), "null"}
	default:
		out["type"] = t.Kind.String()
	}
	if t.Kind == schema.Array && t.Elem != nil {
		out["items"] = answerSchema(t.Elem)
	}
	if t.Kind == schema.Object && len(t.Fields) > 0 {
		properties := map[string]any{}
		for field, ft := range t.Fields {
			properties[field] = answerSchema(ft)
		}
		out["properties"], out["required"], out["additionalProperties"] = properties, slices.Sorted(maps.Keys(properties)), false
	}
	return out
}
