// Command ralph-worker starts and carries out runs of agents as durable workflows of Temporal.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
	"github.com/ralph-sdk/ralph/temporal"
)

const usage = `ralph-worker carries out runs of an agent on many machines, as workflows of Temporal.

usage:
  ralph-worker work [--queue NAME] [--remote NAME] [--agents N] [--drain DURATION]
        take runs of the project in the working directory, the top of a git clone
  ralph-worker start [--queue NAME] [--id ID] [--policy NAME] [--prompt TEXT] [--max N] [--for DURATION] -- AGENT [ARG]...
        start a run at the commit that is checked out, and print its ID
  ralph-worker pause ID | resume ID | answer ID TEXT | stop [--now] ID
        change a run; stop lets the iteration end, --now interrupts it
  ralph-worker status [--json] [ID]
        show a run, or list all runs

The server is that of the temporal command: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and so on, or its configuration file.
`

// drainSignals end a worker.
func drainSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func main() {
	watch := run.Watched() // in the process of a watch it does not return
	ctx, stop := signal.NotifyContext(context.Background(), drainSignals()...)
	defer stop()
	a := app{out: os.Stdout, errs: os.Stderr, watch: watch, dial: dialServer}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// dialServer connects to the server of the command temporal.
func dialServer() (client.Client, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, fmt.Errorf("the configuration of the command temporal cannot be used: %w", err)
	}
	options.Logger = log.NewStructuredLogger(slog.Default()) // the SDK's own logs each activity
	return client.Dial(options)
}

// app is the command and what it works with.
type app struct {
	out, errs io.Writer
	watch     run.Watch
	dial      func() (client.Client, error)
	dir       string // "" is the working directory
}

var errUsage = errors.New("wrong usage")

// run runs the command and returns its exit status: 0, 1 for an error, 2 for wrong usage.
func (a app) run(ctx context.Context, args []string) int {
	commands := map[string]func(context.Context, *flag.FlagSet, []string) error{
		"work": a.work, "start": a.start, "pause": a.send, "resume": a.send, "answer": a.send, "stop": a.send, "status": a.status,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(a.errs, usage)
		return 2
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	fs.SetOutput(a.errs)
	fs.Usage = func() { fmt.Fprint(a.errs, usage) }
	switch err := commands[args[0]](ctx, fs, args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case err != nil:
		fmt.Fprintln(a.errs, "ralph-worker:", err)
		return 1
	}
	return 0
}

// parse parses the flags, and checks how many arguments are left.
func (a app) parse(fs *flag.FlagSet, args []string, least, most int) error {
	if err := fs.Parse(args); err != nil {
		return errors.Join(err, errUsage)
	}
	if n := fs.NArg(); n < least || most >= 0 && n > most {
		fs.Usage()
		return errUsage
	}
	return nil
}

// server connects to the server for as long as do works.
func (a app) server(do func(client.Client) error) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// inProject opens the project in the working directory and connects to the server, for as long as do works.
func (a app) inProject(do func(*project.Project, client.Client) error) error {
	dir, err := filepath.Abs(a.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	p, err := project.Open(project.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer p.Close()
	return a.server(func(c client.Client) error { return do(p, c) })
}

func (a app) work(ctx context.Context, fs *flag.FlagSet, args []string) error {
	o := temporal.Options{Watch: a.watch}
	fs.StringVar(&o.Queue, "queue", "", "")
	fs.StringVar(&o.Remote, "remote", "", "")
	fs.IntVar(&o.Agents, "agents", 0, "")
	fs.DurationVar(&o.Drain, "drain", 0, "")
	if err := a.parse(fs, args, 0, 0); err != nil {
		return err
	}
	return a.inProject(func(p *project.Project, c client.Client) error {
		w, err := temporal.NewWorker(ctx, c, p, o)
		if err != nil {
			return err
		}
		return w.Run(ctx)
	})
}

func (a app) start(ctx context.Context, fs *flag.FlagSet, args []string) error {
	var q temporal.Request
	fs.StringVar(&q.Queue, "queue", "", "")
	fs.StringVar(&q.ID, "id", "", "")
	fs.StringVar(&q.Run.Policy, "policy", "", "")
	fs.StringVar(&q.Run.Prompt, "prompt", "", "")
	fs.IntVar(&q.Run.Limits.Iterations, "max", 0, "")
	fs.DurationVar(&q.Run.Limits.Elapsed, "for", 0, "")
	if err := a.parse(fs, args, 0, -1); err != nil {
		return err
	}
	q.Run.Agent = fs.Args()
	return a.inProject(func(p *project.Project, c client.Client) error {
		id, err := temporal.Start(ctx, c, p, q)
		if err == nil {
			fmt.Fprintln(a.out, id)
		}
		return err
	})
}

// send passes on what a person wants of a run.
func (a app) send(ctx context.Context, fs *flag.FlagSet, args []string) error {
	kind := map[string]step.InputKind{"pause": step.Pause, "resume": step.Go, "answer": step.Answer, "stop": step.Stop}[fs.Name()]
	now, n := new(bool), 1
	switch kind {
	case step.Stop:
		now = fs.Bool("now", false, "")
	case step.Answer:
		n = 2
	}
	if err := a.parse(fs, args, n, n); err != nil {
		return err
	}
	return a.server(func(c client.Client) error {
		if *now {
			return temporal.Cancel(ctx, c, fs.Arg(0))
		}
		return temporal.Send(ctx, c, fs.Arg(0), step.Input{Kind: kind, Answer: step.Text{Text: fs.Arg(1)}})
	})
}

func (a app) status(ctx context.Context, fs *flag.FlagSet, args []string) error {
	asJSON := fs.Bool("json", false, "")
	if err := a.parse(fs, args, 0, 1); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return a.server(func(c client.Client) error {
		if fs.NArg() == 0 {
			return a.list(ctx, c, *asJSON)
		}
		s, err := temporal.Get(ctx, c, fs.Arg(0))
		if err != nil {
			return err
		}
		return a.show(*asJSON, s, fmt.Sprintf("run %s: %s\n  policy    %s\n  client    %s\n  used      %d of %d iterations, %s\n  branch    %s\n  place     %s\n",
			s.ID, s, project.Short(s.Policy), s.Client, s.Totals.Iterations, s.Limits.Iterations, s.Totals.Elapsed.Round(time.Second), s.Branch, s.Place))
	})
}

// show prints what a value is in JSON, or a text.
func (a app) show(asJSON bool, v any, text string) error {
	if asJSON {
		return json.NewEncoder(a.out).Encode(v)
	}
	_, err := io.WriteString(a.out, text)
	return err
}

// listed is a run in the list of all.
type listed struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Status  string    `json:"status"` // of its workflow
}

// list lists the runs that the server has, one per line.
func (a app) list(ctx context.Context, c client.Client, asJSON bool) error {
	for next := []byte(nil); ; {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = '" + temporal.WorkflowType + "'", NextPageToken: next})
		if err != nil {
			return err
		}
		for _, w := range page.Executions {
			r := listed{w.Execution.WorkflowId, w.StartTime.AsTime(), strings.ToLower(w.Status.String())}
			if err := a.show(asJSON, r, fmt.Sprintf("%s  %s  %s\n", r.ID, r.Started.Local().Format(time.DateTime), r.Status)); err != nil {
				return err
			}
		}
		if next = slices.Clone(page.NextPageToken); len(next) == 0 {
			return nil
		}
	}
}
