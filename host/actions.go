package host

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// maxActions bounds how many actions of a turn are looked at.
const maxActions = 1000

// Action is a shell command that the agent ran, or an edit of files.
type Action struct {
	Command string
	Edits   []string // the files that a tool of the host wrote or edited, as the agent named them
	// OK says that it came to its end, a command with status 0, as far as the host says. One whose result is not in the
	// file, that runs on in the background, or was interrupted, is not.
	OK bool

	failed bool // the host says that it did not succeed
}

// Actions lists the shell commands that the agent ran and the files that it edited with the tools of its host in the
// current turn, oldest first. It reads the turn once more, within ctx and the byte budget.
func (s *Session) Actions(ctx context.Context) []Action {
	if s.lags() {
		return nil
	}
	var all []Action
	ended := map[string]bool{} // the call's id to whether it went well
	for e, r := range s.records(ctx.Err) {
		if e.kind == opening || len(all) >= maxActions {
			break
		}
		if e.kind == result {
			r.ends(ended)
		}
		if len(e.tools) == 0 {
			continue
		}
		for _, call := range slices.Backward(r.calls()) {
			ok, known := ended[call.id]
			if call.ended != nil {
				ok, known = *call.ended, true
			}
			if edits := call.edits(); len(edits) > 0 {
				all = append(all, Action{Edits: edits, OK: ok, failed: known && !ok && !call.lenient})
			} else if text := call.command(); text != "" {
				all = append(all, Action{Command: text, OK: ok})
			}
		}
	}
	slices.Reverse(all)
	return all
}

// call is one use of a tool.
type call struct {
	id, name string
	input    jsontext.Value
	ended    *bool // how it ended, where the same record says it
	lenient  bool  // how it ended does not say whether it failed
}

// calls lists the uses of tools that a record of the agent holds.
func (r *record) calls() []call {
	var all []call
	add := func(id, name, input jsontext.Value) {
		if s, ok := input.Decode(); ok && strings.HasPrefix(s, "{") {
			input = jsontext.Value(s)
		}
		all = append(all, call{id: id.Text(), name: name.Text(), input: input})
	}
	switch {
	case r.payload != nil:
		input := r.payload.Field("arguments")
		for _, other := range []string{"input", "action"} {
			if input == nil {
				input = r.payload.Field(other)
			}
		}
		add(r.payload.Field("call_id"), r.payload.Field("name"), input)
		all[0].lenient = true
	case r.data != nil:
		for c := r.data.Field("toolRequests").Elements(); c.Next(); {
			add(c.Value.Field("toolCallId"), c.Value.Field("name"), c.Value.Field("arguments"))
		}
	case r.toolCalls != nil:
		for c := r.toolCalls.Elements(); c.Next(); {
			add(c.Value.Field("id"), c.Value.Field("name"), c.Value.Field("args"))
			ok := c.Value.Field("status").Text() == "success" && printedOK(c.Value)
			all[len(all)-1].ended = &ok
		}
	default:
		for c := r.messageContent().Elements(); c.Next(); {
			if use := c.Value.Field("functionCall"); use.There() {
				add(use.Field("id"), use.Field("name"), use.Field("args"))
			} else if c.Value.Field("name").There() {
				add(c.Value.Field("id"), c.Value.Field("name"), c.Value.Field("input"))
			}
		}
	}
	return all
}

// ends notes how the calls ended whose results a record holds.
func (r *record) ends(ended map[string]bool) {
	switch {
	case r.payload != nil:
		ended[r.payload.Field("call_id").Text()] = codexOK(r.payload.Field("output"))
		return
	case r.data != nil:
		ok := r.data.Field("success").IsTrue()
		if code := r.data.Field("shellExecution").Field("exitCode"); code.There() {
			ok = ok && string(code) == "0"
		}
		if status, known := statusBehind(r.data.Field("result").Field("content").Text(), " with exit code "); known {
			ok = ok && status == "0"
		}
		ended[r.data.Field("toolCallId").Text()] = ok
		return
	}
	interrupted := r.toolUseResult.Field("interrupted").IsTrue()
	for c := r.message.Field("content").Elements(); c.Next(); {
		if id := c.Value.Field("tool_use_id").Text(); id != "" {
			ended[id] = !interrupted && !c.Value.Field("is_error").IsTrue()
		}
	}
	for c := r.message.Field("parts").Elements(); c.Next(); {
		response := c.Value.Field("functionResponse")
		if id := response.Field("id").Text(); id != "" {
			status := r.toolCallResult.Field("status").Text()
			ended[id] = (status == "" || status == "success") && !response.Field("response").Field("error").There() && printedOK(response)
		}
	}
}

// printedOK reports whether what a shell tool gave back names no status but 0.
func printedOK(v jsontext.Value) bool {
	if len(v) == 0 {
		return false
	}
	status, known := statusBehind(string(v), "Exit Code: ")
	return !known || status == "0"
}

// statusBehind is the number behind the last occurrence of a text.
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

// command is the shell command of a call, "" if it runs none or leaves it running: the words of an argument list, or one
// line.
func (c call) command() string {
	if c.name == "str_replace_editor" || c.input.Field("run_in_background").IsTrue() || c.input.Field("is_background").IsTrue() || c.input.Field("mode").Text() == "async" {
		return ""
	}
	for _, name := range []string{"command", "cmd"} {
		v := c.input.Field(name)
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

// edits lists the files that a call writes or edits.
func (c call) edits() []string {
	switch c.name {
	case "Write", "Edit", "MultiEdit", "NotebookEdit", // Claude Code, Droid, Cursor
		"write_file", "replace", "edit", // Gemini CLI, Qwen Code, Copilot CLI
		"create", "str_replace", "insert", "Create", "ApplyPatch", "StrReplace", "notebook_edit":
		for _, name := range []string{"file_path", "notebook_path", "path", "absolute_path"} {
			if file := c.input.Field(name).Text(); file != "" {
				return []string{file}
			}
		}
	case "str_replace_editor":
		if file := c.input.Field("path").Text(); file != "" && c.input.Field("command").Text() != "view" {
			return []string{file}
		}
	}
	if c.name == "apply_patch" || strings.HasPrefix(strings.TrimSpace(c.command()), "apply_patch") {
		return patched(c.patch())
	}
	return nil
}

// patch is the text of a patch, in whichever argument it stands.
func (c call) patch() string {
	if s, ok := c.input.Decode(); ok {
		return s
	}
	for _, name := range []string{"input", "patch"} {
		if s := c.input.Field(name).Text(); s != "" {
			return s
		}
	}
	return c.command()
}

// PassedSinceEdit reports whether a command passed, as [Passed] has it, and the agent edited no file since it ran.
func PassedSinceEdit(actions []Action, name string) bool {
	name = oneLine(name)
	if name == "" {
		return false
	}
	for _, a := range slices.Backward(actions) {
		if len(a.Edits) > 0 {
			if !a.failed {
				return false
			}
		} else if ran, seen := runs(a.Command, name); ran {
			return seen && a.OK
		}
	}
	return false
}
