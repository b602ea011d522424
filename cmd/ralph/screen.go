package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// A screen shows text: what a terminal obeys appears as an escape, so that no file, agent or log can move the cursor, set
// a title, fill the clipboard or turn the text around. Line ends and tabs pass, and so do ralph's own colours where it uses
// them. JSON keeps its meaning: in its texts the escapes are those of JSON.
type screen struct {
	to     io.Writer
	colors bool
}

func (s *screen) Write(p []byte) (int, error) {
	out := p
	if at := s.obeyed(p); at < len(p) {
		out = s.escaped(p, at)
	}
	if n, err := s.to.Write(out); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// obeyed is where the first character stands that is escaped, the length of p if there is none.
func (s *screen) obeyed(p []byte) int {
	for i := 0; i < len(p); {
		if n := s.passes(p[i:]); n > 0 {
			i += n
			continue
		}
		return i
	}
	return len(p)
}

// passes is how many bytes at the beginning of p are shown as they are: those of a character, a line end or a colour.
func (s *screen) passes(p []byte) int {
	r, n := utf8.DecodeRune(p)
	switch {
	case r == '\r' && len(p) > 1 && p[1] == '\n':
		return 2
	case r == '\x1b' && s.colors:
		for _, shade := range []string{bold, red, yellow, blue, green, noColor} {
			if len(p) >= len(shade) && string(p[:len(shade)]) == shade {
				return len(shade)
			}
		}
		return 0
	case r == '\n' || r == '\t':
		return n
	case r == utf8.RuneError && n == 1, unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return 0
	}
	return n
}

// escaped is p with escapes; nothing before at needs one.
func (s *screen) escaped(p []byte, at int) []byte {
	out := append(make([]byte, 0, len(p)+16), p[:at]...)
	for i := at; i < len(p); {
		if n := s.passes(p[i:]); n > 0 {
			out = append(out, p[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		out = append(out, escape(r)...)
		i += n
	}
	return out
}

// escape is a character as text, as a Go or JSON string has it; a byte that is no character is U+FFFD.
func escape(r rune) string {
	switch r {
	case utf8.RuneError:
		return string(r)
	case '\x7f':
		return `\u007f` // JSON has it unescaped, and knows only this escape
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// visible is a text in one line that hides nothing from its reader: neither its end, nor
// what cannot be seen.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// unscreened is what a screen writes to.
func unscreened(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.to
	}
	return w
}

// terminal is the terminal that is written to; ok is false if it is none, or one that knows no sequences.
func (a *app) terminal(w io.Writer) (f *os.File, ok bool) {
	f, ok = terminalOf(unscreened(w))
	return f, ok && a.getenv("TERM") != "dumb"
}

// terminalOf is the terminal that a stream is; ok reports whether it is one.
func terminalOf(stream any) (f *os.File, ok bool) {
	f, ok = stream.(*os.File)
	return f, ok && isatty.IsTerminal(f.Fd())
}

// widthOf is how many characters a line of a terminal has.
func widthOf(terminal *os.File) int {
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width < 1 {
		return 80
	}
	return width
}

// fileOut is stdout for text that is a file: elsewhere than on a terminal, every byte of it counts.
func (a *app) fileOut() io.Writer {
	if _, ok := terminalOf(unscreened(a.stdout)); ok {
		return a.stdout
	}
	return unscreened(a.stdout)
}
