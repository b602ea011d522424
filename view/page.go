package view

import (
	"bytes"
	"embed"
	"html/template"

	"github.com/ralph-sdk/ralph/graph"
)

// files are the page: modules, styles and the template that loads them.
//
//go:embed page
var files embed.FS

// assets returns what the page loads, by its path on the server.
func assets() map[string][]byte {
	all := map[string][]byte{"/page/graph.css": []byte(graph.Style("auto"))}
	entries, _ := files.ReadDir("page") // it is part of the program
	for _, e := range entries {
		if name := "page/" + e.Name(); e.Name() != "index.html" {
			all["/"+name], _ = files.ReadFile(name)
		}
	}
	return all
}

// index returns the page, or with what a file has the whole file.
func index(inline any) string {
	var out bytes.Buffer
	t, err := template.ParseFS(files, "page/index.html")
	if err == nil {
		err = t.Execute(&out, inline)
	}
	if err != nil {
		panic(err) // a test makes the page
	}
	return out.String()
}
