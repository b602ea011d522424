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

// asJSON returns a report for programs.
func asJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

// oneLine returns a text with a blank instead of each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// jsonText returns a value as JSON on one line.
func jsonText(v any) string { return cmp.Or(string(jsontext.Encode(v)), fmt.Sprint(v)) }

// maxShownValue is how much of a value a line shows, in characters; --format json has what the log keeps.
const maxShownValue = 160

// shownValue returns a value as JSON on one line, shortened. A trace has only the beginning of a long list or object, as
// JSON.
func shownValue(v any) string {
	if s, ok := v.(string); ok && len(s) > len("[…") && strings.ContainsAny(s[:1], "[{") && strings.HasSuffix(s, "…") {
		return cut(s, maxShownValue)
	}
	return cut(jsonText(v), maxShownValue)
}

// took returns a duration with two blanks before it: "" below a millisecond.
func took(d time.Duration) string {
	switch {
	case d >= time.Second:
		return "  " + d.Round(10*time.Millisecond).String()
	case d >= time.Millisecond:
		return "  " + d.Round(time.Millisecond).String()
	}
	return ""
}

// ago returns how long ago t was.
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

// wordList joins words as in a sentence.
func wordList(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
