//go:build !unix

package main

// shellOf returns the shell that runs a typed command, and the flag before it.
func shellOf() (shell, flag string) { return "cmd", "/c" }
