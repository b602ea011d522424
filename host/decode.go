package host

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
)

// MaxInput is the largest input of a hook in bytes.
const MaxInput = 64 << 20

const (
	maxValue = 1 << 20 // bytes of a list or an object in an input that is read

	stop         = "Stop"
	subagentStop = "SubagentStop"
	promptSubmit = "UserPromptSubmit"
)

// Decode reads the input of a hook. name is that of its host, or "" to tell it from the input. env is the environment of the hook; it
// says where the host keeps session files and task lists.
//
// Fields of a wrong type count as missing, and unknown ones are ignored. If the input names no directory, Event.Dir is CLAUDE_PROJECT_DIR,
// else ".", since such hosts run their hooks there. It is "" if what the input names is none; then nothing should be decided.
// A turn that failed has Event.Failed. The event reads the session file and the task list when it is asked for them.
//
// The error says why the input cannot be used: the agent may stop, and [Encode] shows it as a decision's Err. The host is never nil.
func Decode(name string, input []byte, env func(string) string) (*Host, loop.Event, error) {
	portable := hosts[len(hosts)-1]
	h := portable
	if name != "" {
		var err error
		if h, err = Lookup(name); err != nil {
			return portable, loop.Event{}, err
		}
	}
	in, err := parse(input)
	if err != nil {
		return h, loop.Event{}, fmt.Errorf("hook input: %w", err)
	}
	if name == "" {
		h = detect(in)
	}
	return h, h.event(in, env), nil
}

// event returns the event of an input.
func (h *Host) event(in object, env func(string) string) loop.Event {
	for name, theirs := range h.fields {
		if raw, ok := in[theirs]; ok {
			in[name] = raw
		}
	}
	ev := loop.Event{Name: in.text("hook_event_name"), Session: in.text("session_id"), Dir: ".", Names: map[string]any{}}
	if dir := env("CLAUDE_PROJECT_DIR"); filepath.IsAbs(dir) {
		ev.Dir = dir
	}
	ev.Name = h.ours(ev.Name)
	if _, there := in["cwd"]; there {
		ev.Dir = in.text("cwd")
	} else if roots := decoded[[]string](in[h.roots]); len(roots) > 0 {
		ev.Dir = roots[0]
	}
	for _, name := range []string{"permission_mode", "agent_id", "agent_type", "prompt"} {
		if s := joined(in[name]); s != "" {
			ev.Names[name] = s
		}
	}
	if crons := in.objects("session_crons", map[string]any{"id": "", "schedule": "", "prompt": "", "recurring": false}); crons != nil {
		ev.Names["session_crons"] = crons
	}
	tasks := in.objects("background_tasks", map[string]any{"id": "", "type": "", "status": "", "description": ""})
	switch {
	case ev.Name == "":
		ev.Name = stop
	case ev.Name == "StopFailure":
		ev.Name, ev.Failed = stop, failure(in.text("error"), in.text("error_details"))
	}
	if ev.Name == stop && in.text("agent_id") != "" {
		ev.Name = subagentStop
	}
	if ev.Name == subagentStop {
		tasks = others(tasks, in.text("agent_id"), in.text("agent_type"))
	}
	if tasks != nil {
		ev.Names["background_tasks"] = tasks
	}
	h.prompt.tell(in, &ev)
	for _, name := range messages {
		if ev.Message == "" && stops(ev.Name) {
			ev.Message = joined(in[name])
		}
	}
	if h.refine != nil {
		h.refine(in, &ev)
	}
	if stops(ev.Name) || ev.Name == promptSubmit {
		h.attach(in, env, &ev)
	}
	return ev
}

// attach adds to the event its conversation and its task list, and looks whether the turn failed. The list has the session's name unless
// the person named another.
func (h *Host) attach(in object, env func(string) string, ev *loop.Event) {
	s := &session{record: h.file.read, message: ev.Message, prompt: ev.PromptID, asked: in.text("timestamp")}
	switch path := in.text("transcript_path"); {
	case ev.Name == subagentStop:
		s.path, s.subagent = in.text("agent_transcript_path"), true
	case path != "":
		s.path = path
	default:
		s.find = func() string { return sessionFile(h.own(env, "."), h.file.pattern, ev.Session) }
	}
	if s.patience = lag; s.path == "" {
		s.patience = 0 // what looks for the file comes after the agent has ended
	}
	if h.file.read == nil {
		s.path, s.find = "", nil
	}
	if s.path != "" || s.find != nil {
		ev.Conversation = s
	}
	if ev.Failed == "" && s.path != "" && stops(ev.Name) {
		ev.Failed = s.failed()
	}
	if h.tasks != "" {
		ev.Tasks = func(ctx context.Context) ([]any, error) {
			return readTasks(ctx, h.own(env, h.tasks), cmp.Or(env("CLAUDE_CODE_TASK_LIST_ID"), ev.Session))
		}
	}
}

// stops reports whether an agent asks at the event whether it may stop.
func stops(event string) bool { return event == "" || event == stop || event == subagentStop }

// tell fills in what the input says about the prompt.
func (p prompt) tell(in object, ev *loop.Event) {
	flag, known := in.flag("stop_hook_active")
	count := -1
	counted := json.Unmarshal(in[p.count], &count) == nil && count >= 0
	if counted {
		flag, known = count > 0, true
	}
	known = known && (p.flag || counted)
	if known {
		ev.Names["stop_hook_active"] = flag
	}
	switch {
	case in.text(p.id) != "":
		ev.PromptID = in.text(p.id)
	case in.text(p.text) != "" && stops(ev.Name): // the words are not kept; a prompt event may have a reason to continue as its text
		sum := sha256.Sum256([]byte(in.text(p.text)))
		ev.PromptID = hex.EncodeToString(sum[:16])
	case known: // of a subagent the flag is its own
		ev.NewPrompt = !flag && ev.Name != subagentStop
	default:
		ev.AfterStop = true
	}
}

// messages are the fields in which the agent's last message may be, also of older hosts and wrappers.
var messages = []string{"last_assistant_message", "assistant_response", "response", "content", "message", "text"}

// joined returns a text, those of a list joined by blanks, or the text or content of an object.
func joined(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		return decoded[string](raw)
	case len(raw) > maxValue:
	case raw[0] == '[':
		var parts []string
		for _, part := range decoded[[]json.RawMessage](raw) {
			parts = append(parts, joined(part))
		}
		return strings.Join(parts, " ")
	case raw[0] == '{':
		in := decoded[object](raw)
		if s := joined(in["text"]); s != "" {
			return s
		}
		return joined(in["content"])
	}
	return ""
}

// others returns the background tasks without the subagent that ends: hosts list it as still running.
func others(tasks []any, id, kind string) []any {
	i := slices.IndexFunc(tasks, func(t any) bool { return id != "" && t.(map[string]any)["id"] == id })
	if i < 0 {
		i = slices.IndexFunc(tasks, func(t any) bool {
			task := t.(map[string]any)
			return kind != "" && task["type"] == "subagent" && task["agent_type"] == kind && task["status"] == "running"
		})
	}
	if i < 0 {
		return tasks
	}
	return slices.Delete(tasks, i, i+1)
}

// failure says why a turn failed, by the host's code and its message.
func failure(code, message string) string {
	why := strings.TrimPrefix(strings.TrimSuffix(code+": "+message, ": "), ": ")
	return text.Cut(text.Line(cmp.Or(why, "the host does not say why")), 300)
}

// object is the input of a hook. Its values are decoded when they are read, so that the others cost nothing.
type object map[string]json.RawMessage

// parse reads one JSON object, with a byte order mark before it, and white space or zero bytes after it, as some hosts write them.
func parse(input []byte) (object, error) {
	doc := bytes.Trim(bytes.TrimPrefix(input, []byte("\ufeff")), " \t\r\n\x00")
	switch {
	case len(input) > MaxInput:
		return nil, fmt.Errorf("it is larger than %d MiB", MaxInput>>20)
	case len(doc) == 0:
		return nil, errors.New("it is empty; a host sends one JSON object on standard input")
	case doc[0] != '{' && json.Valid(doc):
		return nil, errors.New("it is JSON, but no object")
	}
	var in object
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if len(in) == 0 {
		return nil, errors.New("it is an object without fields")
	}
	delete(in, "") // the name of fields that a host does not have
	return in, nil
}

// decoded returns a value. What of it has another type counts as missing, as all does that is not JSON.
func decoded[T any, B ~[]byte | ~string](raw B) (v T) {
	_ = json.Unmarshal([]byte(raw), &v)
	return v
}

// text returns a text, "" if there is none.
func (in object) text(name string) string { return decoded[string](in[name]) }

// flag returns a boolean, also one that is written as a text.
func (in object) flag(name string) (value, known bool) {
	switch strings.ToLower(strings.Trim(string(in[name]), `"`)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// objects returns the objects of a list, each with at least the given fields and their types; nil if there is no list.
func (in object) objects(name string, fields map[string]any) []any {
	raw := in[name]
	if len(raw) == 0 || raw[0] != '[' || len(raw) > maxValue {
		return nil
	}
	list := []any{}
	for _, raw := range decoded[[]json.RawMessage](raw) {
		item := decoded[map[string]any](raw)
		if item == nil {
			continue
		}
		for field, zero := range fields {
			if reflect.TypeOf(item[field]) != reflect.TypeOf(zero) {
				item[field] = zero
			}
		}
		list = append(list, item)
	}
	return list
}
