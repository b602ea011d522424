package embed_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const before = `ralph: 1
facts:
  todo: {checklist: TODO.md}
rules:
  - name: open
    when: any(todo, not .done)
    continue: Do the next item of TODO.md.
`

const after = `ralph: 1
facts:
  todo: {checklist: TODO.md}
  tests: {exec: [go, test, ./...]}
rules:
  - name: open
    when: any(todo, not .done) or tests.code != 0
    continue: Do the next item of TODO.md, as ${env.USER}.
`

// A job of a CI shows what the change of a policy touches in addition, and fails if there is
// something.
func Example_uses() {
	old, err := used(before)
	if err != nil {
		fmt.Println(err)
		return
	}
	now, err := used(after)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, u := range now {
		if !slices.ContainsFunc(old, func(o use) bool { return o.what == u.what }) {
			fmt.Printf("%s: %s\n", u.at, u.what)
		}
	}
	// Output:
	// policy.yaml:4:3: source exec
	// policy.yaml:8:49: name env.USER
}

// use is one thing that a policy can touch, and where.
type use struct {
	what string
	at   rules.Pos
}

func used(policy string) (all []use, err error) {
	program, diags := rules.LoadBytes(context.Background(), "policy.yaml", []byte(policy), loop.Config())
	if program == nil {
		return nil, diags.Err()
	}
	u := program.Uses()
	for kind, uses := range map[string][]rules.Use{
		"source": u.Sources, "function": u.Functions, "effect": u.Effects, "name": u.Names, "path": u.Paths,
	} {
		for _, one := range uses {
			all = append(all, use{kind + " " + one.Name, one.Pos})
		}
	}
	slices.SortFunc(all, func(a, b use) int { return a.at.Line - b.at.Line })
	return all, nil
}
