package temporal_test

import (
	"context"
	"log"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/ralph-sdk/ralph/contrib/temporal"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// A worker takes runs of a project from the task queue "website", until a signal ends it. The project is a directory that is the same on
// each machine of the queue; a worker with a clone of its own fetches in Open, and pushes in Place.Keep.
func ExampleWorker() {
	c, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	store := loop.Dir("/srv/ralph")
	open := func(_ context.Context, p run.Plan) (temporal.Place, error) {
		l, err := loop.Load(os.DirFS(p.Root), ".ralph/policy.yaml", loop.WithRoot(p.Root), loop.WithStore(store), loop.WithAllow("exec"))
		return temporal.Place{Runner: &run.Runner{Loop: l, Store: store, Env: os.Getenv}}, err
	}
	w := worker.New(c, "website", worker.Options{WorkerStopTimeout: 10 * time.Minute})
	(&temporal.Worker{Client: c, Open: open}).Register(w)
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}

// A run of at most 20 iterations.
func ExampleStart() {
	c, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s, err := run.New(run.Plan{
		ID: "nightly-1", Name: "policy", Root: "/srv/website", Dir: "/srv/website", Args: []string{"claude", "-p"},
		Limits: run.Limits{Max: 20, For: 8 * time.Hour},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := temporal.Start(context.Background(), c, "website", temporal.Course{State: s}); err != nil {
		log.Fatal(err)
	}
}
