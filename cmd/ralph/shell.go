package main

import (
	"runtime"
	"strings"
)

// guard stands before a command line of ralph: no shell line that begins with it ends
// with status 2, which hosts read as "continue". Go ends with 2 if it crashes before
// any code of the program has run, and so do some shells that cannot start a process.
const guard = "trap '[ $? -ne 2 ] || exit 1' EXIT; "

// A shellWord is a word of a command line.
type shellWord struct {
	text string
	raw  string // as the line has it, with its quotes
}

// shellWords takes a simple command line apart, as a shell would. Of anything more
// than words it gives what it can, and the raw words are the line all the same.
func shellWords(line string) []shellWord {
	var words []shellWord
	var word strings.Builder
	in := false
	start := 0
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		if !in {
			start = i
		}
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'' || quote == '"' && c != '\\':
			word.WriteByte(c)
		case c == '\\' && i+1 < len(line) && (quote == '"' || !isWordByte(line[i+1])):
			i++
			word.WriteByte(line[i])
			in = true
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, shellWord{word.String(), line[start:i]})
				word.Reset()
				in = false
			}
			if c == '\n' { // it ends a command, as ; does
				words = append(words, shellWord{"\n", "\n"})
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, shellWord{word.String(), line[start:]})
	}
	return words
}

// shellLine writes words so that a shell reads them again: that of POSIX systems,
// or cmd.exe on Windows.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(runtime.GOOS, word)
	}
	return strings.Join(quoted, " ")
}

func shellQuote(goos, word string) string {
	switch {
	case plain(word, goos == "windows"):
		return word
	case goos == "windows":
		return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether a word needs no quotes in any shell; cmd.exe takes a
// backslash too.
func plain(word string, cmd bool) bool {
	for i := 0; i < len(word); i++ {
		if !isWordByte(word[i]) && (!cmd || word[i] != '\\') {
			return false
		}
	}
	return word != ""
}

// isWordByte reports whether c means nothing special to any shell.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=,+@%", c) >= 0
}
