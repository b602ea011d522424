package view

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// Classes of the coloured text of a policy.
const (
	plain      = byte(0)
	keyWord    = 'k'
	text       = 's'
	comment    = 'c'
	expression = 'e'
	invisible  = 'u' // a character that cannot be seen, by its number
)

// coloured returns the text of a file as HTML, one span a line, with the classes above. The first line of the file number 2 has
// the ID f2-L1. All of the text is escaped.
func coloured(number int, src []byte) string {
	lines := slices.Collect(strings.SplitSeq(strings.ToValidUTF8(strings.TrimSuffix(string(src), "\n"), "�"), "\n"))
	c := colours{lines: make([][]rune, len(lines)), class: make([][]byte, len(lines))}
	for i, line := range lines {
		c.lines[i] = []rune(strings.TrimPrefix(strings.TrimSuffix(line, "\r"), "\ufeff"))
		c.class[i] = make([]byte, len(c.lines[i]))
	}
	root, _ := yamltree.Parse(src)
	c.node(root, text)
	var out strings.Builder
	for i, line := range c.lines {
		if root != nil {
			c.comments(i)
		}
		fmt.Fprintf(&out, `<span class="line" id="f%d-L%d">`, number, i+1)
		for from := 0; from < len(line); {
			to := from + 1
			for to < len(line) && c.class[i][to] == c.class[i][from] {
				to++
			}
			write(&out, c.class[i][from], line[from:to])
			from = to
		}
		out.WriteString("</span>\n")
	}
	return out.String()
}

// write writes some text of one class.
func write(out *strings.Builder, class byte, line []rune) {
	var shown strings.Builder
	var text escape.Text
	for _, r := range line {
		if text.Shows(r) || r == '\t' {
			shown.WriteString(html.EscapeString(string(r)))
		} else {
			fmt.Fprintf(&shown, `<span class="%c">U+%04X</span>`, invisible, r)
		}
	}
	if class == plain {
		out.WriteString(shown.String())
		return
	}
	fmt.Fprintf(out, `<span class="%c">%s</span>`, class, &shown)
}

// colours are the classes of the characters of a file.
type colours struct {
	lines [][]rune
	class [][]byte
}

// node sets the class of each scalar in a node.
func (c colours) node(n *yamltree.Node, class byte) {
	switch {
	case n == nil:
	case n.Kind == yamltree.Scalar:
		c.fill(n, class)
	default:
		for _, item := range n.Items {
			c.node(item, class)
		}
		for _, f := range n.Fields {
			c.fill(f.Key, keyWord)
			of := class
			if slices.Contains([]string{"when", "on", "owner", "progress", "let"}, f.Key.Value) {
				of = expression
			}
			c.node(f.Value, of)
		}
	}
}

// fill sets the class of a scalar; the placeholders in it are expressions.
func (c colours) fill(n *yamltree.Node, class byte) {
	from, to := n.Start, n.End()
	for i := from.Line - 1; i >= 0 && i < min(to.Line, len(c.lines)); i++ {
		begin, end := 0, len(c.lines[i])
		if i == from.Line-1 {
			begin = min(from.Col-1, end)
		}
		if i == to.Line-1 {
			end = min(to.Col-1, end)
		}
		inside := false
		for k := begin; k < end; k++ {
			inside = inside || class == text && c.lines[i][k] == '$' && k+1 < end && c.lines[i][k+1] == '{'
			c.class[i][k] = class
			if inside {
				c.class[i][k] = expression
				inside = c.lines[i][k] != '}'
			}
		}
	}
}

// comments sets the class of what follows a # outside of keys and values.
func (c colours) comments(i int) {
	for k, r := range c.lines[i] {
		if r == '#' && c.class[i][k] == plain && (k == 0 || unicode.IsSpace(c.lines[i][k-1])) {
			for ; k < len(c.lines[i]); k++ {
				c.class[i][k] = comment
			}
			return
		}
	}
}
