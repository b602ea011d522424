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
)

//go:embed policy.yaml
var policies embed.FS

func main() {
	l, findings := loop.Load(context.Background(), policies, "policy.yaml", loop.Local(), loop.WithSource(coverage{}))
	if l == nil {
		log.Fatal(findings.Err())
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
