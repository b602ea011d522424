package graph

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Mermaid's limits without configuration: it rejects longer texts and more edges.
const (
	mermaidBytes = 50_000
	mermaidEdges = 500
)

// Mermaid returns the graph for Mermaid, which GitHub draws in Markdown. For a large policy it omits the facts, then
// most of each text, then all texts; it returns an error if the graph is too large even then.
func (g *Graph) Mermaid() ([]byte, error) {
	for detail := 3; detail >= 0; detail-- {
		if text, edges := g.mermaid(detail); len(text) <= mermaidBytes && edges <= mermaidEdges {
			return []byte(text), nil
		}
	}
	return nil, errors.New("the policy has too many rules for Mermaid; the formats svg and dot can draw it")
}

// mermaid returns the graph with this much detail, and the number of its edges.
func (g *Graph) mermaid(detail int) (s string, edges int) {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	g.nested(detail > 2, func(n *Node) {
		texts := n.texts()
		if detail == 0 {
			texts = texts[:1]
		}
		for i := range texts {
			if detail == 1 {
				texts[i].most = 1
			}
		}
		shape, _ := n.shapes()
		fmt.Fprintf(&b, "%s"+shape+":::%s\n", n.ID, mermaidText(wrapped(texts)), n.look())
	}, func(n *Node) {
		fmt.Fprintf(&b, "subgraph %s[\"%s\"]\n", n.ID, mermaidText(n.caption()))
	}, func() { b.WriteString("end\n") })
	way := ""
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == "reads" || e.Kind == "shows" {
			if detail < 3 {
				continue
			}
			arrow = map[string]string{"reads": "-.->", "shows": "-.-"}[e.Kind]
		}
		if e.Count != nil {
			arrow += fmt.Sprintf("|%d|", *e.Count)
		}
		fmt.Fprintf(&b, "%s %s %s\n", e.From, arrow, e.To)
		if e.Way {
			way += fmt.Sprint(",", edges)
		}
		edges++
	}
	colors := palette(light)
	for _, verb := range []string{"continue", "stop", "done", "note", "then", "idle"} {
		fmt.Fprintf(&b, "classDef %s fill:%s,stroke:%s,color:%s\n", verb, colors[verb+"-fill"], colors[verb+"-line"], colors[verb+"-text"])
	}
	if way != "" {
		fmt.Fprintf(&b, "linkStyle %s stroke:%s,stroke-width:4px\n", way[1:], colors["way"])
	}
	return b.String(), edges
}

// mermaidText returns a text as a label: characters other than letters, digits, blanks and marks within words are
// written as their codes, so that they are not syntax of Mermaid, Markdown or HTML.
func mermaidText(s string) string {
	var b strings.Builder
	runes := []rune(s)
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch {
		case r == '\n':
			b.WriteString("<br/>")
		case r == ' ' || r == ',' || r > unicode.MaxASCII || word(i) || strings.ContainsRune("./-", r) && word(i-1) && word(i+1):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// Dot returns the graph for Graphviz.
func (g *Graph) Dot() []byte {
	var b strings.Builder
	colors := palette(light)
	b.WriteString("digraph policy {\ngraph [rankdir=TB, fontname=\"Helvetica\"]\nnode [fontname=\"Helvetica\", fontsize=11]\nedge [fontname=\"Helvetica\", fontsize=10]\n")
	g.nested(true, func(n *Node) {
		style := ""
		if fill := colors[n.Verb+"-fill"]; fill != "" {
			style = fmt.Sprintf(", style=filled, fillcolor=%q, color=%q, fontcolor=%q", fill, colors[n.Verb+"-line"], colors[n.Verb+"-text"])
		}
		_, shape := n.shapes()
		fmt.Fprintf(&b, "%s [label=\"%s\", shape=%s%s]\n", n.ID, dotText(wrapped(n.texts())), shape, style)
	}, func(n *Node) {
		fmt.Fprintf(&b, "subgraph cluster_%s {\nlabel=\"%s\"\n", n.ID, dotText(n.caption()))
	}, func() { b.WriteString("}\n") })
	for _, e := range g.Edges {
		with := map[string]string{"reads": "style=dashed, constraint=false ", "shows": "style=dotted, constraint=false "}[e.Kind]
		if e.Count != nil {
			with += fmt.Sprintf("label=\"%d\" ", *e.Count)
		}
		if e.Way {
			with += fmt.Sprintf("penwidth=3, color=%q", colors["way"])
		}
		fmt.Fprintf(&b, "%s -> %s [%s]\n", e.From, e.To, strings.TrimSpace(with))
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// dotText returns a text as the content of a quoted string, in which entities also count.
func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`).Replace(s)
}

// shapes returns the shape of a node: in Mermaid around its label, in DOT by name.
func (n *Node) shapes() (mermaid, dot string) {
	switch n.look() {
	case "continue":
		return `>"%s"]`, "cds"
	case "stop":
		return `{{"%s"}}`, "octagon"
	case "done":
		return `[["%s"]]`, "doubleoctagon"
	case "note":
		return `[/"%s"/]`, "note"
	case "then":
		return `["%s"]`, "component"
	case "idle":
		return `("%s")`, "ellipse"
	case "start":
		return `(["%s"])`, "ellipse"
	case "fact":
		return `[("%s")]`, "cylinder"
	}
	return `["%s"]`, "box"
}

// look returns the class for the shape and colour of a node.
func (n *Node) look() string {
	if n.Verb != "" {
		return n.Verb
	}
	return n.Kind
}

// wrapped returns texts in lines of 50 characters.
func wrapped(texts []text) string {
	var lines []string
	for _, t := range texts {
		lines = append(lines, codeFont.wrap(t.s, codeFont.width(strings.Repeat(" ", 50)), t.most)...)
	}
	return strings.Join(lines, "\n")
}

// nested calls node for the nodes, with or without facts, and open and shut around the content of each include.
func (g *Graph) nested(facts bool, node, open func(n *Node), shut func()) {
	inside := []string{""}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for ; inside[len(inside)-1] != n.Parent; inside = inside[:len(inside)-1] {
			shut()
		}
		switch {
		case n.Kind == "include":
			inside = append(inside, n.ID)
			open(n)
		case facts || n.Kind != "fact":
			node(n)
		}
	}
	for range inside[1:] {
		shut()
	}
}
