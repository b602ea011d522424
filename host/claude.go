package host

// claudeCode writes the fields under the names that all events have. It takes a note to a prompt, and keys that it does
// not know do no harm.
func claudeCode() *Host {
	return &Host{
		Name: ClaudeCode,
		recognise: func(in object) bool {
			return in.has("prompt_id") || in.has("session_crons") || in.has("background_tasks") || in.within(".claude")
		},
		dialect: withContext(UserPromptSubmit),
	}
}
