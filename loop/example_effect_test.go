package loop_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Effects of your own are declared with what carries them out: once, after the memory
// was saved.
func ExampleWithEffect() {
	ctx := context.Background()
	page := func(_ context.Context, c loop.Call) error {
		args := c.Effect.Value.(map[string]any)
		fmt.Printf("to %s: %s\n", args["team"], args["text"])
		return nil
	}
	policies := fstest.MapFS{"page.yaml": {Data: []byte(`ralph: 1
rules:
  - name: help
    when: last_assistant_message contains "I am stuck"
    stop: a person takes over
    then:
      - page: {team: api, text: "${session_id} is stuck"}
`)}}
	l, diags := loop.Load(ctx, policies, "page.yaml", loop.WithEffect(rules.EffectDecl{Name: "page", Doc: "Pages a team."}, page))
	if l == nil {
		fmt.Println(diags.Err())
		return
	}
	d, err := l.Run(ctx, host.Event{SessionID: "s1", LastAssistantMessage: "I am stuck."})
	fmt.Println(d.Verdict.Action, d.Verdict.Reason, err)
	// Output:
	// to api: s1 is stuck
	// stop a person takes over <nil>
}
