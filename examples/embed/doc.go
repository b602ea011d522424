// Package embed holds small programs that embed ralph, as examples that are tested. docs/embedding.md explains them.
//
//	rules_test.go    one decision over values, with a JSON state and its schema
//	source_test.go   a function, and a source that is slow or fails
//	service_test.go  an HTTP service: tenants, policies of strangers that are replaced meanwhile
//	agent_test.go    an agent loop over Go structs, its policy in an embed.FS
//	store_test.go    a store of your own
//	run_test.go      an agent of your own, started again and again, killed and resumed
//
// A program's own Stop hook is the example of host.Answer; the stores and recorders of contrib have theirs.
package embed
