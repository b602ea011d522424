// Package rules implements the policy language: it loads and checks policies, and decides whether an agent that is
// about to stop must continue.
//
// A policy is a YAML file. It declares facts and rules. Rules are tried in order; a rule holds if its condition is
// true, and the first one with continue, stop or ask decides:
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
//	    continue: Continue with task ${done + 1} of ${total}
//
// [Load] compiles it into a [Program], and [Program.Eval] returns a [Verdict]. If state.json contains {"done": 3,
// "total": 5}, the first rule does not hold, the second one does, and the verdict is to continue, with the reason
// "Continue with task 4 of 5". Eval gets facts from the [Facts] that you pass.
//
// The package promises that
//
//   - Load reports all errors of a policy with file, line and column, and suggests what to write instead: unknown names
//     and fields, values that an enum never has, mismatched types, cycles.
//   - Eval never fails and never panics. An expression that cannot be evaluated is unknown or an error; errors are
//     reported, and on any doubt the agent may stop. The zero Verdict is to stop.
//   - Eval is a pure function of facts, event, time and [Memory]; the verdict has the next Memory. Limits, streaks and
//     unless_repeated work if you pass that to the next Eval.
//   - A fact is gathered at most once, and only when an operand that names it is reached.
//   - A policy within the [LoadLimits] loads in bounded time, and each evaluation ends within its [Budget] or when its
//     context is done.
//   - A Program is immutable, and safe for concurrent use.
//
// The package reads the policy's files through an [io/fs.FS] and touches nothing else: it starts no process, knows no
// host, and stores no memory. Package loop does that; it gathers the facts and applies the effects that a verdict only
// describes.
//
// Start with [Load], and print its findings with [Diagnostics.Format].
package rules
