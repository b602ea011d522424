package main

// A doctorCheck is one thing that doctor looks at. Ids are never renamed: programs that read the report know them.
type doctorCheck struct {
	id  string
	doc string // what it finds, one sentence without a full stop
}

// doctorChecks lists all of them, in the order in which doctor looks.
func doctorChecks() []doctorCheck {
	return []doctorCheck{
		{"state-dir", "ralph's own directory, without which no loop continues: there is no place for it, others can write to it, it is inside the project, it cannot be written, or the log in it cannot be read"},
		{"switched-off", "loops are off or paused, by RALPH_OFF, by the file .ralph/off, by ralph pause, or by enabled: false in the settings of a plugin"},
		{"settings", "a settings file of a host that cannot be read, so that the host ignores its hooks"},
		{"hooks-disabled", "a setting of the host that keeps hooks from running"},
		{"timeout", "a host that waits for less time than ralph may take, or a hook that ends before the facts of its policy may be gathered"},
		{"exit-status", "an entry that can end with status 2 by a crash, which the host reads as continue, or that cannot end with 2 although it answers so"},
		{"host-trust", "a host that skips ralph's entry until you trust the folder or the entry"},
		{"no-hook", "no agent asks ralph in this project, or none asks the policy of a loop"},
		{"program", "a program that hooks do not find, or that is in the project, or another program called ralph"},
		{"competing-hook", "another hook or plugin that answers stops too, or the hook that an installed policy replaces"},
		{"policy", "a policy that cannot be found or used, or that has findings"},
		{"untrusted", "what does not count until you trust it: a policy of the project that is not approved as it is now, and loops and settings for hooks of all projects; or an entry for all projects that trusts every project"},
		{"input", "a fact that a program gives, in a policy that a hook asks"},
		{"shadow", "a file of the project that replaces a shipped policy"},
		{"reentry", "a policy that continues once for each prompt"},
		{"block-cap", "a limit of the host that ends loops before the policy does"},
		{"state", "a state file that cannot be read, whose fields break their schema, or whose front matter is not as it should be; a loop without an end of its own"},
		{"stale-loop", "a loop that was left over, and would catch the next session"},
	}
}
