package main

import "github.com/spf13/cobra"

// The groups under which help lists the commands.
const (
	groupLoops    = "loops"
	groupPolicies = "policies"
	groupSetup    = "setup"
)

// group sorts the commands by what they are for. One that is in no group is listed
// at the end.
func group(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: groupLoops, Title: "Loops:"},
		&cobra.Group{ID: groupPolicies, Title: "Policies:"},
		&cobra.Group{ID: groupSetup, Title: "Setting up:"},
	)
	groups := map[string]string{
		"eval": groupLoops, "start": groupLoops, "stop": groupLoops, "pause": groupLoops, "resume": groupLoops,
		"status": groupLoops, "log": groupLoops, "explain": groupLoops,
		"check": groupPolicies, "test": groupPolicies, "simulate": groupPolicies, "diff": groupPolicies,
		"replay": groupPolicies, "fmt": groupPolicies, "schema": groupPolicies,
		"init": groupSetup, "install": groupSetup, "uninstall": groupSetup, "doctor": groupSetup, "trust": groupSetup,
	}
	for _, c := range root.Commands() {
		c.GroupID = groups[c.Name()]
	}
}
