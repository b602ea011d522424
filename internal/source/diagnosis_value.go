package source

import (
	"fmt"
	"strings"
)

// value reads the value that begins in line n behind at and belongs to a key or
// dash in the column parent. It returns the number of the line behind it.
func (d *diagnosis) value(n, at, end, parent int) int {
	text := d.file.text
	for {
		for at < end && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		if at == end || text[at] == '#' && isSpace(text[at-1]) {
			d.wants = true
			return n + 1
		}
		if text[at] != '!' {
			break
		}
		word := property(text[at:end])
		if tagKind(text[at:at+word]) == 0 {
			break
		}
		at += word
	}
	switch c := text[at]; {
	case c == '|' || c == '>':
		return d.block(n, at, end, parent)
	case c == '"' || c == '\'':
		return d.quoted(n, at, end, parent)
	case c == '[' || c == '{':
		return d.flow(n, at, parent)
	case c == '!':
		return d.tag(n, at, end, parent)
	case c == '&' || c == '*':
		return d.reference(n, at, end, parent)
	case strings.IndexByte("%@`,]}", c) >= 0:
		next := d.extent(n, at, end, parent)
		d.mend(at, at+1, next.span, fmt.Sprintf("a plain value cannot begin with %s", quoteByte(c)), helpQuote)
		return next.line
	case c == '-' && (at+1 == end || isSpace(text[at+1])):
		d.report(at, end, "a list cannot begin on the line of its key", "begin it on the next line, deeper, or write [a, b]; if it is text, quote it")
		d.broken = true
		return d.extent(n, at, end, parent).line
	case (c == '?' || c == ':') && (at+1 == end || isSpace(text[at+1])):
		next := d.extent(n, at, end, parent)
		d.mend(at, at+1, next.span, fmt.Sprintf("a plain value cannot begin with `%c `", c), helpQuote)
		return next.line
	}
	return d.plain(n, at, end, parent)
}

// tag reports a value that begins with a `!`.
func (d *diagnosis) tag(n, at, end, parent int) int {
	word := at + property(d.file.text[at:end])
	next := d.extent(n, at, end, parent)
	if next.line > n+1 && strings.TrimSpace(d.file.text[word:end]) == "" { // of the map or list below
		d.broken, d.wants = true, true
		d.problems = append(d.problems, d.file.problem(at, word, CheckTag,
			fmt.Sprintf("the YAML tag `%s` means nothing in a policy", d.file.text[at:word]), "remove it"))
		return n + 1
	}
	d.tagProblem(at, word)
	d.raw = append(d.raw, next.span)
	return next.line
}

func (d *diagnosis) tagProblem(at, end int) {
	word := d.file.text[at:end]
	d.problems = append(d.problems, d.file.problem(at, end, CheckTag,
		fmt.Sprintf("`%s` is a YAML tag here", word), negation(strings.TrimLeft(word, "!"))))
}

// reference reports an anchor or alias, or a text that looks like one.
func (d *diagnosis) reference(n, at, end, parent int) int {
	text := d.file.text
	word := at + property(text[at:end])
	next := d.extent(n, at, end, parent)
	name := text[at:word]
	switch {
	case !isName(name[1:]):
		d.mend(at, at+1, next.span, fmt.Sprintf("a plain value cannot begin with `%c`", name[0]), helpQuote)
	case name[0] == '*':
		d.problems = append(d.problems, d.file.problem(at, word, CheckAlias,
			fmt.Sprintf("`%s` is a YAML alias; a policy has none", name),
			"write it out, or quote the whole value if a `*` was meant"))
		d.raw = append(d.raw, next.span)
	default:
		d.problems = append(d.problems, d.file.problem(at, word, CheckAlias,
			fmt.Sprintf("`%s` is a YAML anchor; a policy has none", name),
			"remove it, or quote the whole value if a `&` was meant"))
		if strings.TrimSpace(text[word:end]) == "" { // of the map or list below
			d.broken, d.wants = true, true
			return n + 1
		}
		d.raw = append(d.raw, next.span)
	}
	return next.line
}

// An extent is a plain value with the lines that belong to it.
type extent struct {
	span
	line int // behind it
}

// extent is the value from at in line n on, with all the lines below that are
// indented deeper than its parent. A comment behind its last line is not part of
// it, unless it was torn out of an expression.
func (d *diagnosis) extent(n, at, end, parent int) extent {
	last := d.uncommented(at, end)
	for n++; n < len(d.file.lines); n++ {
		start, end, col := d.lineAt(n)
		if start == end {
			d.blank(n)
			continue
		}
		if col <= parent || d.file.text[start] == '#' {
			break
		}
		last = d.uncommented(start, end)
	}
	return extent{span{at, last}, n}
}

// lineAt is line n without its indentation, and the column where it begins. Start
// is end if it is empty.
func (d *diagnosis) lineAt(n int) (start, end, col int) {
	start, end = d.file.line(n)
	line := d.file.text[start:end]
	col = len(line) - len(strings.TrimLeft(line, " "))
	return end - len(strings.TrimLeft(line, " \t")), end, col
}

// uncommented is where the text from start to end stops before its comment.
func (d *diagnosis) uncommented(start, end int) int {
	text := d.file.text[start:end]
	if i := comment(text); i >= 0 && !torn(text[:i], text[i:]) {
		text = text[:i]
	}
	return start + len(strings.TrimRight(text, " \t"))
}

// plain reads a value without quotes, with the lines that go on with it.
func (d *diagnosis) plain(n, at, end, parent int) int {
	text := d.file.text
	whole := d.extent(n, at, end, parent)
	first := true
	for ; n < whole.line; n++ {
		start := at
		if !first {
			var col int
			if start, end, col = d.lineAt(n); start == end {
				continue
			}
			if name, colon := key(text[start:end]); colon >= 0 && isName(text[start:start+name]) {
				if parent < 0 {
					return n // there is no key: the entry itself is wrong
				}
				d.broken = true
				d.report(start, start+name+1,
					fmt.Sprintf("`%s:` is indented deeper than the key above, which has a value already", text[start:start+name]),
					fmt.Sprintf("begin it at column %d", parent+1))
				// Go on below as if it stood where it should.
				d.levels = append(d.levels, level{col: col})
				return n
			}
		}
		first = false
		stop := end
		hash := comment(text[start:end])
		if hash >= 0 {
			stop = start + hash
			if torn(text[at:stop], text[stop:end]) {
				d.problems = append(d.problems, d.file.problem(stop, end, CheckComment, messageCut, helpQuote))
				d.raw = append(d.raw, whole.span)
				return whole.line
			}
		}
		if colon := colon(text[start:stop]); colon >= 0 {
			colon += start
			d.mend(colon, colon+1, whole.span, colonMessage(text[at:colon], text[colon+1:stop]), helpQuote)
			return whole.line
		}
		if hash >= 0 {
			return d.afterComment(n+1, whole.line)
		}
	}
	return whole.line
}

// colonMessage says what a colon between before and after does.
func colonMessage(before, after string) string {
	switch {
	case strings.Contains(before, "? "):
		return "the `:` of `? :` cannot stand in a plain value"
	case after == "":
		return "a plain value cannot end with `:`"
	}
	return "a `: ` cannot stand in a plain value"
}

// afterComment reports lines of a value that stand behind a comment within it.
func (d *diagnosis) afterComment(n, stop int) int {
	for ; n < stop; n++ {
		if start, end, _ := d.lineAt(n); start < end {
			d.broken = true
			d.report(start, end, "the comment above ended the value, so this line belongs to nothing",
				"put the comment above the key, or the value into a |- block")
			break
		}
	}
	return stop
}

// block reads a | or > text.
func (d *diagnosis) block(n, at, end, parent int) int {
	text := d.file.text
	i, explicit := at+1, false
	for i < end && (text[i] == '+' || text[i] == '-' || text[i] >= '1' && text[i] <= '9') {
		explicit = explicit || text[i] >= '1'
		i++
	}
	if rest := strings.TrimLeft(text[i:end], " \t"); i-at > 3 || rest != "" && rest[0] != '#' {
		next := d.extent(n, at, end, parent)
		d.mend(at, at+1, next.span,
			fmt.Sprintf("`%c` begins a block text, which starts on the next line", text[at]), helpQuote)
		return next.line
	}
	indent := 0 // of the text; 0 is not known
	for n++; n < len(d.file.lines); n++ {
		start, end, col := d.lineAt(n)
		if start == end {
			d.blank(n)
			continue
		}
		tabbed := text[start-1] == '\t' && start > int(d.file.lines[n])
		if tabbed && col <= max(parent, indent-1) || tabbed && indent == 0 {
			d.tab(int(d.file.lines[n])+col, start)
			return d.skip(n, parent)
		}
		switch {
		case col <= parent:
			return n
		case indent == 0 && !explicit:
			indent = col
		case col < indent && text[start] != '#':
			d.broken = true
			d.report(start, end, "this line is indented less than the block text it belongs to",
				fmt.Sprintf("begin it at column %d", indent+1))
			return d.skip(n, parent)
		}
	}
	return n
}

// skip is the number of the first line from n on that is not deeper than parent.
func (d *diagnosis) skip(n, parent int) int {
	for n++; n < len(d.file.lines); n++ {
		if start, end, col := d.lineAt(n); start < end && col <= parent {
			break
		}
	}
	return n
}
