// Package temporal is the part of durable runs that concerns machines: where the work of a run is, how it moves, and when an
// attempt is lost. It may change in any version. It has no exported names yet: the workflow that uses it comes with the step of a run.
package temporal
