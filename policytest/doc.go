// Package policytest reads and runs the tests of a policy: the file NAME_test.yaml beside NAME.yaml.
//
// It promises to be strict. A key that it does not know, a value of the wrong shape, a test that expects nothing and a
// file without tests are errors, each at its line and column and with the nearest name: a test that is green because its
// expectation was misspelt is worse than none.
//
// It promises that a test sees only what it was given: a project in a temporary directory, its own loop memory, an
// environment with the variables that it names, a clock that stands still. Programs do not run, models and git are not
// asked; facts of those sources are what the test says, else missing. Everything else is the real thing: the same
// gathering, deciding and applying as in a hook.
//
// It leaves out how results are shown, and which files are looked for.
//
// A file looks like this:
//
//	given:                          # what every test starts from
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
// Start with [Load], then [Suite.Run]; [Cover] says what the tests reached:
//
//	suite, findings := policytest.Load(ctx, os.DirFS("."), "speckit_test.yaml", loop.Config())
//	…
//	for _, r := range suite.Run(ctx, nil) {
//		fmt.Println(r.Name, r.Passed())
//	}
//
// [Parse] reads a file alone, and [Append] adds a test to one.
package policytest
