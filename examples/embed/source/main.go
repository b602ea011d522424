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
	ctx := context.Background()
	l, diags := loop.Load(ctx, policies, "policy.yaml", loop.WithSource(coverage{}), loop.Local())
	if l == nil {
		log.Fatal(diags.Err())
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	answer := l.Hook(ctx, nil, input)
	os.Stderr.Write(answer.Stderr)
	os.Stdout.Write(answer.Stdout)
	os.Exit(answer.Status)
}
