package main

// A doctorCheck is a check of doctor. IDs are never renamed: programs that read the report depend on them.
type doctorCheck struct {
	id    string
	doc   string // what it finds, one sentence without a full stop
	cause string // why it matters
	fix   string // what to do
}

// doctorChecks returns all of them, in the order in which doctor runs them.
func doctorChecks() []doctorCheck {
	return []doctorCheck{
		{"state-dir", "ralph's own directory that others can write to, that is inside the project, or that cannot be read or written; a RALPH_LOG_KEEP that is not a size",
			"Counts, approvals and the log are in ralph's own directory. Without a directory that only you can write to, someone could reset counts or forge approvals, so no loop continues.",
			"Correct the permissions, or set `RALPH_STATE_DIR` in the environment of the agent to a directory outside the project that only you can write to."},
		{"switched-off", "loops that are off or paused: by RALPH_OFF, .ralph/off, ralph pause, or enabled: false in the settings of a plugin",
			"While a loop is switched off, every agent may stop. `enabled: false` switches off both a plugin's hook and the ralph policy that replaces it.",
			"Unset `RALPH_OFF`, run `ralph resume`, or give the policy the param `settings: ignore`."},
		{"settings", "a settings file of a host that cannot be read",
			"A host ignores a settings file that it cannot parse, with all the hooks in it.",
			"Correct the file at the position in the finding."},
		{"hooks-disabled", "a setting that keeps hooks from running",
			"A setting of the host, such as `disableAllHooks`, switches off all hooks, including ralph's.",
			"Remove the setting. If an administrator manages the file, ask them."},
		{"timeout", "a hook that has less time than ralph or the facts of its policy may need",
			"A host stops a hook after the `timeout` of its entry, and ralph ends a decision after `--deadline`. A decision that needs longer is cut off, and the agent may stop.",
			"Run `ralph doctor --fix`, which sets a longer timeout in the entry."},
		{"exit-status", "an entry that a crash can end with status 2, or that answers by exit status and cannot end with 2",
			"Hosts read exit status 2 as \"continue\", and a Go program that crashes early ends with 2. `ralph install` writes a guard against that into the entry.",
			"Run the `ralph install` command in the finding, or `ralph doctor --fix`."},
		{"host-trust", "a host that skips ralph's entry until you trust the directory or the entry",
			"Codex, Gemini CLI, Qwen Code and Copilot CLI run the hooks of a directory only after you trusted it there.",
			"Start the host in the directory and accept, or follow the step in the finding."},
		{"no-hook", "a project without a hook that runs ralph, or a loop whose policy no hook uses",
			"No settings file of a host has an entry for ralph or for the policy, so no stop of an agent is decided.",
			"Run the command in the finding, or `ralph help install` for another host."},
		{"program", "a program that hooks do not find, that is in the project, or that is another program called ralph",
			"If the program is missing, the host ignores the hook. A program in the project can be replaced by the agent.",
			"Install ralph outside the project and on the PATH of the agent, then run `ralph install` again."},
		{"competing-hook", "another hook or plugin that answers stops too, a goal of the host, or the hook that an installed policy replaces",
			"An agent continues if any of its hooks continues it, so a loop can go past the limits of the policy.",
			"Remove the other hook or disable its plugin. For speckit and specum switch off only the plugin's hook, because the policy uses its commands and agents."},
		{"policy", "a policy that cannot be found or used, or that has findings",
			"While a policy cannot be used, the agent may stop. A policy with warnings is used; `doctor` shows them as a note.",
			"Run `ralph check NAME`, which shows each finding with its place."},
		{"untrusted", "a policy, loop or setting that does not count until you trust it, or an entry for all projects that trusts every project",
			"Programs and models need approval, and a change needs it again. Hooks for all projects use what a project brings only after you trusted the project.",
			"Read what the finding names, then run `ralph trust` or `ralph trust NAME`."},
		{"input", "a fact that a program gives, in a policy that a hook uses",
			"Only a program that embeds ralph can provide an `input` fact, so it is always missing in a hook.",
			"Use another source, or evaluate the policy with the Go packages."},
		{"shadow", "a file of the project that replaces a shipped policy",
			"A policy in `.ralph` has precedence over the shipped policy of the same name, also in a repository that you cloned.",
			"Keep the file if you want it; remove it to use the shipped policy."},
		{"reentry", "a policy that continues once per prompt",
			"With the param `reentry: once`, the default of speckit and specum, one prompt runs one task.",
			"To run through all tasks, set `reentry` to `progress`."},
		{"block-cap", "a limit of the host that ends loops before the policy does",
			"Claude Code lets an agent stop after a number of continuations without a tool call, other hosts after a number of continuations of a prompt, whatever the policy decides.",
			"If loops end too early, set `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` to 0 in the settings of Claude Code. In Kimi Code, which continues once, use `ralph run`. The limits of the policy still apply."},
		{"state", "a state file that cannot be read, whose fields break their schema, or whose front matter is invalid",
			"A field with a wrong type is unknown to the rules that read it, and for a number out of range there may be no rule, so the agent may stop.",
			"Correct the file at the position in the finding."},
		{"stale-loop", "a running loop without a decision for 24 hours",
			"The session that started the loop is probably gone, and the next session in the project would continue the loop.",
			"Run `ralph stop NAME`, or `ralph start NAME --session ID` to move it to another session. `ralph doctor --fix` stops it."},
	}
}
