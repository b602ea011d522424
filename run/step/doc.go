// Package step decides what a run does next. A run is a [State]; [State.Step] takes what happened, and returns the state
// after it, the events to report, and the one command to carry out. It is pure: it reaches no file, clock or process,
// never blocks, and has no error: time comes with the input, and a failure is an input. The package may change in any
// version.
//
// A driver carries the commands out, keeps the state, and passes the answers back:
//
//	for cmd := s.Due; cmd.Kind != step.Finish; {
//		in := do(s) // the answer to cmd, or what a person wants meanwhile
//		var events []step.Event
//		s, events, cmd = s.Step(in)
//		keep(s, events)
//	}
//
// Package run is the driver of this machine. A durable workflow can be another one, with the same states.
package step
