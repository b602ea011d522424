package run

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ralph-sdk/ralph/internal/option"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run/step"
)

// Option configures a [Runner]. Options go together as those of a loop, see [loop.Option]: what a run has one of is given
// once, the smaller of two limits counts, labels and options of the loop add up, and nil is an error.
type Option func(*Runner) error

// set returns an option that cannot fail.
func set(to func(*Runner)) Option {
	return func(r *Runner) error {
		to(r)
		return nil
	}
}

// WithArgs sets the agent's command line: the program and its flags.
func WithArgs(args ...string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithArgs", &r.plan.Args, args, "name the program of the agent, or leave it out for a function")
	}
}

// WithName sets the name of the policy, see [loop.WithName]. Hooks for a policy of the same name leave decisions to the
// run. The default is the program's file name.
func WithName(name string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithName", &r.name, name, "leave it out for the program's file name")
	}
}

// WithDir sets the project in which the agent works. The default is the working directory.
func WithDir(dir string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithDir", &r.plan.Root, dir, "leave it out for the working directory")
	}
}

// WithHome sets the project that lists the run and has its directory, if the agent works in another one.
func WithHome(dir string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithHome", &r.plan.Home, dir, "leave it out for the project in which the agent works")
	}
}

// WithFiles sets where [Dir] of the run is, if not in the project that lists it. It must exist.
func WithFiles(dir string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithFiles", &r.plan.Files, dir, "leave it out for the project that lists the run")
	}
}

// WithPrompt sets the prompt of the first iteration. By default it is the policy's continue text.
func WithPrompt(text string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithPrompt", &r.prompt, text, "leave it out for the policy's continue text")
	}
}

// WithSaid ends the run with success once the agent's last message has text alone on a line, as [host.Said] describes.
// Each prompt asks for that line, and says why it did not count in the last iteration.
func WithSaid(text string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithSaid", &r.plan.Said, text, "leave it out if the policy alone ends the run")
	}
}

// WithLimits limits the run.
func WithLimits(l Limits) Option {
	return func(r *Runner) error {
		if l.Iterations < 0 || l.Elapsed < 0 || l.Tokens < 0 || l.Cost < 0 || l.Window < 0 {
			return errors.New("a limit of a run must not be negative")
		}
		own := &r.plan.Limits
		*own = Limits{
			Iterations: option.Least(own.Iterations, l.Iterations), Elapsed: option.Least(own.Elapsed, l.Elapsed),
			Tokens: option.Least(own.Tokens, l.Tokens), Cost: option.Least(own.Cost, l.Cost),
			Window: option.Least(own.Window, l.Window),
		}
		r.resumed.limits = *own
		return nil
	}
}

// WithIteration limits the time of one iteration; the default is an hour. An iteration that exceeds it ends as
// [Timeout], and its output counts.
func WithIteration(d time.Duration) Option {
	return func(r *Runner) error {
		if d <= 0 {
			return fmt.Errorf("the time of an iteration must be positive; got %s", d)
		}
		r.plan.Iteration = option.Least(r.plan.Iteration, d)
		return nil
	}
}

// WithContinue resumes the client's session if an iteration ended well, instead of starting a fresh one.
func WithContinue() Option {
	return set(func(r *Runner) { r.plan.Continue = true })
}

// WithLabels keeps labels with the run for the calling program, see [Info].
func WithLabels(labels map[string]string) Option {
	return func(r *Runner) error { return option.AddAll("run.WithLabels", &r.plan.Labels, labels) }
}

// WithStore keeps the run in a store, in a scope as of [loop.WithScope], "" for that of ralph's own runs, so that it can be
// resumed. The store must have [loop.Documents] and [loop.Leases]. While the run is live it holds the lease of its policy in
// the project, for all processes that share the store; what persons stop, pause, hint and approve there counts for it; the
// store also has the memory that loops of the project share, and the records, if it is a [loop.Recorder].
//
// The agent's output and the events in [Dir] are files of the machine on which the run works, and so are the sessions of its
// client. By default nothing is kept.
func WithStore(s loop.Store, scope string) Option {
	return func(r *Runner) error {
		const instead = "name one, such as loop.LocalStore(dir), or leave it out to keep nothing"
		if err := option.Given("run.WithStore", s, instead); err != nil {
			return err
		}
		k, err := runsIn(s, scope)
		if err == nil && k.leases == nil {
			err = store.ErrNoLeases
		}
		if err != nil {
			return err
		}
		return option.Fill("run.WithStore", &r.kept.runs, k, instead)
	}
}

// Driven makes a Runner that only carries out commands of a run which another driver drives: with [Runner.Iterate],
// [Runner.Decide] and [Runner.Await]. Its plan is that of the state, where the agent works in the plan's Root; documents are
// the texts that the state names, see [Runner.Documents].
func Driven(s step.State, documents map[string]string) Option {
	return set(func(r *Runner) {
		r.kept.driven, r.plan = true, s.Plan
		r.saved = checkpoint{V: 1, State: s, Texts: maps.Clone(documents)}
		if r.saved.Texts == nil {
			r.saved.Texts = map[string]string{}
		}
	})
}

// WithLoop adds options of the loop that decides. The run itself gives [loop.WithName], [loop.WithRoot],
// [loop.WithStore], the scope and the recorder of [WithStore], and a [loop.WithFacts] inside of those in opts.
func WithLoop(opts ...loop.Option) Option {
	return set(func(r *Runner) { r.loopOptions = append(r.loopOptions, opts...) })
}

// WithEnv sets the environment of the agent, each NAME=VALUE. The default is the environment of the process.
func WithEnv(env []string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithEnv", &r.env, env, "leave it out for the environment of the process, or give an empty list for none")
	}
}

// WithClock sets the clock. The default is time.Now.
func WithClock(now func() time.Time) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithClock", &r.clock.now, now, "leave it out for time.Now")
	}
}

// WithInterrupt sets a channel that ends the run after the current iteration once it is closed. A done context ends
// that iteration, too.
func WithInterrupt(c <-chan struct{}) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithInterrupt", &r.user.interrupt, c, "leave it out if nothing interrupts the run")
	}
}

// Control is what the user wants a run to do. The zero value is to continue.
type Control uint8

// The controls.
const (
	GoOn  Control = iota
	Pause         // wait before the next iteration; time keeps counting
	Leave         // end after the current iteration, as interrupted
)

// WithControl sets a function that the run calls before each iteration, and every second while it waits. Of several
// answers [Leave] counts before [Pause].
func WithControl(ask func() Control) Option {
	return func(r *Runner) error {
		if err := option.Given("run.WithControl", ask, "leave it out if nothing pauses or ends the run"); err != nil {
			return err
		}
		others := r.user.control
		r.user.control = func() Control { return max(others(), ask()) }
		return nil
	}
}

// WithAnswer answers the question of a run that ended as [Asked], and that [Resume] continues: the text is the value answer of
// the first decision that the policy then makes.
func WithAnswer(text string) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithAnswer", &r.resumed.answer, text, "leave it out to continue the run without an answer")
	}
}

// Resume continues the run with this ID, which [WithStore] kept. It keeps its command line, limits and prompt; options
// for them have no effect, except nonzero fields of [WithLimits] and [WithAnswer].
func Resume(id string) Option {
	return func(r *Runner) error {
		return option.Fill("run.Resume", &r.resumed.id, id, "name the ID of a run, see run.List")
	}
}
