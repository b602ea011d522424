// Package rules is the policy language: it reads a policy, checks it, and decides by
// it whether an agent that is about to stop may stop.
//
// A policy is a YAML file. It names facts, and tries rules over them in order; a rule
// holds when its expression is true, and the first that says continue or stop
// decides:
//
//	ralph: 1
//	facts:
//	  state:
//	    json: state.json
//	    inline: true
//	    schema: {properties: {done: {type: integer, default: 0}, total: {type: integer, default: 0}}}
//	limits: {repeats: 10}
//	rules:
//	  - name: no-state
//	    when: missing(state)
//	    stop: there is nothing to do
//	  - name: next-task
//	    when: done < total
//	    continue: Go on with task ${done + 1} of ${total}
//
// [Load] makes a [Program] of it, and [Program.Eval] a [Verdict]. Over a state.json
// that holds {"done": 3, "total": 5}, the first rule is tried and does not hold, the
// second one holds, and the verdict is to continue, with the reason "Go on with task
// 4 of 5". What Eval knows of the world it asks of a [Facts].
//
// The package promises that
//
//   - Load reports everything that is wrong with a policy, at its file, line and
//     column, and says what to write instead: names and fields that do not exist,
//     values that an enum never has, types that do not go together, circles.
//   - Eval never fails and never panics. What cannot be evaluated is unknown; an
//     error fails safe and is reported, and a bug lets the agent stop. The zero
//     Verdict is to stop.
//   - Eval is one pure step: facts, event, time and [Memory] go in, a verdict and the
//     next Memory come out. If the memory comes back with the next event, limits,
//     streaks and unless_repeated hold.
//   - A fact is gathered at most once, and only when an operand that names it is
//     reached.
//   - A policy within the [LoadLimits] loads in bounded time, and each evaluation ends
//     within its [Budget] or when its context is done.
//   - A Program is immutable, and safe for use by many goroutines at once.
//
// It leaves out everything that touches the world: it opens no file but the policy's
// own through an [io/fs.FS], starts nothing, knows no host, and keeps no memory. Package
// loop stands between the rules and the world; it applies the effects that a verdict
// only describes.
//
// Start with Load, and with [Diagnostics.Format] for what it has to say.
package rules
