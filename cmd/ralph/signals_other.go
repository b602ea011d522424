//go:build !unix

package main

// Where a failing write brings no signal along, there is nothing to survive.

func surviveFullFiles() {}

func surviveClosedPipes() {}
