// Package temporal makes a run of an agent a durable workflow of Temporal. It may change in any version. [Run] is the
// workflow: it drives the step of a run, and decides nothing itself. A [Worker] carries the commands out, in a clone of the
// project. [Start] starts a run, [Send] passes on what a person wants of it, and [Get] returns its status.
//
// A run has a place: the worker that has its branch. Each attempt of an iteration works in a tree of its own, and what it made
// is on the run's branch once the step accepted it. An attempt that gives no sign of life is lost, and counts.
package temporal
