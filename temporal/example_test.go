package temporal_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/client"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/temporal"
)

// A worker in a program of your own, in a clone of the project.
func Example() {
	watch := run.Watched() // first in main: a watch is another process of this program
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	p, err := project.Open(project.Config{Dir: "/srv/project"})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	w, err := temporal.NewWorker(ctx, c, p, temporal.Options{Remote: "origin", Watch: watch})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
