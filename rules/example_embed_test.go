package rules_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// Values takes your own types. What does not fit the schema is never guessed.
func ExampleValues() {
	type build struct {
		Left   uint16   `json:"left"`
		Broken []string `json:"broken"`
	}
	ctx := context.Background()
	program, _ := rules.LoadBytes(ctx, "build.yaml", []byte(buildPolicy), rules.Config{})
	for _, value := range []any{
		build{Left: 2},
		&build{Broken: []string{"lint", "docs"}},
		json.RawMessage(`{"left": 1}`),
		map[string]any{"left": "many"},
		nil,
	} {
		v := program.Eval(ctx, rules.Values(map[string]any{"build": value}), rules.Options{})
		fmt.Println(v.Action, cmp.Or(string(v.Cause), v.Reason, "because no rule holds"))
		for _, p := range v.Problems {
			fmt.Println("  problem:", p)
		}
	}
	// Output:
	// continue 2 targets are left.
	// continue Repair lint, docs.
	// continue 1 targets are left.
	// stop fact
	//   problem: build.left is "many", expected integer; write a whole number such as 3
	// stop because no rule holds
	//   problem: build: is not provided by the program
}

// A policy gets words of your own: a function, an event and an effect.
func ExampleConfig() {
	args, err := schema.FromValue("page", map[string]any{
		"type": "object", "required": []any{"team", "text"}, "additionalProperties": false,
		"properties": map[string]any{"team": map[string]any{"type": "string"}, "text": map[string]any{"type": "string"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	deployed := func(_ context.Context, service string) (int, error) {
		if service != "api" {
			return 0, errors.New("there is no such service")
		}
		return 41, nil
	}
	cfg := rules.Config{
		Functions: []rules.Function{{Name: "deployed", Doc: "The release that runs.", Func: deployed}},
		Events:    []string{"Deploy"},
		Effects:   []rules.EffectDecl{{Name: "page", Doc: "Pages a team.", Args: args}},
	}
	policy := []byte(`ralph: 1
events: [Deploy]
params:
  wanted: {type: integer, default: 42}
rules:
  - name: behind
    when: deployed("api") < wanted
    continue: Release ${wanted}, ${deployed("api")} runs.
    then:
      - page: {team: api, text: "${session_id} is behind"}
`)
	ctx := context.Background()
	program, diags := rules.LoadBytes(ctx, "deploy.yaml", policy, cfg)
	if program == nil {
		fmt.Println(diags.Err())
		return
	}
	v := program.Eval(ctx, rules.Values(map[string]any{"session_id": "s1"}), rules.Options{Event: "Deploy"})
	fmt.Println(v.Action, v.Reason)
	for _, part := range v.Parts {
		for _, e := range part.Effects {
			fmt.Println(e.Name, e.Value)
		}
	}
	// Output:
	// continue Release 42, 41 runs.
	// page map[team:api text:s1 is behind]
}

// A policy that touches more than it may is refused, at the place where it does. What it
// would touch in all is listed by loading it without Allow.
func ExampleCapabilities() {
	cfg := rules.Config{Allow: []rules.Capabilities{{
		Sources: []string{"json"},
		Names:   []string{"session_id", "last_assistant_message"},
		Paths:   []string{"build.json"},
	}}}
	policy := []byte(`ralph: 1
facts:
  build: {json: build.json}
  secret: {text: /etc/passwd}
rules:
  - name: leak
    when: ok(secret) and ok(build)
    continue: ${env.AWS_SECRET_ACCESS_KEY}
`)
	_, diags := rules.LoadBytes(context.Background(), "tenant.yaml", policy, cfg)
	for _, d := range diags {
		fmt.Println(d.Pos, d.Check, d.Message)
	}
	cfg.Allow = nil
	program, _ := rules.LoadBytes(context.Background(), "tenant.yaml", policy, cfg)
	for _, use := range slices.Concat(program.Uses().Sources, program.Uses().Names) {
		fmt.Println(use.Pos, use.Name)
	}
	// Output:
	// tenant.yaml:4:3 not-allowed the policy may not use the source "text"
	// tenant.yaml:4:18 not-allowed the policy may not use the path "/etc/passwd"
	// tenant.yaml:8:17 not-allowed the policy may not use the name "env.AWS_SECRET_ACCESS_KEY"
	// tenant.yaml:3:3 json
	// tenant.yaml:4:3 text
	// tenant.yaml:8:17 env.AWS_SECRET_ACCESS_KEY
}

// Uses lists what a policy can touch, for a user to approve or for a program to compare with a list.
func ExampleProgram_Uses() {
	program, diags := rules.LoadBytes(context.Background(), "tests.yaml", []byte(`ralph: 1
facts:
  state: {json: "state/${session_id}.json"}
  tests: {exec: [go, test, ./...]}
rules:
  - name: red
    when: exists("go.mod") and tests.code != 0
    continue: The tests fail.
`), rules.Config{})
	if program == nil {
		fmt.Println(diags.Err())
		return
	}
	uses := program.Uses()
	for _, u := range uses.Sources {
		fmt.Println("source", u.Name, "at", u.Pos)
	}
	for _, u := range uses.Functions {
		fmt.Println("function", u.Name, "at", u.Pos)
	}
	for _, u := range uses.Paths {
		fmt.Println("path", u.Name, "at", u.Pos)
	}
	// Output:
	// source exec at tests.yaml:4:3
	// source json at tests.yaml:3:3
	// function exists at tests.yaml:7:11
	// path go.mod at tests.yaml:7:11
	// path state/${session_id}.json at tests.yaml:3:17
}

// An evaluation that takes more than its budget ends where it is, and the agent may
// stop.
func ExampleBudget() {
	ctx := context.Background()
	program, _ := rules.LoadBytes(ctx, "busy.yaml", []byte(`ralph: 1
rules:
  - name: busy
    when: sum(1..9000) > 0
    continue: go on
`), rules.Config{})
	v := program.Eval(ctx, nil, rules.Options{Budget: rules.Budget{Steps: 1000}})
	fmt.Println(v.Action, v.Cause)
	fmt.Println(v.Problems[0].Text)
	// Output:
	// stop budget
	// busy.yaml:4:11: sum(1..9000) > 0: the evaluation takes too many steps
}
