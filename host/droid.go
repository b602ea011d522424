package host

import "github.com/ralph-sdk/ralph/internal/hookfile"

// Droid is the name of Factory Droid.
const Droid = "droid"

// droid uses Claude Code's first protocol, without turn IDs and last messages; only the directory of its session files
// distinguishes it.
var droid = Host{
	Name: Droid, Title: "Factory Droid",
	events:  []eventName{{StopFailure, ""}},
	dialect: withContext,
	Settings: hookfile.Settings{
		Program: "droid",
		Dir:     hookfile.Path{Name: ".factory"},
		Project: ".factory/settings.json", Local: ".factory/settings.local.json", User: "settings.json",
	},
}
