package view

// For tests.
var (
	WithoutHome = withoutHome
	Coloured    = coloured
)
