package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// ignore is one comment `# ralph:ignore CHECK because REASON`.
type ignore struct {
	at     place
	line   int // of the findings that it suppresses
	checks []string
	used   []bool
	reason bool
}

const ignoreWord = "ralph:ignore"

// silence removes the findings that the files of p ignore, and reports invalid ignore comments.
func (p *Program) silence(diags Diagnostics) Diagnostics {
	for _, f := range p.origin.files {
		if bytes.Contains(f.Src, []byte(ignoreWord)) {
			diags = p.silenceIn(f, diags)
		}
	}
	return diags
}

func (p *Program) silenceIn(f File, diags Diagnostics) Diagnostics {
	c := newComments(f.Src)
	ignores := c.ignores(f.Name)
	out := slices.DeleteFunc(slices.Clone(diags), func(d Diagnostic) bool {
		if d.Pos.File != f.Name || d.Severity == Error {
			return false
		}
		begins := d.Pos.Line // of the multi-line string that contains the finding, which has no comments
		if n := c.scalar(yamltree.Pos{Line: begins, Col: 1}); n != nil {
			begins = n.Start.Line
		}
		gone := false
		for _, ig := range ignores {
			if i := slices.Index(ig.checks, d.Check); i >= 0 && (ig.line == d.Pos.Line || ig.line == begins) {
				ig.used[i], gone = true, true
			}
		}
		return gone
	})
	var known []string
	for _, ch := range form.Checks() {
		known = append(known, ch.ID)
	}
	for _, ig := range ignores {
		add := func(check, help, message string) { out = append(out, p.finding(check, ig.at, help, message)) }
		if len(ig.checks) == 0 || !ig.reason {
			add("bad-ignore", "write # ralph:ignore CHECK because REASON", "ralph:ignore needs the name of a check and a reason")
		}
		for i, id := range ig.checks {
			switch {
			case !slices.Contains(known, id):
				add("bad-ignore", nearest.DidYouMean(id, known), fmt.Sprintf("unknown check %q", id))
			case severityOf(id) == Error:
				add("bad-ignore", "fix what it finds", fmt.Sprintf("%q is an error, and errors cannot be ignored", id))
			case !ig.used[i]:
				add("unused-ignore", "remove the comment", fmt.Sprintf("there is no %q finding here to ignore", id))
			}
		}
	}
	return out
}

// comments finds the comments of a YAML file.
type comments struct {
	lines   []string
	scalars []*yamltree.Node // in the order of the file
}

func newComments(src []byte) *comments {
	c := &comments{lines: strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")}
	root, _ := yamltree.Parse(src)
	var walk func(n *yamltree.Node)
	walk = func(n *yamltree.Node) {
		if n == nil {
			return
		}
		if n.Kind == yamltree.Scalar {
			c.scalars = append(c.scalars, n)
		}
		for _, f := range n.Fields {
			walk(f.Key)
			walk(f.Value)
		}
		for _, item := range n.Items {
			walk(item)
		}
	}
	walk(root)
	return c
}

// scalar returns the scalar at a position, or nil.
func (c *comments) scalar(at yamltree.Pos) *yamltree.Node {
	for _, n := range c.scalars {
		if n.Start == at || n.Start.Before(at) && at.Before(n.End()) {
			return n
		}
	}
	return nil
}

// of returns the comment of a line, without its #, and the column of the #.
func (c *comments) of(line int) (text string, col int) {
	runes := []rune(strings.TrimSuffix(c.lines[line-1], "\r"))
	for i, r := range runes {
		if r != '#' || i > 0 && runes[i-1] != ' ' && runes[i-1] != '\t' {
			continue
		}
		// A comment after the | of a block is on the line where the block starts.
		if n := c.scalar(yamltree.Pos{Line: line, Col: i + 1}); n == nil || line == n.Start.Line && (n.Style == yamltree.Literal || n.Style == yamltree.Folded) {
			return string(runes[i+1:]), i + 1
		}
	}
	return "", 0
}

// ignores returns the ignore comments of a file.
func (c *comments) ignores(file string) []*ignore {
	var out []*ignore
	for i, text := range c.lines {
		if !strings.Contains(text, ignoreWord) {
			continue
		}
		line := i + 1
		comment, col := c.of(line)
		rest, ok := strings.CutPrefix(strings.TrimSpace(comment), ignoreWord)
		if !ok {
			continue
		}
		end := col + 1 + len([]rune(strings.TrimRight(comment, " \t\r")))
		ig := &ignore{at: place{Pos{File: file, Line: line, Col: col}, Pos{File: file, Line: line, Col: end}}, line: line}
		ids, reason, _ := strings.Cut(" "+rest+" ", " because ")
		ig.reason = strings.TrimSpace(reason) != ""
		ig.checks = strings.FieldsFunc(ids, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
		ig.used = make([]bool, len(ig.checks))
		if strings.TrimSpace(string([]rune(text)[:col-1])) == "" { // alone on its line: it applies to the next line with content
			for ig.line < len(c.lines) && (ig.line == line || strings.HasPrefix(strings.TrimSpace(c.lines[ig.line-1]), "#")) {
				ig.line++
			}
		}
		out = append(out, ig)
	}
	return out
}
