// Package policytest runs the tests that stand beside policies, the files
// NAME_test.yaml that package rules/testfile reads.
//
// It promises that a test sees nothing but what it was given: a project in a
// temporary folder, its own loop memory, an environment with the variables that
// it names, a clock that stands still. Programs are not run, models and git are
// not asked; facts of those sources are what the test says, else missing. All the
// rest is the real thing: the same gathering, deciding and applying as in a hook.
// It also promises that green means something: see package testfile for what it
// refuses.
//
// It leaves out how results are shown, and which files are looked for.
//
// Start with [Load], then [Suite.Run]; [Cover] says what the tests reached:
//
//	suite, findings := policytest.Load(os.DirFS("."), "speckit_test.yaml", loop.Config())
//	…
//	for _, r := range suite.Run(ctx, nil) {
//		fmt.Println(r.Name, r.Passed())
//	}
package policytest
