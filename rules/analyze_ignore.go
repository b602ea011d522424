package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/source"
)

// ignore is one comment `# ralph:ignore CHECK because REASON`.
type ignore struct {
	from, to Pos
	line     int // of the findings that it silences
	checks   []string
	used     []bool
	reason   bool
}

const ignoreWord = "ralph:ignore"

// silence leaves out the findings that the files say to ignore, and adds what is
// wrong with the comments that say so.
func silence(files []File, diags Diagnostics) Diagnostics {
	for _, f := range files {
		if bytes.Contains(f.Src, []byte(ignoreWord)) {
			diags = silenceIn(f, diags)
		}
	}
	return diags
}

func silenceIn(f File, diags Diagnostics) Diagnostics {
	c := newComments(f.Src)
	ignores := c.ignores(f.Name)
	out := slices.DeleteFunc(slices.Clone(diags), func(d Diagnostic) bool {
		if d.Pos.File != f.Name || d.Severity == Error {
			return false
		}
		gone := false
		for _, ig := range ignores {
			if i := slices.Index(ig.checks, d.Check); i >= 0 && (ig.line == d.Pos.Line || ig.line == c.begins(d.Pos.Line)) {
				ig.used[i], gone = true, true
			}
		}
		return gone
	})
	known := make([]string, 0, len(form.Checks()))
	for _, ch := range form.Checks() {
		known = append(known, ch.ID)
	}
	for _, ig := range ignores {
		add := func(check, help, message string) {
			out = append(out, Diagnostic{
				Pos: ig.from, End: ig.to, Severity: Warning, Check: check, Message: message, Help: help,
				Line: source.Line(f.Src, ig.from.Line),
			})
		}
		if len(ig.checks) == 0 || !ig.reason {
			add("bad-ignore", "write # ralph:ignore CHECK because REASON", "ralph:ignore needs the name of a check and a reason")
		}
		for i, id := range ig.checks {
			switch {
			case !slices.Contains(known, id):
				add("bad-ignore", nearest.DidYouMean(id, known), fmt.Sprintf("there is no check %q", id))
			case severityOf(id) == Error:
				add("bad-ignore", "mend what it finds", fmt.Sprintf("%q is an error: a policy that has it cannot be used, so it cannot be ignored", id))
			case !ig.used[i]:
				add("unused-ignore", "remove the comment", fmt.Sprintf("there is no %q here to ignore", id))
			}
		}
	}
	return out
}

// comments finds the comments of a YAML file.
type comments struct {
	lines   []string
	scalars []*source.Node // in the order of the file
}

func newComments(src []byte) *comments {
	c := &comments{lines: strings.Split(strings.TrimPrefix(string(src), "\ufeff"), "\n")}
	root, _ := source.Parse(src)
	var walk func(n *source.Node)
	walk = func(n *source.Node) {
		if n == nil {
			return
		}
		if n.Kind == source.Scalar {
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

// begins gives the line where the text of several lines begins that a line is
// part of, for comments cannot stand within it.
func (c *comments) begins(line int) int {
	for _, n := range c.scalars {
		if n.Start.Line < line && line <= n.End().Line {
			return n.Start.Line
		}
	}
	return line
}

// of gives the comment of a line, without its #, and the column of that.
func (c *comments) of(line int) (text string, col int) {
	runes := []rune(strings.TrimSuffix(c.lines[line-1], "\r"))
	for i, r := range runes {
		if r != '#' || i > 0 && runes[i-1] != ' ' && runes[i-1] != '\t' || c.within(source.Pos{Line: line, Col: i + 1}) {
			continue
		}
		return string(runes[i+1:]), i + 1
	}
	return "", 0
}

// within reports whether a place is part of a scalar. What stands behind the | of
// a block is not.
func (c *comments) within(at source.Pos) bool {
	for _, n := range c.scalars {
		if n.Start == at || n.Start.Before(at) && at.Before(n.End()) {
			block := n.Style == source.Literal || n.Style == source.Folded
			return !block || at.Line != n.Start.Line
		}
	}
	return false
}

// ignores lists the comments that silence something.
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
		ig := &ignore{
			from: Pos{File: file, Line: line, Col: col}, to: Pos{File: file, Line: line, Col: col + 1 + len([]rune(strings.TrimRight(comment, " \t\r")))},
			line: line,
		}
		ids, reason, _ := strings.Cut(" "+rest+" ", " because ")
		ig.reason = strings.TrimSpace(reason) != ""
		ig.checks = strings.FieldsFunc(ids, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
		ig.used = make([]bool, len(ig.checks))
		if strings.TrimSpace(string([]rune(text)[:col-1])) == "" { // alone on its line: it speaks of the next that says something
			for ig.line < len(c.lines) && (ig.line == line || strings.HasPrefix(strings.TrimSpace(c.lines[ig.line-1]), "#")) {
				ig.line++
			}
		}
		out = append(out, ig)
	}
	return out
}
