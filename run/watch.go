package run

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/option"
	"github.com/ralph-sdk/ralph/internal/process"
)

// Watch is a small process between a run and its agent. It ends the agent, with everything that the agent started, once the
// process of the run has ended or is frozen. Use [Watched] to make one. The zero value is none: on Linux the program of an
// agent still dies with the run, and what it started is ended when the run is resumed.
type Watch struct {
	within time.Duration
	alive  <-chan struct{}
}

// silence is how long the process of a run may give no sign of life before its watch ends the agent.
const silence = 2 * time.Minute

// Watched returns the watch of this program. A watch is another process of the program's own file, in which Watched does
// not return: call it first in main. A frozen process has two minutes; on Windows only its end ends the agent.
func Watched() Watch {
	process.Watch()
	return Watch{within: silence}
}

// Within returns the watch with another time of silence. The process gives signs of life itself, as long as it runs,
// unless alive has them: then each value is one.
func (w Watch) Within(silence time.Duration, alive <-chan struct{}) Watch {
	if w.within == 0 {
		return w
	}
	return Watch{within: silence, alive: alive}
}

// WithWatch has a watch end the agent. An agent that is a function needs none.
func WithWatch(w Watch) Option {
	return func(r *Runner) error {
		return option.Fill("run.WithWatch", &r.watch, w, "leave it out for a run without a watch")
	}
}
