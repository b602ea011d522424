package run

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
)

// Option configures a [Runner].
type Option func(*Runner) error

// set returns an option that cannot fail.
func set(to func(*Runner)) Option {
	return func(r *Runner) error {
		to(r)
		return nil
	}
}

// Limits bounds a run. Zero fields mean the defaults: 100 iterations and 24 hours; tokens and cost are unlimited.
// Tokens and cost are known after an iteration, so a run may exceed them by one.
type Limits struct {
	Iterations int           `json:"iterations,omitempty"`
	Elapsed    time.Duration `json:"elapsed_ns,omitempty"`
	Tokens     int           `json:"tokens,omitempty"`
	Cost       float64       `json:"cost_usd,omitempty"` // US dollars
}

// Defaults of [Limits] and of an iteration.
const (
	DefaultIterations = 100
	DefaultElapsed    = 24 * time.Hour
	DefaultIteration  = time.Hour
)

// WithArgs sets the agent's command line: the program and its flags.
func WithArgs(args ...string) Option {
	return set(func(r *Runner) { r.plan.Args = args })
}

// WithName sets the name of the policy, see [loop.WithName]. Hooks for a policy of the same name leave decisions to the
// run. The default is the program's file name.
func WithName(name string) Option {
	return set(func(r *Runner) { r.name = name })
}

// WithDir sets the project in which the agent works. The default is the working directory.
func WithDir(dir string) Option {
	return set(func(r *Runner) { r.plan.Root = dir })
}

// WithHome sets the project that lists the run and has its directory, if the agent works in another one.
func WithHome(dir string) Option {
	return set(func(r *Runner) { r.plan.Home = dir })
}

// WithFiles sets where [Dir] of the run is, if not in the project that lists it. It must exist.
func WithFiles(dir string) Option {
	return set(func(r *Runner) { r.plan.Files = dir })
}

// WithPrompt sets the prompt of the first iteration. By default it is the policy's continue text.
func WithPrompt(text string) Option {
	return set(func(r *Runner) { r.plan.Prompt = text })
}

// WithSaid ends the run with success once the agent's last message has text alone on a line, as [host.Said] describes.
// Each prompt asks for that line, and says why it did not count in the last iteration.
func WithSaid(text string) Option {
	return set(func(r *Runner) { r.plan.Said = text })
}

// WithLimits sets the limits of the run.
func WithLimits(l Limits) Option {
	return func(r *Runner) error {
		if l.Iterations < 0 || l.Elapsed < 0 || l.Tokens < 0 || l.Cost < 0 {
			return errors.New("a limit of a run must not be negative")
		}
		r.plan.Limits, r.resumed.limits = l, l
		return nil
	}
}

// WithIteration sets the time limit of one iteration; the default is an hour. An iteration that exceeds it ends as
// [Timeout], and its output counts.
func WithIteration(d time.Duration) Option {
	return func(r *Runner) error {
		if d <= 0 {
			return fmt.Errorf("the time of an iteration must be positive; got %s", d)
		}
		r.plan.Iteration = d
		return nil
	}
}

// WithContinue resumes the client's session if an iteration ended well, instead of starting a fresh one.
func WithContinue() Option {
	return set(func(r *Runner) { r.plan.Continue = true })
}

// WithLabels keeps labels with the run for the calling program, see [Info].
func WithLabels(labels map[string]string) Option {
	return set(func(r *Runner) { r.plan.Labels = labels })
}

// WithState keeps the run in a directory of ralph, so that it can be resumed, and its events and output in [Dir] of the
// project. By default nothing is kept.
func WithState(dir string) Option {
	return func(r *Runner) error {
		if dir == "" {
			return errors.New("the state directory of the run is empty")
		}
		r.kept.disk = store.Open(dir)
		return nil
	}
}

// WithLoop adds options of the loop that decides. The run sets the store of memories.
func WithLoop(opts ...loop.Option) Option {
	return set(func(r *Runner) { r.loopOptions = append(r.loopOptions, opts...) })
}

// WithProject sets the store for memory that loops of a project share. The default is in memory.
func WithProject(s loop.Store) Option {
	return set(func(r *Runner) { r.kept.project = s })
}

// WithEnv sets the environment of the agent, each NAME=VALUE. The default is the environment of the process.
func WithEnv(env []string) Option {
	return set(func(r *Runner) { r.env = env })
}

// WithClock sets the clock. The default is time.Now.
func WithClock(now func() time.Time) Option {
	return set(func(r *Runner) { r.clock.now = now })
}

// WithInterrupt sets a channel that ends the run after the current iteration once it is closed. A done context ends
// that iteration, too.
func WithInterrupt(c <-chan struct{}) Option {
	return set(func(r *Runner) { r.user.interrupt = c })
}

// Control is what the user wants a run to do. The zero value is to continue.
type Control uint8

// The controls.
const (
	GoOn  Control = iota
	Pause         // wait before the next iteration; time keeps counting
	Leave         // end after the current iteration, as interrupted
)

// WithControl sets a function that the run calls before each iteration, and every second while it waits.
func WithControl(ask func() Control) Option {
	return set(func(r *Runner) { r.user.control = ask })
}

// WithAnswer answers the question of a run that ended as [Asked], and that [Resume] continues: the text is the value answer of
// the first decision that the policy then makes.
func WithAnswer(text string) Option {
	return func(r *Runner) error {
		if r.resumed.answer = text; text == "" {
			return errors.New("the answer is empty")
		}
		return nil
	}
}

// Resume continues the run with this ID, which [WithState] kept. It keeps its command line, limits and prompt; options
// for them have no effect, except nonzero fields of [WithLimits].
func Resume(id string) Option {
	return func(r *Runner) error {
		if id == "" {
			return errors.New("the run to resume has no id")
		}
		r.resumed.id = id
		return nil
	}
}
