package rules_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/rules"
)

// talk is what an agent's loop gives to each decision: two numbers, and a list that grows.
type talk struct {
	Turn     int       `json:"turn"`
	Most     int       `json:"most"`
	Messages []message `json:"messages"`
}

type message struct {
	Role    string         `json:"role"`
	Content string         `json:"content"`
	Tools   []string       `json:"tools"`
	At      time.Time      `json:"at"`
	Meta    map[string]any `json:"meta"`
}

func talkOf(messages int) talk {
	t := talk{Turn: 3, Most: 10}
	for i := range messages {
		t.Messages = append(t.Messages, message{
			Role: "assistant", Content: fmt.Sprint("message ", i), Tools: []string{"read", "write"}, At: time.Unix(int64(i), 0).UTC(), Meta: map[string]any{"tokens": i},
		})
	}
	return t
}

const talkPolicy = `
facts:
  talk: {input: {properties: {turn: {type: integer}, most: {type: integer}, messages: {type: array, items: {properties: {role: {type: string}, content: {type: string}}}}}}}
rules:
  - {name: enough, when: talk.turn >= talk.most, stop: enough}
  - {name: go, when: talk.turn < talk.most, continue: go on}
`

// The same decision, made of values of several shapes: x-two is the ratio to a map of the two integers that the rules
// read. What no rule reads costs nothing, so 100 messages must cost at most twice as much.
func BenchmarkValues(b *testing.B) {
	p := load(b, policy(talkPolicy))
	eval := func(v any) func(context.Context) bool {
		return func(ctx context.Context) bool {
			return p.Eval(ctx, rules.Values(map[string]any{"talk": v}), rules.Options{}).Action == rules.Continue
		}
	}
	code, err := expr.Compile("turn < most && !(turn >= most)", expr.Env(map[string]any{"turn": 0, "most": 0}))
	if err != nil {
		b.Fatal(err)
	}
	machine := vm.VM{}
	byHand := talkOf(100)
	whole := load(b, policy(talkPolicy+"  - {name: count, when: 'count(talk.messages, .role == \"user\") > 0', stop: x}\n"))
	_ = whole
	ways := []struct {
		name string
		do   func(context.Context) bool
	}{
		{"two", eval(map[string]any{"turn": 3, "most": 10})},
		{"hand", func(context.Context) bool { return !(byHand.Turn >= byHand.Most) && byHand.Turn < byHand.Most }},
		{"expr", func(context.Context) bool {
			v, err := machine.Run(code, map[string]any{"turn": byHand.Turn, "most": byHand.Most})
			return err == nil && v == true
		}},
		{"struct", eval(talkOf(0))},
		{"pointer", eval(&byHand)},
		{"messages-100", eval(talkOf(100))},
		{"messages-1000", eval(talkOf(1000))},
	}
	var two float64
	for _, w := range ways {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !w.do(b.Context()) {
					b.Fatal("another decision")
				}
			}
			per := float64(b.Elapsed()) / float64(b.N)
			if w.name == "two" {
				two = per
			}
			if two > 0 {
				b.ReportMetric(per/two, "x-two")
			}
		})
	}
}
