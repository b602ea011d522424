// Package run starts an agent again and again, each time with a fresh context, until a policy says that the work is
// done: the loop from outside, for agents with and without Stop hooks.
//
// It promises that a run ends: iterations and time have finite limits, which neither the policy nor the agent can remove.
// What an iteration started ends with it. A run that is killed at any moment can be resumed, and no iteration is counted
// twice. It leaves out flags and terminals, and knows clients only by their [Adapter].
//
// Start with [New] and [Runner.Run]:
//
//	r, err := run.New(program, run.Generic(), run.WithArgs("my-agent"))
//	…
//	for ev := range r.Run(ctx) {
//		fmt.Println(ev.Kind, ev.Iteration, ev.Outcome)
//	}
package run
