// Package loop runs policies: it takes the event of a coding agent's hook, gathers
// the facts that the rules ask for, decides, applies what was decided, and answers.
//
// It promises that a streak of continuations ends (limits hold as long as the store
// keeps what it is given), that a verdict says truly how it was made, and that
// nothing is lost: memory and files change by compare-and-set, and a decision that
// something overtook is made again. When in doubt it lets the agent stop and says why.
//
// Where memory, facts, effects and records go is up to a program: [Store], [Source],
// [Writer] and [Recorder] are the seams, and package loop/looptest tests
// implementations. Without options nothing is on a disk; [Local] is for hooks.
//
// It leaves out the language (package rules), the files (package state) and the
// protocols (package host); it knows neither flags nor terminals.
//
// Start with [Load] and [Loop.Run], or with [Loop.Hook] for a host's hook. [Loop.Preview]
// only looks.
package loop
