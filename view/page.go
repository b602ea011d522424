package view

import (
	"embed"
	"html"
	"strings"

	"github.com/ralph-sdk/ralph/graph"
)

// files are the page: its modules and styles, and index.html, which loads them.
//
//go:embed page
var files embed.FS

// assets returns what the page loads, by its path on the server.
func assets() map[string][]byte {
	all := map[string][]byte{"/page/graph.css": []byte(graph.Style())}
	entries, _ := files.ReadDir("page") // it is part of the program
	for _, e := range entries {
		if name := "page/" + e.Name(); e.Name() != "index.html" {
			all["/"+name], _ = files.ReadFile(name)
		}
	}
	return all
}

// index returns the page that loads its parts.
func index() string {
	page, _ := files.ReadFile("page/index.html") // it is part of the program
	return string(page)
}

// inline is what a file has where index.html loads something.
type inline struct {
	comment       string
	policy        string   // what the file may do
	lines         []string // what it has
	script, style string
	data          string // base64
}

// page returns index.html with all that it loads.
func (f inline) page() string {
	header := ""
	for _, line := range f.lines {
		header += "<p>" + html.EscapeString(line) + "</p>\n"
	}
	return strings.NewReplacer(
		"<!doctype html>\n", "<!doctype html>\n<!--\n"+f.comment+"\n-->\n",
		`<meta charset="utf-8">`, `<meta charset="utf-8">`+"\n"+`<meta http-equiv="Content-Security-Policy" content="`+html.EscapeString(f.policy)+`">`,
		`<link rel="stylesheet" href="/page/graph.css">`, "<style>"+f.style+"</style>",
		`<link rel="stylesheet" href="/page/style.css">`+"\n", "",
		"<body>\n", "<body>\n<section id=\"contents\" aria-label=\"What this file has\">\n"+header+"</section>\n",
		`<script type="module" src="/page/app.js"></script>`, `<script type="application/gzip" id="data">`+f.data+"</script>\n<script type=\"module\">"+f.script+"</script>",
	).Replace(index())
}
