// Package shellwords splits and quotes shell command lines. It is not a shell parser: it returns unsupported syntax,
// such as a loop, as words. Start with [Split].
package shellwords

import "strings"

// A Word is a word of a line, or an operator between two commands.
type Word struct {
	Text     string
	Raw      string // as in the line, with quotes
	Operator bool   // && || | |& ; & or the end of a line
}

// Split splits a line with one command, as a POSIX shell would, except that a backslash before a character that no
// shell quotes is part of a Windows path. After an unclosed quote the rest of the line is one word. The only operator
// is the end of a line.
func Split(line string) []Word {
	return split(line, func(line string, i int) int {
		if line[i] == '\n' {
			return 1
		}
		return 0
	})
}

// SplitCommands splits a line with several commands.
func SplitCommands(line string) []Word { return split(line, operator) }

func split(line string, operator func(line string, i int) int) []Word {
	var words []Word
	var text strings.Builder
	start := -1 // of the word, or -1
	quote := byte(0)
	end := func(i int) {
		if start >= 0 {
			words = append(words, Word{Text: text.String(), Raw: line[start:i]})
			text.Reset()
			start = -1
		}
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		if quote == 0 {
			if c == ' ' || c == '\t' {
				end(i)
				continue
			}
			if n := operator(line, i); n > 0 {
				end(i)
				words = append(words, Word{line[i : i+n], line[i : i+n], true})
				i += n - 1
				continue
			}
			if start < 0 {
				start = i
			}
		}
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'' || quote == '"' && c != '\\':
			text.WriteByte(c)
		case c == '\\' && i+1 < len(line) && escapes(quote, line[i+1]):
			i++
			text.WriteByte(line[i])
		case c == '\'' || c == '"':
			quote = c
		default:
			text.WriteByte(c)
		}
	}
	end(len(line))
	return words
}

// escapes reports whether a backslash before c, in quotes or not, is not part of the word.
func escapes(quote, c byte) bool {
	if quote == '"' {
		return strings.IndexByte("$`\"\\\n", c) >= 0
	}
	return !IsPlain(c)
}

// operator returns the length of the operator at i, or 0.
func operator(line string, i int) int {
	rest := line[i:]
	switch line[i] {
	case ';', '\n':
		return 1
	case '|':
		if strings.HasPrefix(rest, "||") || strings.HasPrefix(rest, "|&") {
			return 2
		}
		return 1
	case '&':
		switch {
		case strings.HasPrefix(rest, "&&"):
			return 2
		case strings.HasPrefix(rest, "&>"), i > 0 && (line[i-1] == '>' || line[i-1] == '<'):
			return 0 // of a redirection, as in 2>&1
		}
		return 1
	}
	return 0
}

// IsPlain reports whether c has no special meaning in any shell.
func IsPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=,+@%", c) >= 0
}
