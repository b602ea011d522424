package project_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// A person pauses a loop whose store is not a state directory.
func ExampleProject_Pause() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	program, diags := rules.LoadBytes(ctx, "build.yaml", []byte("ralph: 1\nrules: [{name: go, continue: go on}]"), rules.Config{})
	if program == nil {
		panic(diags.Err())
	}
	store := loop.InMemory()
	l, err := loop.New(program, loop.WithStore(store), loop.WithScope("tenant"), loop.WithRoot(dir), loop.WithName("build"))
	if err != nil {
		panic(err)
	}

	p, err := project.Open(project.Config{Dir: dir, Store: store, Scope: "tenant", Policies: []project.Policy{{Name: "build", Program: program}}})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	if _, err := p.Pause(ctx, "build", ""); err != nil {
		panic(err)
	}

	d, err := l.Run(ctx, host.Event{SessionID: "s"})
	fmt.Println(d.Verdict.Action, d.Verdict.Reason, err)
	// Output: stop the loop is paused <nil>
}
