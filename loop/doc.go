// Package loop decides by a policy, and counts: it gathers the facts of an event, asks [rules] for the verdict, makes the changes of
// files that the verdict asks for, and keeps the counts of the session in a [Store].
//
// It promises that a session that its sender names is continued at most limits.total times while its document exists, that a continuation
// is answered only after its count is saved, and that whatever cannot be decided, counted or kept lets the agent stop and says why. The
// decisions of one session come one after the other, in all processes that share its store.
//
// It leaves out how a host writes its events and reads its answers (package host), and where a project and its policies are. A source,
// function, effect or store of a program that does not heed its context blocks the decision, as anywhere in Go.
//
// Begin with [Load], then [Loop.Decide].
package loop
