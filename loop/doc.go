// Package loop runs policies: it takes the event of a coding agent's hook, gathers
// the facts that the rules ask for, decides, applies what was decided, and answers.
//
// It promises that a loop ends (bounds hold whatever a policy says), that a
// verdict tells the truth about itself, and that nothing is lost: files change by
// compare-and-set under locks, one value at a time. When in doubt it lets the
// agent stop and says why.
//
// It leaves out the language (package rules), the files (package state) and the
// protocols (package loop/host); it knows neither flags nor terminals.
//
// The one call to start with is [Loop.Hook]; [Loop.Decide] and [Loop.Apply] are
// its two halves, and Decide alone changes nothing.
package loop
