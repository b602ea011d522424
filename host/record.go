package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
)

// The kinds of records in a session file.
const (
	noise     = ""          // outside of the conversation
	user      = "user"      // a person's prompt, or a hook's reason to continue
	assistant = "assistant" // a message of the agent, or a part of one
	result    = "result"    // what tools returned
	failed    = "failed"    // the turn failed here
)

// entry is what one record adds to the conversation.
type entry struct {
	kind   string
	text   string
	tools  []use
	ended  map[string]bool // by the ID of a use, whether it succeeded
	tokens int             // the size of the context with this message
	prompt string          // the host's ID of the prompt
	id     string          // of a record that the host writes again when it changes
	time   string          // at which it was written, where the host notes its hooks
	open   bool            // more of the message follows
	code   string          // the host's word for a failure
}

// use is the use of a tool with its ID.
type use struct {
	id         string
	background bool // it goes on after its result
	loop.Tool
}

// record is a line of a session file of Claude Code, and of the hosts that use its form. It writes a record for each block of a message.
// Nearly everything that is not the agent's is a user record: prompts, results of tools, output of hooks and commands, notifications,
// and the summary of a conversation that grew too long.
type record struct {
	Type              string
	Role              string
	IsSidechain       bool
	IsMeta            bool
	IsCompactSummary  bool
	IsAPIErrorMessage bool `json:"isApiErrorMessage"`
	Error             string
	PromptID          string `json:"promptId"`
	Origin            struct{ Kind string }
	ToolUseResult     json.RawMessage
	UsageMetadata     struct{ TotalTokenCount int } // Qwen Code's
	Message           *message
	Attachment        struct {
		Type, HookEvent string
		Content         json.RawMessage
	}
}

type message struct {
	Role, Model    string
	StopReason     string          `json:"stop_reason"`
	Content, Parts json.RawMessage // Parts: Qwen Code's
	Usage          map[string]int  // tokens
}

// contextTokens are the kinds of tokens that together are the size of the context.
var contextTokens = []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"}

// block is a piece of a message: Claude Code's, or one of those in which other hosts write text and the use of a tool.
type block struct {
	Type, Text, Name, ID string
	ToolUseID            string `json:"tool_use_id"`
	IsError              bool   `json:"is_error"`
	Input                input

	FunctionCall *struct {
		ID, Name string
		Args     input
	}
	FunctionResponse *struct {
		ID       string
		Response struct{ Error json.RawMessage }
	}
}

// input is what hosts give their tools.
type input struct {
	Command       shellLine
	Cmd           shellLine
	RunBackground bool `json:"run_in_background"`
	IsBackground  bool `json:"is_background"`
}

// shellLine is a command. Some hosts write it as the last word of a list.
type shellLine string

func (c *shellLine) UnmarshalJSON(b []byte) error {
	var words []string
	if json.Unmarshal(b, &words) == nil && len(words) > 0 {
		*c = shellLine(words[len(words)-1])
		return nil
	}
	*c = shellLine(decoded[string](b))
	return nil
}

// read decodes a line of a session file as a record of some form, and reports whether it is a JSON object. Fields of a wrong type count as
// missing.
func read[R interface{ entry(subagent bool) entry }](line []byte, subagent bool) (e entry, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return e, false
	}
	var r R
	if err, wrong := json.Unmarshal(line, &r), new(json.UnmarshalTypeError); err != nil && !errors.As(err, &wrong) {
		return e, false
	}
	return r.entry(subagent), true
}

// feedback begins the message in which Claude Code shows the agent a hook's reason to continue.
const feedback = "Stop hook feedback:"

func (r record) entry(subagent bool) entry {
	e := entry{kind: noise, prompt: r.PromptID}
	a := r.Attachment
	switch {
	case r.IsSidechain && !subagent: // older versions wrote subagents into the main file
		return entry{}
	case a.Type == "hook_additional_context" && (a.HookEvent == stop || a.HookEvent == subagentStop):
		e.kind, e.text = user, readContent(a.Content).text
		return e
	case r.Message == nil:
		return e
	}
	role := r.Type
	switch role {
	case "", "message": // Cursor, Droid
		role = cmp.Or(r.Message.Role, r.Role)
	case "tool_result": // Qwen Code
		role = user
	}
	c := readContent(r.Message.Content)
	if len(r.Message.Parts) > 0 {
		c = readContent(r.Message.Parts)
	}
	switch first := strings.TrimSpace(c.text); {
	case role == assistant && r.IsAPIErrorMessage:
		e.kind, e.text, e.code = failed, first, cmp.Or(r.Error, "error")
	case role == assistant && r.Message.Model != "<synthetic>":
		e.kind, e.text, e.tools = assistant, c.text, c.tools
		for _, kind := range contextTokens {
			e.tokens += min(max(r.Message.Usage[kind], 0), 1<<40) // a file can hold any number
		}
		e.tokens = max(e.tokens, r.UsageMetadata.TotalTokenCount)
		e.open = r.Message.StopReason == "tool_use" || len(c.tools) > 0
	case role != user:
	case len(c.ended) > 0, len(r.ToolUseResult) > 0 && string(r.ToolUseResult) != "null":
		e.kind = result
		if !decoded[struct{ Interrupted bool }](r.ToolUseResult).Interrupted {
			e.ended = c.ended
		}
	case first == "[Request interrupted by user]", first == "[Request interrupted by user for tool use]":
		e.kind, e.text, e.code = failed, first, "interrupted"
	case r.prompts(first) || c.media:
		e.kind, e.text = user, c.text
	}
	return e
}

// prompts reports whether a user record with a text is a person's prompt or a hook's reason to continue. A person types a <command-name>;
// what else begins with a tag comes from the host.
func (r record) prompts(text string) bool {
	host := slices.ContainsFunc([]string{"<local-command-", "<task-notification>", "<bash-stdout>", "<bash-stderr>"}, func(begin string) bool {
		return strings.HasPrefix(text, begin)
	})
	switch {
	case text == "", host, r.IsCompactSummary, r.Origin.Kind != "" && r.Origin.Kind != "human":
		return false
	}
	return !r.IsMeta || strings.HasPrefix(text, feedback)
}

// content is what the blocks of a message hold.
type content struct {
	text  string
	tools []use
	ended map[string]bool
	media bool // a picture or a document
}

// readContent reads a text, or a list of texts and blocks.
func readContent(raw json.RawMessage) (c content) {
	if len(raw) > 0 && raw[0] == '"' {
		c.text = decoded[string](raw)
		return c
	}
	var texts []string
	for _, raw := range decoded[[]json.RawMessage](raw) {
		b := decoded[block](raw)
		if raw[0] == '"' {
			b.Text = decoded[string](raw)
		}
		switch {
		case b.Type == "tool_use":
			c.tools = append(c.tools, b.Input.use(b.Name, b.ID))
		case b.FunctionCall != nil:
			c.tools = append(c.tools, b.FunctionCall.Args.use(b.FunctionCall.Name, b.FunctionCall.ID))
		case b.Type == "tool_result":
			c.end(b.ToolUseID, !b.IsError)
		case b.FunctionResponse != nil:
			c.end(b.FunctionResponse.ID, len(b.FunctionResponse.Response.Error) == 0)
		case b.Type == "image", b.Type == "document":
			c.media = true
		case b.Type == "", b.Type == "text", b.Type == "input_text", b.Type == "output_text":
			texts = append(texts, b.Text)
		}
	}
	c.text = strings.Join(texts, "\n\n")
	return c
}

// end notes whether the use of a tool succeeded.
func (c *content) end(id string, ok bool) {
	if c.ended == nil {
		c.ended = map[string]bool{}
	}
	c.ended[id] = ok
}

// use returns the use of a tool of any host.
func (in input) use(name, id string) use {
	u := use{id: id, background: in.RunBackground || in.IsBackground, Tool: loop.Tool{Name: name, Command: string(cmp.Or(in.Command, in.Cmd))}}
	switch name {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "edit", "replace", "apply_patch", "create", "Create", "str_replace":
		u.Edit = true
	}
	u.Edit = u.Edit || strings.HasPrefix(u.Command, "apply_patch") // Codex
	return u
}
