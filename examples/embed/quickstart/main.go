// Command quickstart decides whether an agent may stop.
package main

import (
	"context"
	"embed"
	"fmt"
	"log"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

//go:embed policy.yaml
var policies embed.FS

func main() {
	ctx := context.Background()
	l, diags := loop.Load(ctx, policies, "policy.yaml")
	if l == nil {
		log.Fatal(diags.Err())
	}
	for _, message := range []string{"The parser works.", "The printer works, too.\n\nDONE"} {
		d, err := l.Run(ctx, host.Event{SessionID: "s1", LastAssistantMessage: message})
		if err != nil {
			log.Print(err) // the decision lets the agent stop
		}
		fmt.Println(d.Verdict.Action, "-", d.Verdict.Reason)
	}
}
