package rules

// File gives the path of the file that a fact reads, as the policy writes it, if
// it reads one file and the path has no holes. Commands that start and end loops
// need it without an event; ok is false where only an event tells the path.
func (f *Fact) File() (path string, ok bool) {
	if !f.Source.File || len(f.args) != 1 {
		return "", false
	}
	path, ok = f.args[0].fixed()
	return path, ok && path != ""
}

// Inline gives the fact of the policy itself whose fields are names too, or nil.
// It is the state that the loop is about.
func (p *Program) Inline() *Fact { return p.inline }
