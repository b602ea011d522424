package loop_test

import (
	"context"
	"fmt"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// pager carries out the verb page.
type pager struct{}

func (pager) Write(_ context.Context, effects []rules.Effect) error {
	args := effects[0].Value.(map[string]any) // one effect a call
	fmt.Printf("to %s: %s\n", args["team"], args["text"])
	return nil
}

// Effects of your own are declared where the policy is loaded and carried out by a
// Writer, once, after the memory was saved.
func ExampleWithVerb() {
	ctx := context.Background()
	cfg := loop.Config()
	cfg.Effects = []rules.EffectDecl{{Name: "page", Doc: "Pages a team."}}
	program, diags := rules.LoadBytes(ctx, "page.yaml", []byte(`ralph: 1
rules:
  - name: help
    when: last_assistant_message contains "I am stuck"
    stop: a person takes over
    then:
      - page: {team: api, text: "${session_id} is stuck"}
`), cfg)
	if program == nil {
		fmt.Println(diags.Err())
		return
	}
	l, err := loop.New(program, loop.WithVerb("page", pager{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := l.Apply(ctx, l.Decide(ctx, host.Event{SessionID: "s1", LastAssistantMessage: "I am stuck."}))
	fmt.Println(d.Verdict.Action, d.Verdict.Reason, err)
	// Output:
	// to api: s1 is stuck
	// stop a person takes over <nil>
}
