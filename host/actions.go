package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// maxActions bounds how many actions of a turn are looked at.
const maxActions = 1000

// Action is a shell command that the agent ran, or an edit of files.
type Action struct {
	Command string
	Edits   []string // the files that a tool of the host wrote or edited, as named by the agent
	// OK reports whether the host recorded the end of the action as a success; a command needs status 0. It is false
	// for an action whose result is not in the file, that still runs in the background, or that was interrupted.
	OK bool

	failed bool // the host reported a failure
}

// Actions returns the shell commands that the agent ran and the files that it edited with the tools of its host in the
// current turn, oldest first.
func (s *Session) Actions() []Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Action
	ended := map[string]part{} // results by the ID of the use
	for _, e := range s.current() {
		for _, p := range slices.Backward(e.all()) {
			if p.kind == gave {
				ended[p.id] = p
			}
			if p.kind != used || len(all) >= maxActions {
				continue
			}
			if edits := p.edits(); len(edits) > 0 {
				all = append(all, Action{Edits: edits, OK: ended[p.id].ok, failed: ended[p.id].failed})
			} else if text := p.command(); text != "" {
				all = append(all, Action{Command: text, OK: ended[p.id].ok})
			}
		}
	}
	slices.Reverse(all)
	return all
}

// printedOK reports whether the output of a shell tool names no status other than 0.
func printedOK(v jsontext.Value) bool {
	if len(v) == 0 {
		return false
	}
	status, known := statusBehind(string(v), "Exit Code: ")
	return !known || status == "0"
}

// statusBehind returns the number after the last occurrence of before in s.
func statusBehind(s, before string) (status string, ok bool) {
	i := strings.LastIndex(s, before)
	if i < 0 {
		return "", false
	}
	s = s[i+len(before):]
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '-') {
		n++
	}
	return s[:n], n > 0
}

// command returns the shell command of a use, from an argument list or one line; "" if the use runs none or leaves it
// running.
func (p part) command() string {
	if p.text == "str_replace_editor" || p.value.Field("run_in_background").IsTrue() || p.value.Field("is_background").IsTrue() || p.value.Field("mode").Text() == "async" {
		return ""
	}
	for _, name := range []string{"command", "cmd"} {
		v := p.value.Field(name)
		if s := v.Text(); s != "" {
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

// edits returns the files that a use writes or edits.
func (p part) edits() []string {
	switch p.text {
	case "Write", "Edit", "MultiEdit", "NotebookEdit", // Claude Code, Droid, Cursor
		"write_file", "replace", "edit", // Gemini CLI, Qwen Code, Copilot CLI
		"create", "str_replace", "insert", "Create", "ApplyPatch", "StrReplace", "notebook_edit":
		for _, name := range []string{"file_path", "notebook_path", "path", "absolute_path"} {
			if file := p.value.Field(name).Text(); file != "" {
				return []string{file}
			}
		}
	case "str_replace_editor":
		if file := p.value.Field("path").Text(); file != "" && p.value.Field("command").Text() != "view" {
			return []string{file}
		}
	}
	if p.text == "apply_patch" || strings.HasPrefix(strings.TrimSpace(p.command()), "apply_patch") {
		return patched(p.patch())
	}
	return nil
}

// patch returns the patch of a use, which hosts pass in different arguments.
func (p part) patch() string {
	if s, ok := p.value.Decode(); ok {
		return s
	}
	for _, name := range []string{"input", "patch"} {
		if s := p.value.Field(name).Text(); s != "" {
			return s
		}
	}
	return p.command()
}
