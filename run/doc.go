// Package run starts an agent again and again, each time with a fresh context, until a policy decides that the work is
// done. It needs no Stop hook.
//
// A run always ends: its limits on iterations and time are finite, and neither the policy nor the agent can remove
// them. Processes that an iteration started end with it. A run that is killed at any moment can be resumed, and each
// start of the agent counts once. The package leaves out flags and terminals, and knows clients only by their
// [Adapter].
//
// A run builds its own loop from the policy, because it keeps the loop's memory with the run: a verdict and the count
// of its iteration are saved in one step. [WithLoop] adds options to that loop, such as sources, effects and trust.
//
// Start with [New] and [Runner.Run]. Package runtest tests your own adapters.
package run
