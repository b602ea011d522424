package shellwords

import (
	"runtime"
	"strings"
)

// Line returns words quoted for a shell: that of POSIX systems, or cmd.exe on Windows.
func Line(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(runtime.GOOS, word)
	}
	return strings.Join(quoted, " ")
}

// Quote returns a word quoted for a shell of a system.
func Quote(goos, word string) string {
	switch {
	case Plain(word, goos == "windows"):
		return word
	case goos == "windows":
		return `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Plain reports whether a word needs no quotes in any shell; with cmd, a backslash needs none.
func Plain(word string, cmd bool) bool {
	for i := 0; i < len(word); i++ {
		if !IsPlain(word[i]) && (!cmd || word[i] != '\\') {
			return false
		}
	}
	return word != ""
}
