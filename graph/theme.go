package graph

import (
	_ "embed"
	"strings"
)

// stylesheet is the style of a picture: the part that themes share, then the colours, named in colors. Every rule names
// the class of the graph, so that a page can contain it. css inserts the colours, because some viewers do not support
// variables.
//
//go:embed style.css
var stylesheet string

// colors has on each line a name, its colour in the light theme, and in the dark one. Text has a contrast of at least
// 4.5 to 1.
//
//go:embed colors.txt
var colors string

// The columns of colors.
const (
	light = 1
	dark  = 2
)

// laneColors is the number of colours for the lines of facts.
const laneColors = 8

// palette returns the colours of a theme by name.
func palette(theme int) map[string]string {
	all := map[string]string{}
	for row := range strings.Lines(colors) {
		columns := strings.Fields(row)
		all[columns[0]] = columns[theme]
	}
	return all
}

// Style returns the style sheet of pictures, for a page with several of them.
func Style() string {
	shared, colored, _ := strings.Cut(stylesheet, "/* colors */\n")
	in := func(theme int) string {
		var pairs []string
		for name, color := range palette(theme) {
			pairs = append(pairs, "var(--"+name+")", color)
		}
		return strings.NewReplacer(pairs...).Replace(colored)
	}
	return shared + in(light) + "@media (prefers-color-scheme:dark){\n" + in(dark) + "}\n"
}
