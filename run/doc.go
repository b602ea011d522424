// Package run starts an agent again and again, each time with a fresh context, until a policy says that the work is
// done: the loop from outside, for agents with and without Stop hooks.
//
// It promises that a run ends: iterations and time have finite limits, which neither the policy nor the agent can remove.
// What an iteration started ends with it. A run that is killed at any moment can be resumed, and each start of
// the agent is counted once. It leaves out flags and terminals, and knows clients only by their [Adapter].
//
// A run makes its own loop of the policy, since what the loop remembers is kept with the run: a verdict and the count of
// its iteration are one step. [WithLoop] adds options to that loop, such as sources, verbs and trust.
//
// Start with [New] and [Runner.Run]. Package runtest tests an adapter of your own.
package run
