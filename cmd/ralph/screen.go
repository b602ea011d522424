package main

import (
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// A screen prints text for people, see [escape.Person]. Ralph's own colours stay where it uses them.
type screen struct {
	to     io.Writer
	colors bool
}

func (s *screen) Write(p []byte) (int, error) {
	out, rest := "", string(p)
	for s.colors {
		at, shade := colour(rest)
		if shade == "" {
			break
		}
		out += escape.Person(rest[:at]) + shade
		rest = rest[at+len(shade):]
	}
	if n, err := io.WriteString(s.to, out+escape.Person(rest)); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// colour returns the first of ralph's own colours in a text, and its place; "" is none.
func colour(text string) (at int, shade string) {
	for at, r := range text {
		for _, shade := range []string{bold, red, yellow, blue, green, noColor} {
			if r == '\x1b' && strings.HasPrefix(text[at:], shade) {
				return at, shade
			}
		}
	}
	return 0, ""
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
