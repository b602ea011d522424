package embed_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

var deploy = fstest.MapFS{"deploy.yaml": {Data: []byte(`ralph: 1
events: [Deploy]
facts:
  api: {service: api}
rules:
  - name: sick
    when: not api.healthy and major(api.version) >= 2
    continue: Roll ${api.version} back.
    then:
      - page: {team: api, text: "${api.version} is not healthy"}
`)}}

// service is what the source knows of a service, by its name.
type service struct {
	Version string `json:"version"`
	Healthy bool   `json:"healthy"`
}

type services map[string]service

// Kind types the facts, so that a misspelt field is an error when a policy is loaded.
func (services) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "service", Doc: "A service that runs.", Value: rules.SourceValue{Type: &schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{
		"version": {Kind: schema.String},
		"healthy": {Kind: schema.Bool},
	}}}}
}

func (s services) Gather(_ context.Context, q loop.Query) rules.Value {
	found, ok := s[q.Args[0]]
	if !ok {
		return rules.Value{Status: rules.Missing, Problem: "there is no service " + q.Args[0]}
	}
	return rules.ValueOf(q.Fact, found)
}

func major(version string) int {
	var n int
	fmt.Sscan(strings.Split(version, ".")[0], &n)
	return n
}

func page(_ context.Context, c loop.Call) error {
	args := c.Effect.Value.(map[string]any)
	fmt.Printf("page to %s: %s\n", args["team"], args["text"])
	return nil
}

// A program adds a source, a function, an event and an effect to the language.
func Example_language() {
	ctx := context.Background()
	l, diags := loop.Load(ctx, deploy, "deploy.yaml",
		loop.WithSource(services{"api": {Version: "2.1.0"}}),
		loop.WithEffect(rules.EffectDecl{Name: "page", Doc: "Pages a team."}, page),
		loop.WithEvents("Deploy"),
		loop.WithFunctions(rules.Function{Name: "major", Doc: "The major version.", Func: major}))
	if l == nil {
		fmt.Println(diags.Err())
		return
	}
	d, err := l.Run(ctx, host.Event{Name: "Deploy"})
	fmt.Println(d.Verdict.Action, "-", d.Verdict.Reason, err)
	// Output:
	// page to api: 2.1.0 is not healthy
	// continue - Roll 2.1.0 back. <nil>
}
