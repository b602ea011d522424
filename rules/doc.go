// Package rules reads policies and decides by them whether an agent that is about to stop continues.
//
// A policy is a YAML file. It declares facts and rules. Rules are tried in their order, and the first one with continue, stop or done whose
// condition holds decides:
//
//	ralph: 1
//	facts:
//	  state:
//	    json: state.json
//	    inline: true
//	    schema: {properties: {done: {type: integer, default: 0}, total: {type: integer, default: 0}}}
//	rules:
//	  - name: no-state
//	    when: missing(state)
//	    stop: there is nothing to do
//	  - name: next-task
//	    when: done < total
//	    continue: Continue with task ${done + 1} of ${total}.
//
// [Parse] makes a [Policy] of it, and [Policy.Eval] returns a [Verdict]. The package is pure: what facts say, time and memory come in with
// an [Input], and a verdict with the effects and the memory that it asks for goes out. Facts come from the program as values, or from a
// [World], which is asked when a condition first needs them.
//
// It promises that
//
//   - Parse reports what is wrong with a policy at its place, with what to write: see [Finding]. A file that would harm a parser is a
//     finding too.
//   - Eval does not panic and lets the agent stop in every case of doubt. What is missing makes a condition unknown, and so not true; what
//     is invalid or fails ends the trying at a stop or done rule, with the reason in the verdict.
//   - Each fact, name and question is asked for at most once in an evaluation.
//   - Every loop ends: a continuation is counted in the [Memory] of the verdict, and the limits of the policy are tested before it.
//
// It leaves out the gathering of facts, the making of effects, and keeping the memory: package loop does that. Expressions are bounded in
// size, and in the elements of the lists that they make; not in time, and not in the length of texts.
package rules
