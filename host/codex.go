package host

// codex refuses an answer with a key that it does not know: the turn then ends, whatever the rest says. The keys of the
// portable form are known at every event, those of a note at a prompt only.
func codex() *Host {
	return &Host{
		Name: Codex,
		recognise: func(in object) bool {
			return in.has("turn_id") || in.within(".codex")
		},
		dialect: withContext(UserPromptSubmit),
	}
}
