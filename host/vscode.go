package host

// VSCode is the name of VS Code.
const VSCode = "vscode"

// vscode reads the decision below hookSpecificOutput; the portable form is beside it, for hosts that use its input but
// not its answer.
var vscode = Host{
	Name: VSCode, Title: "VS Code",
	Session: []string{"COPILOT_AGENT"},
	marks:   func(in object) bool { return in.has("hookEventName") },
	dialect: func(h *Host, r Reply, b *body) Reply {
		if r.Continue {
			event := r.Event
			if event == "" {
				event = Stop
			}
			b.Specific = &specific{Event: event, Decision: "block", Reason: r.Reason}
		}
		return withContext(h, r, b)
	},
}
