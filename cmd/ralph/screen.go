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

// A screen prints text: it escapes characters that control a terminal, so that no file, agent or log can move the
// cursor, set a title, fill the clipboard or reverse text. Line ends and tabs are kept, and so are ralph's own colours
// where it uses them. In JSON the escapes are those of JSON, which keeps its meaning.
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

// obeyed returns the index of the first character to escape, or the length of p.
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

// passes returns how many bytes at the beginning of p to print unchanged: those of a character, a line end or a colour.
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

// escaped returns p with escapes; nothing before at needs one.
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

// escape returns a character as an escape in a Go or JSON string; an invalid byte is U+FFFD.
func escape(r rune) string {
	switch r {
	case utf8.RuneError:
		return string(r)
	case '\x7f':
		return `\u007f` // JSON allows it unescaped, and has only this escape
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// visible returns a text on one line with nothing hidden: neither its end, nor invisible characters.
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

// unscreened returns the writer below a screen.
func unscreened(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.to
	}
	return w
}

// terminal returns the terminal that w writes to; ok is false if it is not one, or has no escape sequences.
func (a *app) terminal(w io.Writer) (f *os.File, ok bool) {
	f, ok = terminalOf(unscreened(w))
	return f, ok && a.getenv("TERM") != "dumb"
}

// terminalOf returns the terminal of a stream; ok reports whether it is one.
func terminalOf(stream any) (f *os.File, ok bool) {
	f, ok = stream.(*os.File)
	return f, ok && isatty.IsTerminal(f.Fd())
}

// widthOf returns the width of a terminal in characters.
func widthOf(terminal *os.File) int {
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width < 1 {
		return 80
	}
	return width
}

// fileOut returns stdout for text that is a file: except on a terminal, it is written unchanged.
func (a *app) fileOut() io.Writer {
	if _, ok := terminalOf(unscreened(a.stdout)); ok {
		return a.stdout
	}
	return unscreened(a.stdout)
}
