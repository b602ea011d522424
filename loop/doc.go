// Package loop runs policies: it takes the event of a coding agent's hook, gathers facts as the rules read them,
// decides, applies the verdict, and answers.
//
// Every streak of continuations ends, provided that the store keeps what it saves. A verdict shows how it was made.
// Memory and files change by compare-and-set: after a conflict the loop decides again. On any error the agent may stop,
// and the loop reports why.
//
// Programs plug in their own [Store], [Source], [Writer] and [Recorder]; package loop/looptest tests implementations.
// Without options a loop writes nothing to disk; [Local] is for hooks.
//
// The package leaves out the language (package rules), files (package state) and hook protocols (package host), as well
// as flags and terminals.
//
// Start with [Load] and [Loop.Run], or with [Loop.Hook] for a host's hook. [Loop.Preview] decides without changing
// anything.
package loop
