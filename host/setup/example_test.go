package setup_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-sdk/ralph/host/setup"
)

// An entry is added to the settings of a host, found there and removed again.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	in := setup.Env{Project: dir}
	g, err := in.Host("codex")
	if err != nil {
		panic(err)
	}
	events, _ := g.Events([]string{"Stop"})
	file, err := g.Open(ctx, setup.ScopeProject)
	if err != nil {
		panic(err)
	}
	after, err := file.With(setup.Want{Program: "ralph", Events: events, Policies: []string{"speckit"}})
	if err != nil {
		panic(err)
	}
	if err := file.Replace(ctx, after); err != nil {
		panic(err)
	}
	in.Read(ctx).Asking(func(s setup.Settings, e setup.Entry, policies []string) {
		fmt.Println(s.File.Shown, e.Event, policies)
		after, err := s.File.Without(s.Entries)
		if err == nil {
			err = s.File.Replace(ctx, after)
		}
		file, _ := g.Open(ctx, setup.ScopeProject)
		fmt.Println(err, file.Src == nil)
	})
	// Output:
	// .codex/hooks.json Stop [speckit]
	// <nil> true
}
