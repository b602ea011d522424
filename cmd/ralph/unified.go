package main

import (
	"fmt"
	"strings"
)

// diffContext is how many lines around a change are shown.
const diffContext = 3

// maxDiffCells bounds the table of the comparison. Files beyond it are shown as
// replaced as a whole.
const maxDiffCells = 4 << 20

// unifiedDiff shows what changes from old to new, as diff -u does. It is "" if
// nothing does.
func unifiedDiff(name, before, after string) string {
	if before == after {
		return ""
	}
	a, b := splitLines(before), splitLines(after)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	edits := lineEdits(a, b)
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i++
			continue
		}
		// A hunk goes on while changes are near one another.
		start, end := max(0, i-diffContext), i
		for j := i; j < len(edits) && j <= end+2*diffContext; j++ {
			if edits[j].op != ' ' {
				end = j
			}
		}
		end = min(len(edits), end+1+diffContext)
		var fromLines, toLines int
		for _, e := range edits[start:end] {
			if e.op != '+' {
				fromLines++
			}
			if e.op != '-' {
				toLines++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", hunkRange(edits[start].from, fromLines), hunkRange(edits[start].to, toLines))
		for _, e := range edits[start:end] {
			out.WriteByte(e.op)
			out.WriteString(strings.TrimSuffix(e.text, "\n"))
			out.WriteByte('\n')
			if !strings.HasSuffix(e.text, "\n") {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
		i = end
	}
	return out.String()
}

func hunkRange(start, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", start)
	}
	if n == 1 {
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

// splitLines keeps the line ends.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lineEdit is one line of a diff; from and to count the lines before it.
type lineEdit struct {
	op       byte // ' ', '-' or '+'
	text     string
	from, to int
}

// lineEdits gives the shortest way from a to b.
func lineEdits(a, b []string) []lineEdit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var edits []lineEdit
	i, j := 0, 0
	emit := func(op byte, text string) {
		edits = append(edits, lineEdit{op, text, i, j})
		if op != '+' {
			i++
		}
		if op != '-' {
			j++
		}
	}
	for _, line := range a[:head] {
		emit(' ', line)
	}
	ma, mb := a[head:len(a)-tail], b[head:len(b)-tail]
	if (len(ma)+1)*(len(mb)+1) > maxDiffCells {
		for _, line := range ma {
			emit('-', line)
		}
		for _, line := range mb {
			emit('+', line)
		}
	} else {
		// common[x][y] is how many lines ma[x:] and mb[y:] have in common.
		common := make([][]int32, len(ma)+1)
		for x := range common {
			common[x] = make([]int32, len(mb)+1)
		}
		for x := len(ma) - 1; x >= 0; x-- {
			for y := len(mb) - 1; y >= 0; y-- {
				if ma[x] == mb[y] {
					common[x][y] = common[x+1][y+1] + 1
				} else {
					common[x][y] = max(common[x+1][y], common[x][y+1])
				}
			}
		}
		x, y := 0, 0
		for x < len(ma) || y < len(mb) {
			switch {
			case x < len(ma) && y < len(mb) && ma[x] == mb[y]:
				emit(' ', ma[x])
				x, y = x+1, y+1
			case x < len(ma) && (y == len(mb) || common[x+1][y] >= common[x][y+1]):
				emit('-', ma[x])
				x++
			default:
				emit('+', mb[y])
				y++
			}
		}
	}
	for _, line := range a[len(a)-tail:] {
		emit(' ', line)
	}
	return edits
}
