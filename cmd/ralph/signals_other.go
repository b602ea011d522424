//go:build !unix

package main

func reportWriteErrors() {}
