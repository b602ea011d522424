//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/stores/postgres"
)

var policies = fstest.MapFS{"review.yaml": {Data: []byte(`ralph: 1
limits: {continuations: 2}
rules:
  - name: review
    when: not said("REVIEWED")
    continue: Read your change once more.
`)}}

// Any process that opens the database continues the loop, and its limit holds over all of them.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool); err != nil {
		log.Fatal(err)
	}
	for process := range 3 {
		store, err := postgres.Open(ctx, pool)
		if err != nil {
			log.Fatal(err)
		}
		l, diags := loop.Load(ctx, policies, "review.yaml", loop.WithStore(store), loop.WithScope("acme"))
		if l == nil {
			log.Fatal(diags.Err())
		}
		d, err := l.Run(ctx, host.Event{SessionID: "s1", ID: fmt.Sprint("event-", process)})
		if err != nil {
			log.Print(err) // the agent may stop
		}
		fmt.Println(process, d.Verdict.Action, d.Verdict.Reason)
	}
	// Output:
	// 0 continue Read your change once more.
	// 1 continue Read your change once more.
	// 2 stop the limit of 2 continuations per prompt is reached
}

// A run is kept in the database, so that any process sees it, and another one resumes it.
func Example_run() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool); err != nil {
		log.Fatal(err)
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program, diags := rules.LoadBytes(ctx, "twice.yaml", []byte("ralph: 1\nrules: [{name: more, when: run.iteration < 2, continue: go on}]"), rules.Config{})
	if program == nil {
		log.Fatal(diags.Err())
	}
	agent := run.Func("worker", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil })
	drive := func(opts ...run.Option) string {
		r, err := run.New(program, agent, append(opts, run.WithStore(store, "acme"))...)
		if err != nil {
			log.Fatal(err)
		}
		for ev := range r.Run(ctx) {
			if ev.Kind == run.RunEnd {
				fmt.Println(ev.Ended, "after", ev.Totals.Iterations)
			}
		}
		return r.ID()
	}
	id := drive(run.WithDir(dir), run.WithLimits(run.Limits{Iterations: 1}))
	drive(run.Resume(id), run.WithLimits(run.Limits{Iterations: 5}))
	// Output:
	// limit after 1
	// stopped after 2
}

// Nothing is deleted by itself.
func ExampleStore_Expire() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool); err != nil {
		log.Fatal(err)
	}
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		log.Fatal(err)
	}
	n, err := store.Expire(ctx, time.Now().AddDate(0, 0, -30)) // sessions without a decision since then
	fmt.Println(n, err)
	// Output: 0 <nil>
}
