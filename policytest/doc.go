// Package policytest runs the tests of a policy: a file NAME_test.yaml beside NAME.yaml.
//
//	given:                # what each test starts from; a test's own given goes over it, map by map
//	  files:
//	    state.json: {json: {phase: execution, taskIndex: 2, totalTasks: 5}}
//	tests:
//	  - name: continues while tasks remain
//	    expect: {rule: next-task, reason: [Task 3/5]}
//	  - name: ends when every task is done
//	    given: {files: {state.json: {json: {taskIndex: 5}}}}
//	    expect: {outcome: done, effects: [archive: state], files: {state.json: {absent: true}}}
//	  - name: goes on with the next task, in the same project and session
//	    turns:
//	      - expect: {rule: next-task}
//	      - given: {files: {state.json: {json: {phase: execution, taskIndex: 5, totalTasks: 5}}}}
//	        expect: {outcome: done}
//
// What a given may have:
//
//	files       path: text, {text: …, age: 2h}, {json: …} or {absent: true}; ~/ is a home directory of the test, / at the end a directory
//	facts       name: value, instead of gathering; null if there is nothing
//	invalid     name: why; a fact of exec, git or judge that cannot be gathered
//	event       session_id, stop_hook_active, last_assistant_message, … as Claude Code names them; failed: why the turn failed
//	env         NAME: value; all other variables are unset
//	params      name: value
//	memory      continuations, repeats, elapsed, total, progress, applied (rule: times), seen (facts whose file was there)
//	transcript  a list of {role: user or assistant, text, tools: [Name, {name, command, edit, failed}], tokens}
//	tasks       the host's task list
//	now         the time; 2026-01-01T12:00:00Z by default
//
// What an expect may have: outcome (continued, done, stopped, limit, idle, failed, off), rule ("" is none), reason, notice, note and log
// (a text is the whole, a list is what occurs in it), effects (all of them, as a policy writes them), and files (path: the whole text, a
// list of what occurs in it, {json: …} or {absent: true}).
//
// Everything is decided by a real loop in a temporary directory, with a fixed clock and a store in memory. No program, model or git
// runs: a fact of exec or judge that a test does not give is invalid, one of git is missing, and effects that run programs only show in
// effects. A fact that a rule changes is given by its file.
//
// A first turn begins a prompt, unless it has a memory, which is that of the prompt; a later one begins one if the turn before let the
// agent stop. stop_hook_active says whether the turn before was continued, and may be given.
//
// The package is strict: what it does not know is an error with its place, because a test that passes by mistake is worse than none.
// It leaves out printing. Start with [Run], or with [Test] in go test.
package policytest
