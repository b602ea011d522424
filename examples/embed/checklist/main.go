// Command checklist decides one stop by the policy of the project in which it runs.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

func main() {
	ctx := context.Background()
	l, diags := loop.Load(ctx, os.DirFS(".ralph"), "policy.yaml", loop.WithRoot("."))
	if l == nil {
		log.Fatal(diags.Err())
	}
	d, err := l.Run(ctx, host.Event{SessionID: "s1", LastAssistantMessage: "I wrote hello.txt."})
	if err != nil {
		log.Print(err) // the agent may stop
	}
	fmt.Println(d.Verdict.Action, "by", d.Verdict.Rule)
	fmt.Println(d.Verdict.Reason)
}
