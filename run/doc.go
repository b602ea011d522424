// Package run starts an agent again and again, each time with a fresh context, until a policy says that the work is done.
//
// It promises that each process of the agent is counted, on disk, before it starts; that a run whose process is killed at any moment can
// be resumed with exact counts; and that no agent is left behind that its process group, the subreaper or the job object could have ended.
//
// What happens next is decided by [State.Step], which is pure: a state and what happened give the next state and a command. [Runner] is
// the driver on one machine, with the agent as a program; another one, such as a workflow engine, can drive the same step.
//
// It leaves out who the agent's user is and what the agent may do: those are the agent's own flags. It neither merges branches nor asks
// questions.
//
// Begin with [New], then [Runner.Run].
package run
