//go:build !playground

package main

import "io/fs"

// playground returns nil: go install has no playground.
func playground() fs.FS { return nil }
