package graph

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Text returns the graph without its facts for people, in lines of at most this many characters: each question with its
// condition, and below it what the answer decides that does not lead to the next question.
func (g *Graph) Text(width int) string {
	var b strings.Builder
	write := func(format string, args ...any) {
		b.WriteString(cut(strings.TrimRight(fmt.Sprintf(format, args...), " ,:"), width) + "\n")
	}
	write("%s: %s", line(g.Policy), g.Description)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		texts := n.texts()
		var said []string
		for _, t := range texts[1:] {
			said = append(said, t.s)
		}
		from := slices.IndexFunc(g.Edges, func(e Edge) bool { return e.To == n.ID && (e.Kind == "verdict" || n.Kind == "end") })
		switch {
		case n.Kind == "include" || n.Kind == "fact":
		case from >= 0:
			e, mark := &g.Edges[from], n.mark
			if mark != "" {
				mark = " (" + mark + ")"
			}
			answer := strings.TrimLeft(e.label()+" → ", " ")
			write("%s%s%s%s: %s", map[bool]string{true: "  * ", false: "    "}[e.Way], answer, texts[0].s, mark, strings.Join(said, ", "))
		case n.Count != nil:
			write("%s (%d): %s", n.Name, n.Count.Reached, strings.Join(said, ", "))
		default:
			write("%s: %s", n.Name, strings.Join(said, ", "))
		}
	}
	for _, s := range g.notes() {
		write("%s", s)
	}
	return b.String()
}

// label returns the answer and the count of an edge.
func (e *Edge) label() string {
	if e.Count == nil {
		return e.Answer
	}
	return strings.TrimSpace(e.Answer + " " + short(*e.Count))
}

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
	return nil, errors.New("the policy has too many rules for Mermaid; the format svg can draw it")
}

// mermaid returns the graph with this much detail, and the number of its edges.
func (g *Graph) mermaid(detail int) (s string, edges int) {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	shapes := map[string]string{
		"continue": `>"%s"]`, "stop": `{{"%s"}}`, "done": `[["%s"]]`, "ask": `[\"%s"\]`, "wait": `[\"%s"/]`, "note": `[/"%s"/]`, "idle": `("%s")`, "start": `(["%s"])`, "fact": `[("%s")]`,
	}
	inside := []string{""}
	leave := func(parent string) {
		for ; inside[len(inside)-1] != parent; inside = inside[:len(inside)-1] {
			b.WriteString("end\n")
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		leave(n.Parent)
		switch {
		case n.Kind == "include":
			inside = append(inside, n.ID)
			fmt.Fprintf(&b, "subgraph %s[\"%s\"]\n", n.ID, mermaidText(n.caption()))
		case n.Kind != "fact" || detail > 2:
			texts := n.texts()
			if detail == 0 {
				texts = texts[:1]
			}
			var lines []string
			for _, t := range texts {
				if detail == 1 {
					t.most = 1
				}
				lines = append(lines, codeFont.wrap(t.s, codeFont.width(strings.Repeat(" ", 50)), t.most)...)
			}
			fmt.Fprintf(&b, "%s"+cmp.Or(shapes[n.look()], `["%s"]`)+":::%s\n", n.ID, mermaidText(strings.Join(lines, "\n")), n.look())
		}
	}
	leave("")
	way := ""
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == "reads" || e.Kind == "shows" {
			if detail < 3 {
				continue
			}
			arrow = map[string]string{"reads": "-.->", "shows": "-.-"}[e.Kind]
		}
		if label := e.label(); label != "" {
			arrow += "|" + label + "|"
		}
		fmt.Fprintf(&b, "%s %s %s\n", e.From, arrow, e.To)
		if e.Way {
			way += fmt.Sprint(",", edges)
		}
		edges++
	}
	colors := palette(light)
	for _, verb := range []string{"continue", "stop", "done", "ask", "wait", "note", "then", "idle"} {
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

// look returns the class for the shape and colour of a node.
func (n *Node) look() string { return cmp.Or(n.Verb, n.Kind) }
