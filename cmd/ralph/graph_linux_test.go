package main

import (
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal gets text, in lines that fit.
func TestGraphOnATerminal(t *testing.T) {
	outer, inner := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(inner.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 60}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		out, _ := io.ReadAll(outer) // ends with an error, since the other end is closed
		shown <- string(out)
	}()
	var errs strings.Builder
	a := &app{stdin: strings.NewReader(""), stdout: inner, stderr: &errs, getenv: func(string) string { return "" }}
	status := a.run(t.Context(), []string{"graph", "speckit", "--project", t.TempDir()})
	inner.Close()
	out := <-shown
	if status != 0 || errs.Len() > 0 || !strings.Contains(out, "next-task: phase == \"execution\"") || strings.Contains(out, "<svg") {
		t.Errorf("status %d: %s\n%s", status, errs.String(), out)
	}
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimSpace(line))); n > 60 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}
