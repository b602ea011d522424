package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// codexOK reports whether the output of a call has status 0.
func codexOK(output jsontext.Value) bool {
	if s, ok := output.Decode(); ok {
		if status := jsontext.Value(s).Field("metadata").Field("exit_code"); status != nil {
			return string(status) == "0"
		}
		for line := range strings.SplitSeq(s, "\n") {
			line = strings.TrimSpace(line)
			for _, begin := range []string{"Exit code: ", "Process exited with code "} {
				if code, ok := strings.CutPrefix(line, begin); ok {
					return code == "0"
				}
			}
		}
		return false
	}
	return string(output.Field("metadata").Field("exit_code")) == "0"
}

// Passed reports whether a command ran, and went well the last time that it did. A command is named by its beginning,
// up to the end of a word: "go test" is also "go test ./...". It may stand after others and after settings of variables,
// as in "cd api && CGO_ENABLED=0 go test ./...", but not where its status is lost: before ; or | or ||, or in the
// background. An empty name names none.
func Passed(actions []Action, name string) bool {
	name = oneLine(name)
	if name == "" {
		return false
	}
	for _, a := range slices.Backward(actions) {
		if ran, seen := runs(a.Command, name); ran {
			return seen && a.OK
		}
	}
	return false
}

// runs reports whether a shell line runs the named command, and whether the status of the line is that of the command.
func runs(line, name string) (ran, seen bool) {
	seen = true // until something behind the command hides its status
	parts := splitShell(line)
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		if p.operator != "" && p.operator != "&&" {
			seen = false
		}
		if begins(p.text, name) {
			return true, seen
		}
	}
	return false, false
}

// begins reports whether a simple command begins with the words of name.
func begins(command, name string) bool {
	command = oneLine(command)
	for {
		word, rest, ok := strings.Cut(command, " ")
		if before, _, set := strings.Cut(word, "="); !ok || !set || !isVariable(before) {
			break
		}
		command = rest
	}
	rest, ok := strings.CutPrefix(command, name)
	return ok && (rest == "" || rest[0] == ' ')
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

// shellPart is a simple command and the operator behind it, "" for the last one.
type shellPart struct{ text, operator string }

// splitShell takes a shell line apart at the operators that stand outside of quotes. It is no parser of a shell: what
// it does not understand stays within a part, which then begins with something else than a command's name.
func splitShell(line string) []shellPart {
	var parts []shellPart
	start := 0
	for i := 0; i < len(line); i++ {
		n := 0
		switch c := line[i]; c {
		case '\\':
			i++
			continue
		case '\'', '"':
			end := closingQuote(line, i)
			if end < 0 {
				return append(parts, shellPart{text: line[start:]})
			}
			i = end
			continue
		case '&':
			switch {
			case strings.HasPrefix(line[i:], "&&"):
				n = 2
			case i > 0 && (line[i-1] == '>' || line[i-1] == '<'), strings.HasPrefix(line[i:], "&>"):
				continue // 2>&1
			default:
				n = 1
			}
		case '|':
			n = 1
			if strings.HasPrefix(line[i:], "||") || strings.HasPrefix(line[i:], "|&") {
				n = 2
			}
		case ';', '\n':
			n = 1
		default:
			continue
		}
		operator := line[i : i+n]
		if strings.TrimSpace(line[i+n:]) == "" && (operator == ";" || operator == "\n") {
			operator = "" // nothing follows that could hide a status
		}
		parts = append(parts, shellPart{line[start:i], operator})
		start = i + n
		i = start - 1
	}
	return append(parts, shellPart{text: line[start:]})
}

func closingQuote(line string, from int) int {
	quote := line[from]
	for i := from + 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quote == '"':
			i++
		case line[i] == quote:
			return i
		}
	}
	return -1
}
