package rules

// Uses lists what a policy can touch. Each list is sorted by name, then by position, with an entry for every position.
type Uses struct {
	Sources   []Use `json:"sources,omitempty"`   // kinds of fact sources
	Functions []Use `json:"functions,omitempty"` // that read the world, and functions of the embedding program
	Effects   []Use `json:"effects,omitempty"`   // set, delete, archive, prune, run, those of the embedding program
	Names     []Use `json:"names,omitempty"`     // ralph's names: session_id, transcript.last, env.HOME, …
	Paths     []Use `json:"paths,omitempty"`     // of facts and effects, as written, with placeholders
}

// Use is one thing that a policy can touch, and its position.
type Use struct {
	Name string `json:"name"`
	Pos  Pos    `json:"pos"`
}
