// Package temporal makes a run of an agent a durable workflow of Temporal. It may change in any version. [Run] is the
// workflow: it drives the step of a run, and decides nothing itself. The rest concerns machines: where the work of a run is,
// how it moves, and when an attempt is lost.
//
// A worker that carries the commands out is still missing: nothing registers the workflow and its activities yet.
package temporal
