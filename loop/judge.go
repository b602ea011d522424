package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

const (
	judgeTimeout = 8 * time.Second
	judgeTurns   = 5
	judgeModel   = "claude-haiku-4-5-20251001" // of Anthropic, where the policy names none
)

// JudgeRecord is what one question to a model took, as the decision log keeps it.
type JudgeRecord struct {
	Fact         string `json:"fact"`
	Model        string `json:"model"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	Problem      string `json:"problem,omitempty"` // why there was no answer
	TookNS       int64  `json:"took_ns"`
}

// judge asks a model. Whatever keeps it from a whole and well typed answer makes
// the fact missing, so that no rule goes by it.
func (g *gatherer) judge(ctx context.Context, q Query) rules.Value {
	if problem := g.loop.distrust(g.program, q.Fact); problem != "" {
		return rules.Value{Status: rules.Missing, Problem: problem}
	}
	for _, name := range []string{"RALPH_JUDGE", "CLAUDE_HOOK_JUDGE_MODE"} {
		if v := q.Env(name); v != "" && v != "0" && v != "false" {
			return absent("this session is a judge itself: " + name + " is set")
		}
	}
	r, problem := judgeRequest(q)
	if problem != "" {
		return absent(problem)
	}
	timeout := timeoutOf(q.Fact, judgeTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	turns := judgeTurns
	if n, ok := q.Fact.Options["turns"].(int); ok {
		turns = n
	}
	if r.Turns = g.turns(ctx, turns); len(r.Turns) == 0 {
		return absent("there is no conversation to judge")
	}
	start := time.Now()
	answer, err := judge.Ask(ctx, nil, r)
	record := JudgeRecord{Fact: q.Fact.Name, Model: r.Model, TookNS: int64(time.Since(start))}
	if answer != nil {
		record.InputTokens, record.OutputTokens = answer.InputTokens, answer.OutputTokens
	}
	v := rules.Value{}
	if err != nil {
		v.Status, v.Problem = rules.Missing, err.Error()
		var failed *judge.Error
		if errors.As(err, &failed) {
			switch failed.Kind {
			case judge.Timeout:
				v.Problem = fmt.Sprintf("the model did not answer within %s", timeout)
			case judge.NoKey:
				v.Quiet = true
			}
		}
	} else {
		v = typed(q.Fact.Schema, answer)
	}
	record.Problem = v.Problem
	g.judged = append(g.judged, record)
	return v
}

// judgeRequest is the question without the conversation.
func judgeRequest(q Query) (r judge.Request, problem string) {
	api, _ := q.Fact.Options["api"].(string)
	prefix := "ANTHROPIC"
	if api == judge.OpenAI {
		prefix = "OPENAI"
	}
	r = judge.Request{
		API: api, BaseURL: q.Env(prefix + "_BASE_URL"), Key: q.Env(prefix + "_API_KEY"), Model: q.Options["model"],
		System: q.Options["system"], Question: q.Args[0],
	}
	r.MaxTokens, _ = q.Fact.Options["max_tokens"].(int)
	if r.Model == "" && prefix == "ANTHROPIC" {
		r.Model = judgeModel
	}
	if r.Key == "" && (r.BaseURL == "" || prefix == "ANTHROPIC") {
		return r, prefix + "_API_KEY is not set"
	}
	var err error
	if r.Schema, err = json.Marshal(answerSchema(q.Fact.Schema.Type())); err != nil {
		return r, "the schema of the answer cannot be sent: " + err.Error()
	}
	return r, ""
}

// turns are the last turns of the conversation. The session file may lag behind
// the agent, whose last words are then in the event alone.
func (g *gatherer) turns(ctx context.Context, n int) []judge.Turn {
	s := g.transcript(ctx)
	if s == nil {
		return nil
	}
	var turns []judge.Turn
	for _, e := range s.Conversation(ctx, n) {
		turns = append(turns, judge.Turn(e))
	}
	last := strings.TrimSpace(g.ev.LastAssistantMessage)
	switch {
	case len(turns) == 0 || last == "":
	case turns[len(turns)-1].Role != "assistant":
		turns = append(turns, judge.Turn{Role: "assistant", Text: last})
	case !strings.Contains(turns[len(turns)-1].Text, last):
		turns[len(turns)-1].Text += "\n" + last
	}
	return turns[max(0, len(turns)-n):]
}

// typed holds an answer against what the policy declares. Unlike in files, where
// people write what they mean, a text that merely spells a truth value is none.
func typed(s *schema.Schema, a *judge.Answer) rules.Value {
	missing := func(pointer, message string) rules.Value {
		return rules.Value{Status: rules.Missing, Problem: "the answer does not fit: " + strings.TrimPrefix(pointer+" ", " ") + message}
	}
	r := s.Check(schema.Document{Value: a.Value})
	if len(r.Unusable) > 0 {
		return missing(r.Unusable[0].Pointer, r.Unusable[0].Message)
	}
	if at, ok := spelled(a.Value, r.Value, ""); ok {
		return missing(at, "is a text")
	}
	if _, ok := r.Value.(map[string]any); !ok {
		return missing("", "it is no object")
	}
	return rules.Value{V: r.Value, Warnings: r.Warnings}
}

// spelled finds a text that was taken for the value which it spells.
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

// answerSchema is the schema of an answer in the part of JSON Schema that services
// take for structured output: every field is required, nothing else is allowed.
func answerSchema(t *schema.Type) map[string]any {
	out := map[string]any{}
	if t.Doc != "" {
		out["description"] = t.Doc
	}
	if t.Enum != nil {
		out["enum"] = t.Enum
	}
	name := map[schema.Kind]string{
		schema.Null: "null", schema.Bool: "boolean", schema.Int: "integer", schema.Number: "number", schema.String: "string",
		schema.Array: "array", schema.Object: "object",
	}[t.Kind]
	switch {
	case name == "":
	case (t.Nullable || t.Optional) && t.Kind != schema.Null && t.Enum == nil:
		out["type"] = []string{name, "null"}
	default:
		out["type"] = name
	}
	switch t.Kind {
	case schema.Array:
		if t.Elem != nil {
			out["items"] = answerSchema(t.Elem)
		}
	case schema.Object:
		if len(t.Fields) == 0 {
			break
		}
		properties := map[string]any{}
		var required []string
		for field, ft := range t.Fields {
			properties[field] = answerSchema(ft)
			required = append(required, field)
		}
		slices.Sort(required)
		out["properties"], out["required"], out["additionalProperties"] = properties, required, false
	}
	return out
}
