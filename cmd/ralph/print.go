package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

// encodeJSON writes a report for programs.
func (a *app) encodeJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
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
func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// yamlText is a value on one line of YAML. Texts are in quotes, but for short words
// within lists and objects. A trace holds a long list or object as the beginning of
// its JSON.
func yamlText(v any) string {
	src, cut := jsonText(v), false
	if s, ok := v.(string); ok {
		if s, cut = strings.CutSuffix(s, "…"); !cut || s == "" || !strings.ContainsAny(s[:1], "[{") {
			return src
		}
		src = s
	}
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber()
	var b strings.Builder
	type level struct {
		object bool
		n      int // tokens in it
	}
	var open []level
	for tokens := 0; ; tokens++ {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return b.String()
		}
		if err != nil {
			if tokens < 2 { // a text that only looks so
				return jsonText(v)
			}
			return strings.TrimRight(b.String(), ", ") + " …"
		}
		if d, ok := t.(json.Delim); ok && (d == ']' || d == '}') {
			open = open[:len(open)-1]
			b.WriteString(d.String())
			continue
		}
		if n := len(open); n > 0 {
			switch in := &open[n-1]; {
			case in.object && in.n%2 == 1:
				b.WriteString(": ")
			case in.n > 0:
				b.WriteString(", ")
			}
			open[n-1].n++
		}
		switch t := t.(type) {
		case json.Delim:
			open = append(open, level{object: t == '{'})
			b.WriteString(t.String())
		case string:
			if len(open) > 0 && isPlainYAML(t) {
				b.WriteString(t)
			} else {
				b.WriteString(jsonText(t))
			}
		case nil:
			b.WriteString("null")
		default:
			fmt.Fprint(&b, t)
		}
	}
}

// isPlainYAML reports whether YAML reads a text as itself without quotes, in a list
// or object on one line.
func isPlainYAML(s string) bool {
	for i, r := range s {
		letter := r == '_' || unicode.IsLetter(r)
		if !letter && (i == 0 || !unicode.IsDigit(r) && !strings.ContainsRune(" ./-", r)) {
			return false
		}
	}
	return s != "" && s[len(s)-1] != ' ' && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off"}, strings.ToLower(s))
}

// took writes a duration with as many digits as say something.
func took(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(100 * time.Nanosecond).String()
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
