// Package hosttest runs real coding agents against a scripted model, and ralph as their
// hook: what `ralph install` writes must fire in the program that reads it.
//
//	go test -tags hosts -parallel 4 ./internal/hosttest
//
// The clients come from npm, in the versions of clients.json, into a folder
// of the user's cache that later runs use again; RALPH_HOSTTEST_CLIENTS names another
// folder. No script of a package runs. The tests then run in namespaces of their own, whose
// only network is loopback and whose processes end with the tests. Each test has a HOME,
// a project and a model server of its own, and its keys are made up. Nothing of the
// user's is read. Linux with unshare, ip, node 20 and npm is needed; the package says
// what is missing and passes.
//
// A test makes a [scene] for a client, says with a [script] what the model answers, and runs
// the client once:
//
//	s := newScene(t, codex)
//	s.ralph("init")
//	s.ralph("install", codex.host)
//	s.trust()
//	out := s.run("Do the work.", func(r request) reply { return reply{text: "Done."} })
//	// s.asked holds what the model was asked
package hosttest
