package host

// droid has Claude Code's protocol as it was at first, without turn ids and last messages; only the folder of its session
// files distinguishes it.
func droid() *Host {
	return &Host{
		Name:      Droid,
		recognise: func(in object) bool { return in.within(".factory") },
		dialect:   withContext(UserPromptSubmit),
	}
}
