// Package hosttest runs real coding agents against a scripted model, and ralph as their hook: what `ralph install`
// writes must fire in the program that reads it.
//
//	go test -tags hosts -parallel 4 ./internal/hosttest
//
// The clients come from npm, in the versions of clients.json, and are kept in a directory of the user's cache, or in
// RALPH_HOSTTEST_CLIENTS. No script of a package runs. The tests run in their own namespaces, whose only network is
// loopback and whose processes end with the tests. Each test has its own HOME, project, model server and invented keys,
// and reads nothing of the user's. The package needs Linux with unshare, ip, node 20 and npm; without them it reports
// what is missing and passes.
//
// A test makes a [scene] for a client, defines the model's answers with a [script], and runs the client once:
//
//	s := newScene(t, codex)
//	s.ralph("init")
//	s.ralph("install", codex.host)
//	s.trust()
//	out := s.run("Do the work.", func(r request) reply { return reply{text: "Done."} })
//	// s.asked has the requests to the model
package hosttest
