package shellwords

import (
	"runtime"
	"strings"
)

// Line writes words so that a shell reads them again: that of POSIX systems,
// or cmd.exe on Windows.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(runtime.GOOS, word)
	}
	return strings.Join(quoted, " ")
}

// Quote writes a word so that a shell of a system reads it again.
func Quote(goos, word string) string {
	switch {
	case Plain(word, goos == "windows"):
		return word
	case goos == "windows":
		return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Plain reports whether a word needs no quotes in any shell; cmd.exe takes a
// backslash too.
func Plain(word string, cmd bool) bool {
	for i := 0; i < len(word); i++ {
		if !IsPlain(word[i]) && (!cmd || word[i] != '\\') {
			return false
		}
	}
	return word != ""
}
