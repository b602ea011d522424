// Package testfile reads the tests of a policy: the file NAME_test.yaml that
// stands beside NAME.yaml. It owns the form of that file and nothing more;
// running the tests is the business of package loop/policytest.
//
// It promises to be strict. A key that it does not know, a value of the wrong
// shape, a test that expects nothing and a file without tests are errors, each
// at its line and column and with the nearest name: a test that is green because
// its expectation was misspelt is worse than none.
//
// A file looks like this:
//
//	given:                          # what every test starts from
//	  facts:
//	    feature: auth
//	    state: {phase: execution, taskIndex: 2, totalTasks: 5}
//	tests:
//	  - name: goes on while tasks remain
//	    expect: {rule: next-task, continue: Task 3/5}
//	  - name: stops when the agent says so
//	    given: {last_assistant_message: ALL_TASKS_COMPLETE}
//	    expect: {rule: all-done, stop: true, unread: [tasks]}
//
// Start with [Parse]; [File.Check] compares the names in the tests with those of
// the policy, and [Append] adds a test to a file.
package testfile
