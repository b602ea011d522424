package rules

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// Each line of rewordings maps a message of expr, which is terse and about Go, to one for users who write policies: a
// pattern of the message, a text and a help, separated by tabs. In text and help ${1} is a group of the pattern, ${q1}
// the same in quotes, ${l1} in lower case, ${t1} the users' name of a Go type. A line without help passes its text to
// the lines below; a line without text keeps the message.
//
//go:embed rewordings.txt
var rewordings string

// reworder is parsed at the first error: a hook has none.
var reworder = sync.OnceValue(func() (lines []rewording) {
	for line := range strings.Lines(rewordings) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "", "")
		lines = append(lines, rewording{regexp.MustCompile(f[0]), f[1], f[2]})
	}
	return lines
})

type rewording struct {
	pattern    *regexp.Regexp
	text, help string
}

// reword returns a message of expr in users' terms, and what to write or "".
func reword(message string) (text, help string) {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.TrimSpace(strings.TrimPrefix(message, "compilation failed: "))
	text = message
	placeholder := regexp.MustCompile(`\$\{[qtl]?\d\}`)
	for _, r := range reworder() {
		groups := r.pattern.FindStringSubmatch(text)
		if groups == nil {
			continue
		}
		expand := func(text string) string {
			return placeholder.ReplaceAllStringFunc(text, func(name string) string {
				group := groups[name[len(name)-2]-'0']
				switch name[2] {
				case 'q':
					return quote(group)
				case 't':
					return typeWord(group)
				case 'l':
					return strings.ToLower(group)
				}
				return group
			})
		}
		if r.text != "" {
			text = expand(r.text)
		}
		if help = expand(r.help); help != "" {
			break
		}
	}
	if text == message {
		text = plainTypes(message)
	}
	return text, help
}

// typeWord returns the users' name of a Go type.
func typeWord(t string) string {
	switch strings.TrimSpace(t) {
	case "string":
		return "a string"
	case "int", "float64", "int64", "uint8":
		return "a number"
	case "bool":
		return "true or false"
	case "nil", "<nil>":
		return "nil"
	case "time.Duration":
		return "a duration"
	case "time.Time":
		return "a time"
	case "interface {}", "unknown":
		return "anything"
	}
	switch {
	case strings.HasPrefix(t, "[]"):
		return "an array"
	case strings.HasPrefix(t, "map["):
		return "an object"
	case strings.HasPrefix(t, "func("):
		return "a function"
	}
	return strings.TrimSpace(t)
}

// plainTypes replaces remaining Go types in a message.
func plainTypes(s string) string {
	return strings.NewReplacer(
		"interface conversion: interface {} is nil, not ", "expected a value; got nothing instead of ",
		"interface conversion: interface {} is ", "expected another kind of value; got ",
		"map[string]interface {}", "an object", "[]interface {}", "an array",
		"<nil>", "nothing",
		"time: invalid duration", "invalid duration:", "time: missing unit in duration", "invalid duration, a unit is missing:",
		"time.Duration", "duration", "time.Time", "time", "float64", "number",
	).Replace(s)
}

const unclosedBracket = "unclosed bracket"

// refine moves a syntax error to its cause: the bracket, quote or comment that is never closed, or the whole of an
// operator from another language.
func refine(err *exprError, src string) *exprError {
	runes := []rune(src)
	switch {
	case strings.Contains(err.message, "token EOF"), strings.Contains(err.message, "end of expression"):
		if at := unclosed(src); at >= 0 {
			return &exprError{at, at + 1, unclosedBracket}
		}
		end := len(strings.TrimRight(src, " \t\r\n"))
		return &exprError{max(0, utf8.RuneCountInString(src[:end])-1), len(runes), err.message}
	case err.message == "literal not terminated":
		if at := unclosed(src); at >= 0 {
			return &exprError{at, at + 1, err.message}
		}
	case err.message == "unclosed comment":
		if i := strings.LastIndex(src, "/*"); i >= 0 {
			at := utf8.RuneCountInString(src[:i])
			return &exprError{at, at + 2, err.message}
		}
	case strings.HasPrefix(err.message, "unexpected token Operator("):
		for _, op := range [...]string{"===", "!==", "<>"} {
			for from := max(0, err.from-2); from <= err.from; from++ {
				if to := from + len(op); to <= len(runes) && string(runes[from:to]) == op {
					return &exprError{from, to, `unexpected token Operator("` + op + `")`}
				}
			}
		}
	}
	return err
}

// unclosed returns the offset, in runes, of the quote or bracket that is never closed, or -1.
func unclosed(src string) int {
	if at := yamltree.Unclosed(src); at >= 0 {
		return utf8.RuneCountInString(src[:at])
	}
	return -1
}
