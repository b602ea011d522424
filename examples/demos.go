package examples

import "embed"

// Demos holds the demo projects of the shipped policies, as NAME/demo: what
// simulations work on when they are told no other project.
//
//go:embed all:ralph-wiggum/demo all:speckit/demo all:specum/demo all:stravinsky/demo all:system3/demo
var Demos embed.FS
