//go:build !unix

package main

func surviveFullFiles() {}

func surviveClosedPipes() {}

func reportWriteErrors() {}
