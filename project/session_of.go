package project

import (
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/run"
)

// InSession returns the variables of an environment that show that an agent started this process: those of hosts, and
// that of [run.Env]. An agent can remove them, and not every host has one, so they are a hint.
func InSession(getenv func(string) string) (set []string) {
	for _, name := range append(host.SessionVariables(), run.Env) {
		if getenv(name) != "" {
			set = append(set, name)
		}
	}
	return set
}
