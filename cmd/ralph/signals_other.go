//go:build !unix

package main

import "os"

// deadly lists the signals that a failing write brings along; there are none here.
func deadly() []os.Signal { return nil }
