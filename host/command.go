package host

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// guard ends the line of a hook. Hosts take status 2 for a continuation, and a Go program that crashes before any of its code has run
// ends with 2, as some shells do that cannot start a process.
const guard = " || exit 1"

// words returns the command of an entry.
func (e Entry) words() []string {
	words := []string{e.Program, "eval", "--host", e.Host}
	for _, p := range e.Policies {
		words = append(words, "--policy", p)
	}
	for _, v := range e.Set {
		words = append(words, "--set", v)
	}
	if e.Project != "" {
		words = append(words, "--project", e.Project)
	}
	if e.OnlyApproved {
		words = append(words, "--only-approved")
	}
	if e.Once {
		words = append(words, "--once")
	}
	return words
}

// command returns words as a line for the shell that hosts use on a system, or as a program with its arguments.
//
// On Windows hosts use different shells, which agree only on words without special characters. There is no guard: not all of them know
// it. Without a list of arguments, other words are an error.
func command(goos string, words []string, arguments bool) (line string, args []string, err error) {
	if goos != "windows" {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = quote(w)
		}
		return strings.Join(quoted, " ") + guard, nil, nil
	}
	words = slices.Clone(words)
	words[0] = strings.ReplaceAll(words[0], `\`, "/") // Git Bash takes a backslash for a quote
	switch {
	case !slices.ContainsFunc(words, func(w string) bool { return !plain(w) }):
		return strings.Join(words, " "), nil, nil
	case arguments:
		return words[0], words[1:], nil
	}
	return "", nil, errors.New("the command needs quotes, which the shells of Windows read in different ways; " +
		"use a path of ralph and names without spaces and special characters")
}

// quote returns a word for a POSIX shell.
func quote(word string) string {
	if plain(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether a word needs no quotes in any shell.
func plain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("_-./:=,+@%", c)
	})
}

// asks reads the words of a command that asks ralph: a program called ralph, by its path or by PATH, with eval.
func asks(words []string) (e Entry, ok bool) {
	if len(words) < 2 || words[1] != "eval" || !strings.HasPrefix(base(words[0]), "ralph") {
		return Entry{}, false
	}
	e.Program = words[0]
	if i := slices.Index(words, "||"); i >= 0 {
		words = words[:i]
	}
	flags := pflag.NewFlagSet("eval", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.StringVar(&e.Host, "host", "", "")
	flags.StringVar(&e.Project, "project", "", "")
	flags.StringArrayVar(&e.Policies, "policy", nil, "")
	flags.StringArrayVar(&e.Set, "set", nil, "")
	flags.BoolVar(&e.OnlyApproved, "only-approved", false, "")
	flags.BoolVar(&e.Once, "once", false, "")
	_ = flags.Parse(words[2:]) // what comes before a slip counts
	return e, true
}

// base returns the name of a program, in lower case, by a path of any system.
func base(program string) string {
	return strings.ToLower(filepath.Base(strings.ReplaceAll(program, `\`, "/")))
}

// split returns the words of a line as a POSIX shell reads them, but for what a shell replaces. A backslash before a letter is part of a
// path of Windows.
func split(line string) (words []string) {
	const quoted = `'[^']*'|"(?:\\.|[^"\\])*"|\\\W`
	pieces := regexp.MustCompile(quoted)
	unescape := strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`")
	for _, word := range regexp.MustCompile(`(?:`+quoted+`|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, pieces.ReplaceAllStringFunc(word, func(piece string) string {
			switch piece[0] {
			case '\'':
				return piece[1 : len(piece)-1]
			case '"':
				return unescape.Replace(piece[1 : len(piece)-1])
			}
			return piece[1:]
		}))
	}
	return words
}
