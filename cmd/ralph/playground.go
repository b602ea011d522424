//go:build playground

package main

import (
	"embed"
	"io/fs"
)

// In the directory web: go run ./playground/build ../cmd/ralph/playground
//
//go:embed playground
var playgroundFiles embed.FS

// playground returns the playground that ralph view serves. Releases have it.
func playground() fs.FS {
	files, _ := fs.Sub(playgroundFiles, "playground") // the name is valid
	return files
}
