//go:build unix

package run_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// An agent, here a program that does nothing, is started until the policy says that it is done.
func ExampleRunner_Run() {
	policies := fstest.MapFS{"three.yaml": {Data: []byte(`ralph: 1
rules:
  - {name: next, when: run.iteration < 3, continue: Go on.}
  - {name: three, done: three were enough}
`)}}
	store := loop.Map()
	l, err := loop.Load(policies, "three.yaml", loop.WithStore(store))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := run.New(run.Plan{ID: "r1", Name: "three", Dir: os.TempDir(), Args: []string{"true"}, Started: time.Now()})
	if err == nil {
		r := run.Runner{Loop: l, Store: store, Env: os.Getenv}
		s, err = r.Run(context.Background(), s)
	}
	fmt.Println(s.End, err)
	// Output: &{done three three were enough true} <nil>
}
