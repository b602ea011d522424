// Package policytest reads and runs the tests of a policy, in the file NAME_test.yaml next to NAME.yaml.
//
// The package is strict. Unknown keys, values of the wrong form, tests without expectations and files without tests are
// errors, each with its line and column and the nearest name, because a test that passes by mistake is worse than no
// test.
//
// Tests are hermetic: each has a project in a temporary directory, its own loop memory, an environment with only the
// variables that it sets, and a fixed clock. No programs, models or git run; facts of those sources have the test's
// values, otherwise they are missing. Everything else is real: gathering, deciding and applying work as in a hook.
//
// It leaves out printing results and finding files.
//
// A file looks like this:
//
//	given: # what every test starts from
//	  facts:
//	    feature: auth
//	    state: {phase: execution, taskIndex: 2, totalTasks: 5}
//	tests:
//	  - name: continues while tasks remain
//	    expect: {rule: next-task, continue: Task 3/5}
//	  - name: stops when the agent says so
//	    given: {last_assistant_message: ALL_TASKS_COMPLETE}
//	    expect: {rule: all-done, stop: true, unread: [tasks]}
//
// Start with [Load], then [Suite.Run]; [Cover] returns what the tests covered:
//
//	suite, findings := policytest.Load(ctx, os.DirFS("."), "speckit_test.yaml", loop.Config())
//	…
//	for _, r := range suite.Run(ctx, nil) {
//		fmt.Println(r.Name, r.Passed())
//	}
//
// [Parse] only reads a file, and [Append] adds a test to one.
package policytest
