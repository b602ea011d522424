package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// Passed reports whether a command ran and succeeded the last time. The command is named by its first words: "go test"
// also matches "go test ./...". It may follow other commands and assignments, as in "cd api && CGO_ENABLED=0 go test
// ./...", but does not count where its status is lost: before ; or | or ||, or in the background. An empty name matches
// nothing. With sinceEdit, a command before the latest edit that did not fail does not count.
func Passed(actions []Action, name string, sinceEdit bool) bool {
	name = oneLine(name)
	for _, a := range slices.Backward(actions) {
		if name == "" || sinceEdit && len(a.Edits) > 0 && !a.failed {
			return false
		}
		if ran, seen := runs(a.Command, name); ran {
			return seen && a.OK
		}
	}
	return false
}

// runs reports whether a shell line runs the named command, and whether the status of the line is that of the command.
func runs(line, name string) (ran, seen bool) {
	seen = true // until something after the command hides its status
	words := shellwords.SplitCommands(line)
	for len(words) > 0 && (words[len(words)-1].Raw == ";" || words[len(words)-1].Raw == "\n") {
		words = words[:len(words)-1] // nothing follows that could hide a status
	}
	for end := len(words); ; end-- {
		start := end
		for start > 0 && !words[start-1].Operator {
			start--
		}
		if begins(words[start:end], name) {
			return true, seen
		}
		if end = start; end == 0 {
			return false, false
		}
		seen = seen && words[end-1].Raw == "&&"
	}
}

// begins reports whether a simple command begins with the words of name.
func begins(command []shellwords.Word, name string) bool {
	for len(command) > 0 {
		before, _, set := strings.Cut(command[0].Raw, "=")
		if !set || !isVariable(before) {
			break
		}
		command = command[1:]
	}
	var line strings.Builder
	for _, w := range command {
		line.WriteString(w.Raw + " ")
	}
	return strings.HasPrefix(line.String(), name+" ")
}

func isVariable(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
