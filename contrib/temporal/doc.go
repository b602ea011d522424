// Package temporal makes a run of an agent a durable workflow of Temporal.
//
// The workflow drives the same pure step as ralph run, [run.State.Step], and decides nothing itself. Each decision and each iteration is an
// activity on a worker. It promises that the limits of the run count each iteration that was begun; that a worker that dies, freezes or
// loses its network costs the iteration under way and no other; and that an agent ends when its worker dies, or is not heard of any longer.
// A person stops a run and lets it go on by signals.
//
// It leaves out how files come to a machine: [Worker.Open] prepares the directory of a run, for example a clone. Where several machines
// take iterations of one run, its counts are in a store that all of them reach, such as that of contrib/postgres. While a worker is frozen,
// its agent is not, and may work beside the next one.
//
// Begin with [Worker] and [Start].
package temporal
