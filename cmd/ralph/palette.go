package main

import (
	"io"
	"strings"

	"github.com/ralph-sdk/ralph/project"
)

// A palette colours text for a terminal, or leaves it unchanged.
type palette bool

// palette returns the palette of stdout.
func (a *app) palette() palette { return palette(a.colors()) }

// in returns text in a shade.
func (p palette) in(shade, text string) string {
	if !p || text == "" || shade == "" {
		return text
	}
	return shade + text + noColor
}

// firstWords colours lines by their first word, which must be at the beginning: only the word, or with whole the line.
func (p palette) firstWords(text string, shades map[string]string, whole bool) string {
	if !p {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		word := strings.TrimRight(line, "\n")
		if !whole {
			word, _, _ = strings.Cut(word, " ")
		}
		b.WriteString(p.in(shades[word], word) + line[len(word):])
	}
	return b.String()
}

// explanation colours the output of writeExplanation.
func (p palette) explanation(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	return p.in(bold, first) + "\n" + p.firstWords(rest, map[string]string{"rules": blue, "facts": blue, "the policy's own when": blue}, true)
}

// painted writes the output of write, coloured by paint.
func painted(w io.Writer, write func(io.Writer) error, paint func(string) string) error {
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, paint(b.String()))
	return err
}

// stateShade returns the colour of a loop's state.
func stateShade(state project.State) string {
	switch state {
	case project.StateRunning, project.StateDone, project.StateReady:
		return green
	case project.StateUnusable, project.StateFailed, project.StateLost:
		return red
	}
	return yellow
}
