package main

import (
	"runtime"
	"strings"
)

// shellWords takes a simple command line apart, as a shell would. Of anything more
// than words it gives what it can: nothing depends on it but recognising ralph.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	in := false
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
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
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}

// shellLine writes words so that a shell reads them again: that of POSIX systems,
// or cmd.exe on Windows.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		plain := word != ""
		for j := 0; j < len(word) && plain; j++ {
			plain = isWordByte(word[j]) || runtime.GOOS == "windows" && word[j] == '\\'
		}
		switch {
		case plain:
			quoted[i] = word
		case runtime.GOOS == "windows":
			quoted[i] = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		default:
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// isWordByte reports whether c means nothing special to any shell.
func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=,+@%", c) >= 0
}
