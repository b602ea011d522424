package view

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

// The page, its style and its script.
var (
	//go:embed page/page.html
	html string
	//go:embed page/page.css
	style string
	//go:embed page/page.js
	script string
)

// File returns the page with its data inside. It loads and sends nothing.
func File(d Data) []byte { return page("'none'", d.json()) }

// page returns the page with data, which is JSON without < and >, so that it ends no script.
func page(connect string, data []byte) []byte {
	return []byte(strings.NewReplacer("{policy}", contentPolicy(connect), "{style}", style, "{script}", script, "{data}", string(data)).Replace(html))
}

// contentPolicy allows the page its own script and style, and to ask an origin for data. No text can become HTML: there is no policy of
// trusted types, and the page makes none.
func contentPolicy(connect string) string {
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) + "; connect-src " + connect +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
