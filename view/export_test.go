package view

// WithoutHome is for tests.
var WithoutHome = withoutHome
