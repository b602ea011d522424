package rules

import "io/fs"

// Config tells Load about the world that the policy will run in. The zero Config
// loads a policy that includes nothing shipped, with the values of its defaults.
type Config struct {
	// Shipped holds the files that policies name with ralph:, such as
	// guards/limit.yaml; nil means that there are none.
	Shipped fs.FS
	// Sources are further fact sources, beside those of [Sources]. Whoever
	// gathers the facts must know them.
	Sources []SourceKind
	// Set gives values of params, as text: what --set and the configuration say.
	// An unknown name is an error.
	Set map[string]string
	// LazyTexts leaves continue, stop, note, notice and log texts uncompiled
	// until their rule holds, and leaves out the checks that only look for
	// doubtful things. A hook wants it for its speed; problems of such a text
	// then show as (?) in it and in the trace, not as diagnostics.
	LazyTexts bool
}
