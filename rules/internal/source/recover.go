package source

// recover finds out why the library could not read the text.
func (f *file) recover(err error, problems []Problem) (*Node, []Problem) {
	return nil, append(problems, f.problem(0, 0, CheckSyntax, err.Error(), ""))
}

// unfold is the value that a plain scalar with this text has.
func unfold(text string) string { return text }
