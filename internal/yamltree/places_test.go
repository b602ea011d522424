package yamltree

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Each case shows a file, and below it the same lines with the runes of the value
// `v` where At finds them. An underscore is a space, a dollar a line feed, an
// asterisk a rune that is written as an escape.
func TestAt(t *testing.T) {
	tests := []struct {
		name, file, want string
	}{
		{"plain", "v: a b", "   a_b"},
		{"plain non-ascii", "ä: {v: größe}", "       größe"},
		{"plain on lines", "v: a b  \n   c\n\n\n  d e # f", "   a_b  _\n   c$\n$\n\n  d_e"},
		{"plain with tabs", "v:\ta\tb\n \t c", "  \ta\tb_\n \t c"},
		{"plain crlf", "v: a\r\n   b\r\n\r\n   c\r\n", "   a_\n   b$\n\n   c"},
		{"single", "v: 'it''s'", "    it* s"},
		{"single on lines", "v: 'a \n\n  b\n  '", "    a $\n\n  b_"},
		{"double", `v: "a\tb\u00e4\x41\U0001F600 \"c"`, `    a* b*     *   *         _* c`},
		{"double on lines", "v: \"a\n  b \\\n   \\ c\\\n\n  d\"", "    a_\n  b_\n   * c\n$\n  d"},
		{"double crlf", "v: \"a\r\n  b\\\r\n  c\"", "    a_\n  b\n  c"},
		{"literal", "v: |\n  a b\n   c\n\n  d\nw: x", "\n  a_b$\n  _c$\n$\n  d$"},
		{"literal stripped", "v: |- # c\n\n  a\n\n\nw: x", "\n$\n  a"},
		{"literal kept", "v: |+\n  a\n   \n\nw: x", "\n  a$\n  _$\n$"},
		{"literal with indicator", "v: |2-\n    a\n   b", "\n  __a$\n  _b"},
		{"literal deeper", "k:\n  - v: |\n     a\n      b\n", "\n\n     a$\n     _b$"},
		{"literal tab", "v: |\n  a\tb \n  \tc", "\n  a\tb_$\n  \tc"},
		{"literal crlf", "v: |\r\n  a\r\n\r\n  ä b\r\n", "\n  a$\n$\n  ä_b$"},
		{"literal byte order mark", "\ufeffv: |\n  a", "\n  a"},
		{"literal of spaces", "v: |2+\n     \n\n", "\n  ___$\n$"},
		{"literal of blank lines", "v: |+\n\n  \n", "\n$\n  $"},
		{"folded", "v: >\n  a\n  b\n\n  c\n\n\n  d\n", "\n  a_\n  b$\n\n  c$\n$\n\n  d$"},
		{"folded stripped", "v: >-\n\n  a\n  b\n\nw: x", "\n$\n  a_\n  b"},
		{"folded kept", "v: >+\n  a\n\n\nw: x", "\n  a$\n$\n$"},
		{"folded with deeper lines", "v: >\n  a\n    b\n  c\n", "\n  a$\n  __b$\n  c$"},
		{"folded deeper after blank", "v: >\n  a\n\n    b\n\n  c\n", "\n  a$\n$\n  __b$\n$\n  c$"},
		{"folded trailing space", "v: >-\n  a \n  b", "\n  a__\n  b"},
		{"folded before a longer key", "v: >\n  a\nlonger: key", "\n  a$"},
		{"folded with indicator", "v: >1-\n  a\n b\n c", "\n _a$\n b_\n c"},
		{"tagged", "v: !!str 5", "         5"},
		{"tagged on lines", "v: !!str # c\n  'a'", "\n   a"},
		{"in a list", "- - v: ab\n", "       ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, problems := Parse([]byte(tt.file))
			if len(problems) > 0 {
				t.Fatalf("Parse: %v", problems)
			}
			n := find(root, "v")
			if diff := cmp.Diff(tt.want, draw(n)); diff != "" {
				t.Errorf("the runes of %q (-want +got):\n%s", n.Value, diff)
			}
		})
	}
}

// draw writes each rune of the value at its place on an empty page. Literal blanks at the
// start of a line are shown as in the file.
func draw(n *Node) string {
	var page [][]rune
	put := func(p Pos, r rune) {
		for len(page) < p.Line {
			page = append(page, nil)
		}
		line := page[p.Line-1]
		for len(line) < p.Col {
			line = append(line, ' ')
		}
		line[p.Col-1] = r
		page[p.Line-1] = line
	}
	lines := strings.Split(n.file.text, "\n")
	for i, r := range []rune(n.Value) {
		p := n.At(i)
		there := rune('\n')
		if line := []rune(strings.TrimSuffix(lines[p.Line-1], "\r")); p.Col <= len(line) {
			there = line[p.Col-1]
		}
		switch {
		case there == '\\' && n.Style == DoubleQuoted || there == '\'' && n.Style == SingleQuoted:
			r = '*'
		case r == ' ':
			r = '_'
		case r == '\n':
			r = '$'
		}
		put(p, r)
	}
	// Tabs before the text stay what they are, so that columns can be compared.
	out := make([]string, len(page))
	for i, line := range page {
		for j, r := range []rune(lines[i]) {
			if r == '\t' && j < len(line) && line[j] == ' ' {
				line[j] = '\t'
			}
		}
		out[i] = string(line)
	}
	return strings.Join(out, "\n")
}

// The offset after the last rune, the end of the node, and offsets out of range.
func TestEnds(t *testing.T) {
	tests := []struct {
		name, file     string
		start, at, end Pos
	}{
		{"plain", "v: ab # c", Pos{1, 4}, Pos{1, 6}, Pos{1, 6}},
		{"empty", "v:\nw: x", Pos{1, 3}, Pos{1, 3}, Pos{1, 3}},
		{"single", "v: 'ab'", Pos{1, 4}, Pos{1, 7}, Pos{1, 8}},
		{"empty single", "v: ''", Pos{1, 4}, Pos{1, 5}, Pos{1, 6}},
		{"double on lines", "v: \"a\n  ä\"", Pos{1, 4}, Pos{2, 4}, Pos{2, 5}},
		{"literal", "v: |\n  a\n\nw: x", Pos{1, 4}, Pos{2, 4}, Pos{2, 4}},
		{"literal stripped", "v: |-\n  a\n\nw: x", Pos{1, 4}, Pos{2, 4}, Pos{2, 4}},
		{"folded", "v: >\n  a\n  b\n", Pos{1, 4}, Pos{3, 4}, Pos{3, 4}},
		{"empty literal", "v: |\nw: x", Pos{1, 4}, Pos{1, 5}, Pos{1, 5}},
		{"block map", "v:\n  a: b\n  c: 'd'\n", Pos{2, 3}, Pos{2, 3}, Pos{3, 9}},
		{"flow list", "v: [a, [b]]", Pos{1, 4}, Pos{1, 4}, Pos{1, 12}},
		{"empty flow list", "v: [ ]", Pos{1, 4}, Pos{1, 4}, Pos{1, 7}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, problems := Parse([]byte(tt.file))
			if len(problems) > 0 {
				t.Fatalf("Parse: %v", problems)
			}
			n := find(root, "v")
			got := []Pos{n.Start, n.At(utf8.RuneCountInString(n.Value)), n.End(), n.At(1 << 30)}
			if diff := cmp.Diff([]Pos{tt.start, tt.at, tt.end, tt.at}, got); diff != "" {
				t.Errorf("start, behind the last rune, end, far behind (-want +got):\n%s", diff)
			}
			if got, want := n.At(-1), n.At(0); got != want {
				t.Errorf("At(-1) = %v, want At(0) = %v", got, want)
			}
		})
	}
}

func TestAtWithoutSource(t *testing.T) {
	n := &Node{Value: "made by hand", Start: Pos{3, 4}}
	if n.At(5) != n.Start || n.End() != n.Start {
		t.Errorf("At = %v, End = %v, want Start %v", n.At(5), n.End(), n.Start)
	}
}

// A tree is safe for concurrent use.
func TestAtConcurrently(t *testing.T) {
	root, _ := Parse([]byte("v: >\n  a\n  b\n  ä c\n"))
	n := find(root, "v")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i, want := range []Pos{{2, 3}, {2, 4}, {3, 3}, {3, 4}, {4, 3}, {4, 4}, {4, 5}} {
				if got := n.At(i); got != want {
					t.Errorf("At(%d) = %v, want %v", i, got, want)
				}
			}
		})
	}
	group.Wait()
}

func find(n *Node, key string) *Node {
	if v := n.Get(key); v != nil {
		return v
	}
	for _, f := range n.Fields {
		if v := find(f.Value, key); v != nil {
			return v
		}
	}
	for _, item := range n.Items {
		if v := find(item, key); v != nil {
			return v
		}
	}
	return nil
}

// holds checks everything that is promised of a tree, for any text.
func holds(src []byte, root *Node) error {
	lines := strings.Split(strings.TrimPrefix(string(src), bom), "\n")
	inside := func(p Pos) error {
		if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > utf8.RuneCountInString(lines[p.Line-1])+1 {
			return fmt.Errorf("%v is not in the file", p)
		}
		return nil
	}
	runeAt := func(p Pos) rune {
		line := []rune(strings.TrimSuffix(lines[p.Line-1], "\r"))
		if p.Col > len(line) {
			return '\n'
		}
		return line[p.Col-1]
	}
	var check func(n *Node) error
	check = func(n *Node) error {
		if n == nil {
			return fmt.Errorf("a nil node")
		}
		if err := inside(n.Start); err != nil {
			return err
		}
		if err := inside(n.End()); err != nil {
			return err
		}
		if n.End().Before(n.Start) {
			return fmt.Errorf("the node at %v ends at %v", n.Start, n.End())
		}
		for _, f := range n.Fields {
			if err := check(f.Key); err != nil {
				return err
			}
			if err := check(f.Value); err != nil {
				return err
			}
		}
		for _, item := range n.Items {
			if err := check(item); err != nil {
				return err
			}
		}
		if n.Kind != Scalar {
			return nil
		}
		var last Pos
		for i, r := range []rune(n.Value) {
			p := n.At(i)
			if err := inside(p); err != nil {
				return err
			}
			if p.Before(n.Start) || n.End().Before(p) {
				return fmt.Errorf("rune %d of %q at %v is outside of %v-%v", i, n.Value, p, n.Start, n.End())
			}
			if i > 0 && !last.Before(p) {
				return fmt.Errorf("rune %d of %q at %v is not behind the one at %v", i, n.Value, p, last)
			}
			last = p
			switch there := runeAt(p); {
			case there == r:
			case there == '\n' && r == ' ' && n.Style != Literal:
			case there == '\\' && n.Style == DoubleQuoted:
			default:
				return fmt.Errorf("rune %d of %q is %q, but %q stands at %v", i, n.Value, r, there, p)
			}
		}
		if p := n.At(utf8.RuneCountInString(n.Value)); p.Before(last) || n.End().Before(p) {
			return fmt.Errorf("the end of %q is at %v, its last rune at %v, the node ends at %v", n.Value, p, last, n.End())
		}
		return nil
	}
	return check(root)
}
