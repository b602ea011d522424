package graph

import (
	"fmt"
	"strings"
)

// SVG returns the graph as an image in the colours of the reader's theme, light or dark. The colours are classes in one
// style element; there is no script and no link.
func (g *Graph) SVG() []byte {
	pic := g.layout()
	d := &drawing{}
	d.addf(`<svg xmlns="http://www.w3.org/2000/svg" class="ralph-graph" role="img" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n", pic.width, pic.height)
	d.addf("<title>%s</title>\n<style>\n%s</style>\n", inXML(strings.TrimSuffix("The policy "+line(g.Policy)+": "+g.Description, ": ")), Style())
	d.addf(`<rect class="bg" width="%d" height="%d"/>`+"\n", pic.width, pic.height)
	color := map[string]int{}
	for i, l := range pic.lanes {
		color[l.fact] = i + 1
	}
	for _, b := range pic.boxes {
		switch n := color[b.node.ID]; {
		case b.node.Kind == "include":
			d.group("include", b, fmt.Sprintf(`<rect x="%d" y="%d" width="%d" height="%d" rx="8"/>`, b.x, b.y, b.w, b.h))
		case b.node.Kind == "fact" && n > 0: // with its line and readers, so that hovering highlights all of it
			d.group(fmt.Sprint("fact l", (n-1)%laneColors), b, shape(b), pic.lanes[n-1].svg())
		case b.node.Kind == "fact":
			d.group("fact unread", b, shape(b))
		}
	}
	for _, way := range []bool{false, true} { // the marked way is above the others
		for _, w := range pic.wires {
			if w.edge.Way == way {
				d.arrow(w)
			}
		}
	}
	for _, b := range pic.boxes {
		if kind := b.node.Kind; kind != "include" && kind != "fact" {
			d.group(b.class(), b, shape(b))
		}
	}
	d.labels(pic.labels)
	d.addf("</svg>\n")
	return []byte(d.String())
}

// drawing is an SVG under construction.
type drawing struct{ strings.Builder }

func (d *drawing) addf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

// inXML returns a text as the content of an element or attribute.
func inXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}

// group draws a box: its shape, its labels, and more.
func (d *drawing) group(class string, b *box, shape string, more ...string) {
	d.addf(`<g class="%s"><title>%s</title>%s`, class, inXML(b.title), shape)
	d.labels(b.labels)
	d.addf("%s</g>\n", strings.Join(more, ""))
}

func (d *drawing) labels(labels []label) {
	for _, l := range labels {
		fits := ""
		if w := l.font.fits(l.text); w > 0 {
			fits = fmt.Sprintf(` textLength="%.0f" lengthAdjust="spacingAndGlyphs"`, w)
		}
		d.addf(`<text class="%s" x="%d" y="%d"%s>%s</text>`, l.font.class, l.x, l.y, fits, inXML(l.text))
	}
}

// class returns the class of a row or verdict.
func (b *box) class() string {
	class := b.node.Kind
	if v := b.node.Verb; v != "" {
		class = "verdict " + v
	}
	if b.way {
		class += " way"
	}
	if c := b.node.Count; c != nil && c.Held == 0 {
		class += " never"
	}
	return class
}

// shape returns the outline of a box, which shows the kind of verdict without colour.
func shape(b *box) string {
	const c = shapeSide
	switch b.node.look() {
	case "continue": // an arrow
		return fmt.Sprintf(`<path class="s" d="M%d %dH%dL%d %dL%d %dH%dZ"/>`, b.x, b.y, b.right()-c, b.right(), b.y+b.h/2, b.right()-c, b.bottom(), b.x)
	case "stop": // a stop sign
		return fmt.Sprintf(`<path class="s" d="M%d %dH%dL%d %dV%dL%d %dH%dL%d %dV%dZ"/>`,
			b.x+c, b.y, b.right()-c, b.right(), b.y+c, b.bottom()-c, b.right()-c, b.bottom(), b.x+c, b.x, b.bottom()-c, b.y+c)
	case "done": // two lines
		inner := rect{b.x + 3, b.y + 3, b.w - 6, b.h - 6}
		return rounded("s", b.rect, 10) + rounded("o", inner, 7)
	case "ask": // it leans
		return fmt.Sprintf(`<path class="s" d="M%d %dH%dL%d %dH%dZ"/>`, b.x, b.y, b.right()-c, b.right(), b.bottom(), b.x+c)
	case "wait": // an hourglass
		return fmt.Sprintf(`<path class="s" d="M%d %dH%dL%d %dL%d %dH%dL%d %dZ"/>`, b.x, b.y, b.right(), b.right()-c, b.y+b.h/2, b.right(), b.bottom(), b.x, b.x+c, b.y+b.h/2)
	case "note": // a sheet with a folded corner
		return fmt.Sprintf(`<path class="s" d="M%d %dH%dL%d %dV%dH%dZ"/><path class="o" d="M%d %dV%dH%d"/>`,
			b.x, b.y, b.right()-10, b.right(), b.y+10, b.bottom(), b.x, b.right()-10, b.y, b.y+10, b.right())
	case "then": // bars at its sides
		return rounded("s", b.rect, 0) + fmt.Sprintf(`<path class="o" d="M%d %dV%dM%d %[2]dV%[3]d"/>`, b.x+5, b.y, b.bottom(), b.right()-5)
	case "idle", "start":
		return rounded("s", b.rect, min(b.h/2, 20))
	}
	return rounded("s", b.rect, 5)
}

func rounded(class string, r rect, radius int) string {
	return fmt.Sprintf(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, class, r.x, r.y, r.w, r.h, radius)
}

// svg returns the line of a fact with its readers.
func (l lane) svg() string {
	path, dots := fmt.Sprintf("M%d %dH%dM%[3]d %dV%d", l.from, l.y, l.x, l.top, l.end), ""
	for _, t := range l.taps {
		path += fmt.Sprintf("M%d %dH%d", l.x, t.y, t.x)
		class := "d"
		if t.hollow {
			class = "d e"
		}
		dots += fmt.Sprintf(`<circle class="%s" cx="%d" cy="%d" r="3"/>`, class, l.x, t.y)
	}
	return fmt.Sprintf(`<path class="w" d="%s"/>%s`, path, dots)
}

// arrow draws an edge.
func (d *drawing) arrow(w wire) {
	const long = 6           // its head
	class, half := "edge", 4 // the width of its head
	if w.dashed {
		class += " dashed"
	}
	if n := w.edge.Count; n != nil {
		class += fmt.Sprint(" c", weight(*n))
		half += weight(*n) / 2
	}
	if w.edge.Way {
		class, half = class+" way", max(half, 6)
	}
	line, head := fmt.Sprintf("V%d", w.y2-long), fmt.Sprintf("l%d -%dh-%dz", half, long, 2*half)
	switch {
	case w.lane > 0:
		line = fmt.Sprintf("H%dV%dH%d%s", w.lane, w.y2-gap, w.x2, line)
	case w.y1 == w.y2:
		line, head = fmt.Sprintf("H%d", w.x2-long), fmt.Sprintf("l-%d -%dv%dz", long, half, 2*half)
	}
	d.addf(`<g class="%s"><path class="w" d="M%d %d%s"/><path class="a" d="M%d %d%s"/></g>`+"\n", class, w.x1, w.y1, line, w.x2, w.y2, head)
}

// weight returns the thickness of a count's line, 0 to 4, by its number of digits, so that rare and frequent differ at
// any scale.
func weight(n int) int {
	if n == 0 {
		return 0
	}
	return min(len(fmt.Sprint(n)), 4)
}
