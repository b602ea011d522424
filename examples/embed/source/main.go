// Command source answers a Stop hook with a policy that reads a fact which ralph
// does not know: the coverage of the tests. The source is in coverage.go.
package main

import (
	"context"
	"embed"
	"io"
	"log"
	"os"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

//go:embed policy.yaml
var policies embed.FS

func main() {
	src := coverage{}
	program, findings := rules.Load(context.Background(), policies, "policy.yaml", loop.Config(loop.WithSource(src)))
	if program == nil {
		log.Fatal(findings.Err())
	}
	l, err := loop.New(program, loop.Local(), loop.WithSource(src))
	if err != nil {
		log.Fatal(err)
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	answer := l.Hook(context.Background(), nil, input)
	os.Stderr.Write(answer.Stderr)
	os.Stdout.Write(answer.Stdout)
	os.Exit(answer.Status)
}
