package shellwords

import (
	"os/exec"
	"runtime"
	"strings"
)

// Shell returns the shell for a command that a person writes, without the command: sh, or cmd on a system without one.
func Shell() []string {
	if _, err := exec.LookPath("sh"); err != nil && runtime.GOOS == "windows" {
		return []string{"cmd", "/c"}
	}
	return []string{"sh", "-c"}
}

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

// Program returns the path of a program quoted as the first word of a line. PowerShell takes a word that begins with a quote for a
// string, so on Windows only what needs quotes has them: C:\my" "bin\ralph.exe, which cmd.exe reads in the same way.
func Program(goos, path string) string {
	if goos != "windows" {
		return Quote(goos, path)
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(path); i++ {
		next := strings.TrimLeft(path[i:], `\`) // a quote after a backslash would be part of the word
		if quote := next != "" && !IsPlain(next[0]); quote != quoted {
			b.WriteByte('"')
			quoted = quote
		}
		b.WriteByte(path[i])
	}
	if quoted {
		b.WriteByte('"')
	}
	return b.String()
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
