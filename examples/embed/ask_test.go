package embed_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A policy asks a person. The program shows the question, and the next event has the answer, which the policy reads in that
// decision only.
func Example_ask() {
	ctx := context.Background()
	policies := fstest.MapFS{"deploy.yaml": {Data: []byte(`ralph: 1
limits: {continuations: 5}
rules:
  - name: done
    when: said("DEPLOYED")
    stop: it is deployed
    success: true
  - name: answered
    when: answer != ""
    continue: |
      Deploy to ${answer}. When it is true, and not before, write this line:

      DEPLOYED
  - name: where
    ask: Deploy to staging, or to production?
`)}}
	l, diags := loop.Load(ctx, policies, "deploy.yaml")
	if l == nil {
		log.Fatal(diags.Err())
	}
	ev := host.Event{SessionID: "s1"}
	for _, message := range []string{"The build is ready.", "The build is ready.", "It is there.\n\nDEPLOYED"} {
		ev.LastAssistantMessage = message
		d, err := l.Run(ctx, ev)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Outcome(), "by", d.Verdict.Rule)
		ev.Values = nil
		if d.Verdict.Action == rules.Ask {
			ev.Values = map[string]any{"answer": person(d.Verdict.Reason)}
		}
	}
	// Output:
	// asked by where
	// Deploy to staging, or to production? staging
	// continued by answered
	// done by done
}

// person answers a question.
func person(question string) string {
	fmt.Println(question, "staging")
	return "staging"
}
