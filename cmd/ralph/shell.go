package main

import (
	"runtime"
	"strings"

	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// guard stands before a command line of ralph: no shell line that begins with it ends
// with status 2, which hosts read as "continue". Go ends with 2 if it crashes before
// any code of the program has run, and so do some shells that cannot start a process.
const guard = "trap '[ $? -ne 2 ] || exit 1' EXIT; "

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
		if !shellwords.IsPlain(word[i]) && (!cmd || word[i] != '\\') {
			return false
		}
	}
	return word != ""
}
