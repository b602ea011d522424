package run

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
)

// Option changes a [Runner].
type Option func(*Runner) error

// set is an option that is never refused.
func set(to func(*Runner)) Option {
	return func(r *Runner) error {
		to(r)
		return nil
	}
}

// Limits bound a run. Zero fields are the defaults: 100 iterations and 24 hours; tokens and cost are unbounded.
// Tokens and cost are known after an iteration, so the run may be over them by one.
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

// WithArgs sets the command line of the agent: the program and its flags.
func WithArgs(args ...string) Option {
	return set(func(r *Runner) { r.plan.Args = args })
}

// WithName sets the name under which the policy is known, see [loop.WithName]. Hooks of the policy step aside for the run if
// they have the same. Without it that is the program's file name.
func WithName(name string) Option {
	return set(func(r *Runner) { r.name = name })
}

// WithDir sets the project, in which the agent is started. Without it, that is the working directory.
func WithDir(dir string) Option {
	return set(func(r *Runner) { r.plan.Root = dir })
}

// WithHome sets the project that the run belongs to, where that is not the one in which the agent works: the folder of
// the run lies there, and it is listed there.
func WithHome(dir string) Option {
	return set(func(r *Runner) { r.plan.Home = dir })
}

// WithPrompt sets the prompt of the first iteration. Without it the policy is asked first, and its continue text is the prompt.
func WithPrompt(text string) Option {
	return set(func(r *Runner) { r.plan.Prompt = text })
}

// WithUntil ends the run by success once the agent's last message has this text, where it is not code, a quote or negated.
// A text within the tag <promise> must be in it there too.
func WithUntil(text string) Option {
	return set(func(r *Runner) { r.plan.Until = text })
}

// WithLimits bounds the run.
func WithLimits(l Limits) Option {
	return func(r *Runner) error {
		if l.Iterations < 0 || l.Elapsed < 0 || l.Tokens < 0 || l.Cost < 0 {
			return errors.New("a limit of a run is not negative")
		}
		r.plan.Limits, r.limits = l, l
		return nil
	}
}

// WithIteration bounds the time of one iteration, an hour if it is not given. After it, the iteration ends as [Timeout], and what it printed counts.
func WithIteration(d time.Duration) Option {
	return func(r *Runner) error {
		if d <= 0 {
			return fmt.Errorf("an iteration needs time, and this is %s", d)
		}
		r.plan.Iteration = d
		return nil
	}
}

// WithContinue goes on with the client's session where an iteration ended well, in place of a fresh one.
func WithContinue() Option {
	return set(func(r *Runner) { r.plan.Continue = true })
}

// WithLabels keeps texts with the run for the program that starts it, see [Info].
func WithLabels(labels map[string]string) Option {
	return set(func(r *Runner) { r.plan.Labels = labels })
}

// WithState keeps the run in a directory of ralph's own, so that it can be resumed, and its events and outputs
// in [Dir] of the project. Without it nothing is kept.
func WithState(dir string) Option {
	return func(r *Runner) error {
		if dir == "" {
			return errors.New("the state directory of the run is empty")
		}
		r.disk = store.Open(dir)
		return nil
	}
}

// WithLoop adds options of the loop that decides. The store of memories is the run's own.
func WithLoop(opts ...loop.Option) Option {
	return set(func(r *Runner) { r.loopOptions = append(r.loopOptions, opts...) })
}

// WithProject sets where the memories are kept that loops of a project share. Without it that is the process.
func WithProject(s loop.Store) Option {
	return set(func(r *Runner) { r.project = s })
}

// WithEnv sets the environment of the agent, each NAME=VALUE. Without it that is the environment of the process.
func WithEnv(env []string) Option {
	return set(func(r *Runner) { r.env = env })
}

// WithInterrupt sets what ends the run after the iteration in progress, once it is closed. A context that is done ends that iteration too.
func WithInterrupt(c <-chan struct{}) Option {
	return set(func(r *Runner) { r.interrupt = c })
}

// Control is what the world wants of a run.
type Control uint8

// The controls.
const (
	GoOn  Control = iota
	Pause         // wait before the next iteration; the time counts
	Leave         // end after the iteration in progress, as an interruption
)

// WithControl sets what is asked before each iteration, and every second while the run waits.
func WithControl(ask func() Control) Option {
	return set(func(r *Runner) { r.control = ask })
}

// Resume goes on with the run of this id, which [WithState] kept. Its command line, limits and prompt are those with which
// it was started; options for them have no effect, but for those of [WithLimits] that are not zero.
func Resume(id string) Option {
	return func(r *Runner) error {
		if id == "" {
			return errors.New("the run to resume has no id")
		}
		r.resume = id
		return nil
	}
}
