package graph

import (
	_ "embed"
	"strings"
)

// stylesheet is that of a picture: what the themes share, and then the colours, whose names colors has. Every rule names the class
// of the graph, so that a page can hold it as it is. A viewer may know no variables, so css writes the colours in their places.
//
//go:embed style.css
var stylesheet string

// colors has on each line a name, its colour in the light theme, and that in the dark one. A text has a contrast of 4.5 to 1 or
// more to what is below it.
//
//go:embed colors.txt
var colors string

// The columns of colors.
const (
	light = 1
	dark  = 2
)

// laneColors is how many colours the lines of facts have.
const laneColors = 8

// palette returns the colours of a theme, by their names.
func palette(theme int) map[string]string {
	all := map[string]string{}
	for row := range strings.Lines(colors) {
		columns := strings.Fields(row)
		all[columns[0]] = columns[theme]
	}
	return all
}

// Style returns the style sheet that pictures of a theme have, for a page that shows several of them: light, dark, or auto for that
// of the reader.
func Style(theme string) string {
	shared, colored, _ := strings.Cut(stylesheet, "/* colors */\n")
	in := func(theme int) string {
		var pairs []string
		for name, color := range palette(theme) {
			pairs = append(pairs, "var(--"+name+")", color)
		}
		return strings.NewReplacer(pairs...).Replace(colored)
	}
	switch theme {
	case "light":
		return shared + in(light)
	case "dark":
		return shared + in(dark)
	}
	return shared + in(light) + "@media (prefers-color-scheme:dark){\n" + in(dark) + "}\n"
}
