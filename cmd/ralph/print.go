package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// encodeJSON writes a report for programs.
func (a *app) encodeJSON(v any) error {
	out, err := asJSON(v)
	if err == nil {
		_, err = a.stdout.Write(out)
	}
	return err
}

// asJSON is a report for programs.
func asJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// plural writes a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

// oneLine is a text with a blank in place of each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// jsonText is a value as JSON in one line.
func jsonText(v any) string { return cmp.Or(string(jsontext.Encode(v)), fmt.Sprint(v)) }

// shownValue is a value as JSON in one line. A trace holds a long list or object as the beginning of its JSON.
func shownValue(v any) string {
	if s, ok := v.(string); ok && len(s) > len("[…") && strings.ContainsAny(s[:1], "[{") && strings.HasSuffix(s, "…") {
		return s
	}
	return jsonText(v)
}

// took is a duration for people, with two blanks before it: "" below a millisecond.
func took(d time.Duration) string {
	switch {
	case d >= time.Second:
		return "  " + d.Round(10*time.Millisecond).String()
	case d >= time.Millisecond:
		return "  " + d.Round(time.Millisecond).String()
	}
	return ""
}

// ago says how long ago something was.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "at an unknown time"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min ago", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// wordList joins words as a sentence does.
func wordList(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
