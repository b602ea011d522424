package source

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted reads a value between quotes.
func (d *diagnosis) quoted(n, at, _, parent int) int {
	text := d.file.text
	stop, bad := d.unquote(at, parent)
	if bad >= 0 {
		d.badEscape(bad)
	}
	if stop < 0 {
		d.unclosed(at)
		return n + 1
	}
	n = d.file.lineAt(stop - 1)
	end := d.file.lineEnd(stop)
	rest := strings.TrimLeft(text[stop:end], " \t")
	if rest == "" || rest[0] == '#' {
		return n + 1
	}
	next := d.extent(n, stop, end, parent)
	left := end - len(rest)
	d.mend(left, max(d.uncommented(left, end), left+1), span{at, max(next.end, left+1)},
		fmt.Sprintf("the value ends with its quote, but `%s` follows", clip(text[left:d.uncommented(left, end)])),
		"quote the whole value, with the other kind of quotes, or put it into a |- block")
	return next.line
}

func (d *diagnosis) unclosed(at int) {
	d.broken = true
	d.report(at, at+1, fmt.Sprintf("the quote %s is not closed", quoteByte(d.file.text[at])),
		"close it; a text of several lines is better put into a | block")
}

func (d *diagnosis) badEscape(at int) {
	d.broken = true
	text := d.file.text[at:]
	if len(text) < 2 {
		return
	}
	switch _, size := utf8.DecodeRuneInString(text[1:]); text[1] {
	case 'x', 'u', 'U':
		end := 2
		for end < len(text) && end < 10 && isHex(text[end]) {
			end++
		}
		if end == 2 { // no number, as in C:\Users
			d.report(at, at+2, fmt.Sprintf("`%s` is no escape between double quotes", text[:2]),
				fmt.Sprintf("write `\\%s`, or use single quotes", text[:2]))
			return
		}
		d.report(at, at+end, fmt.Sprintf("`%s` is no character", text[:end]),
			"give \\x two digits, \\u four, \\U eight, or write the character itself")
	default:
		text = text[:1+size]
		d.report(at, at+len(text), fmt.Sprintf("`%s` is no escape between double quotes", text),
			fmt.Sprintf("write `\\%s`, or use single quotes", text))
	}
}

// unquote is the offset behind the quoted text that begins at at, or -1 if it is
// not closed before an entry of the parent or one above begins. Bad is the offset
// of its first wrong escape, or -1.
func (d *diagnosis) unquote(at, parent int) (stop, bad int) {
	text, quote := d.file.text, d.file.text[at]
	bad = -1
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			n := d.file.lineAt(i) + 1
			if n >= len(d.file.lines) {
				return -1, bad
			}
			if start, end, col := d.lineAt(n); start < end && col <= parent {
				return -1, bad
			}
		case c == '\\' && quote == '"':
			if size := escapeSize(text[i:]); size > 0 {
				i += size - 1
			} else if bad < 0 {
				bad = i
				i++
			}
		case c == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case c == quote:
			return i + 1, bad
		}
	}
	return -1, bad
}

// escapeSize is the length of the escape that text begins with, up to the line
// end if that is escaped, or 0 if it is none.
func escapeSize(text string) int {
	if len(text) < 2 {
		return 0
	}
	digits := 0
	switch text[1] {
	case '0', 'a', 'b', 't', '\t', 'n', 'v', 'f', 'r', 'e', ' ', '"', '\'', '/', '\\', 'N', '_', 'L', 'P':
		return 2
	case '\n', '\r': // the line end itself is read as any other
		return 1
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return 0
	}
	if len(text) < 2+digits {
		return 0
	}
	value, err := strconv.ParseUint(text[2:2+digits], 16, 32)
	if err != nil || value > utf8.MaxRune || value >= 0xd800 && value < 0xe000 {
		return 0
	}
	return 2 + digits
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
