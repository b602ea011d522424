package transcript

import (
	"context"
	"slices"
	"strings"
)

// maxCommands bounds how many commands of a turn are looked at.
const maxCommands = 1000

// Command is one shell command that the agent ran.
type Command struct {
	Text string
	// OK says that it came to its end with status 0, as far as the host tells. One whose result is not in the file, that
	// runs on in the background, or was interrupted, is not.
	OK bool
}

// Commands lists the shell commands that the agent ran in the current turn, oldest first. It reads the turn once more,
// within ctx and the byte budget, and knows the files of Claude Code and Codex; of others it gives nothing.
func (s *Session) Commands(ctx context.Context) []Command {
	if s.plain || s.lags() {
		return nil
	}
	file, size, err := open(s.path, s.options.Open)
	if err != nil {
		return nil
	}
	defer file.Close()
	lines := newTail(file, size, s.options.MaxBytes, ctx.Err)
	var all []Command
	ended := map[string]bool{} // the call's id to whether it went well
	for len(all) < maxCommands {
		line, ok, err := lines.line()
		if err != nil || !ok {
			break
		}
		e := parse(line, s.options.Subagent)
		if e.kind == opening {
			break
		}
		if e.kind != result && len(e.tools) == 0 {
			continue
		}
		var r record
		for c := value(clean(line)).members(); c.next(); {
			r.set(c.key, c.value)
		}
		switch {
		case e.kind == result:
			r.ends(ended)
		case r.payload != nil:
			id := member(r.payload, "call_id").text()
			if text := codexCommand(r.payload); text != "" {
				all = append(all, Command{text, ended[id]})
			}
		default:
			var calls []value
			for c := member(r.message, "content").elements(); c.next(); {
				calls = append(calls, c.value)
			}
			for _, call := range slices.Backward(calls) {
				input := member(call, "input")
				text := member(input, "command").text()
				if text != "" && !member(input, "run_in_background").isTrue() {
					all = append(all, Command{text, ended[member(call, "id").text()]})
				}
			}
		}
	}
	slices.Reverse(all)
	return all
}

// ends notes how the calls ended whose results a record holds.
func (r *record) ends(ended map[string]bool) {
	if r.payload != nil {
		ended[member(r.payload, "call_id").text()] = codexOK(member(r.payload, "output"))
		return
	}
	interrupted := member(r.toolUseResult, "interrupted").isTrue()
	for c := member(r.message, "content").elements(); c.next(); {
		if id := member(c.value, "tool_use_id").text(); id != "" {
			ended[id] = !interrupted && !member(c.value, "is_error").isTrue()
		}
	}
}

// codexCommand is the command of a call, "" if it runs none: the words of an argument list, or one line.
func codexCommand(payload value) string {
	arguments := member(payload, "arguments")
	if s, ok := arguments.decode(); ok {
		arguments = value(s)
	}
	for _, name := range []string{"command", "cmd"} {
		v := member(arguments, name)
		if s := v.text(); s != "" {
			return s
		}
		words := textsOf(v)
		if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			return words[2] // bash -lc LINE
		}
		if len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// codexOK reports whether the output of a call tells of status 0.
func codexOK(output value) bool {
	if s, ok := output.decode(); ok {
		if status := member(member(value(s), "metadata"), "exit_code"); status != nil {
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
	return string(member(member(output, "metadata"), "exit_code")) == "0"
}

// Passed reports whether a command ran, and went well the last time that it did. A command is named by its beginning,
// up to the end of a word: "go test" is also "go test ./...". It may stand after others and after settings of variables,
// as in "cd api && CGO_ENABLED=0 go test ./...", but not where its status is lost: before ; or | or ||, or in the
// background. An empty name is nobody's.
func Passed(commands []Command, name string) bool {
	name = oneLine(name)
	if name == "" {
		return false
	}
	for _, c := range slices.Backward(commands) {
		if ran, seen := runs(c.Text, name); ran {
			return seen && c.OK
		}
	}
	return false
}

// runs reports whether a shell line runs the named command, and whether the status of the line tells of it.
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
