package host

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// The bounds of what a conversation shows of one use of a tool, in bytes.
const (
	maxToolInput  = 240
	maxToolResult = 400
)

// maxExchange bounds what is kept of one exchange, in bytes: its end.
const maxExchange = 32 << 10

// Exchange is what one side said, and did, until the other side spoke.
type Exchange struct {
	Role string // "user" for prompts and continuations, "assistant" for the agent
	// Text holds the texts in their order, and between them in brackets, each on a line of its own, what the agent used
	// its tools for and, if asked for, what they returned: the beginning of an input, the end of a result.
	Text string
}

// Conversation lists the last n exchanges, oldest first, also those before the current turn. Unlike [Session.Turns] it
// joins all messages that the agent sent between two prompts, and says what tools were used for; with results it also
// has what they returned. Of a plain text file there is one exchange, the agent's. It reads the file once more, within ctx and the byte budget; what is not
// there, or cannot be read, gives fewer exchanges.
func (s *Session) Conversation(ctx context.Context, n int, results bool) []Exchange {
	if n <= 0 {
		return nil
	}
	if s.plain {
		if own := s.Own(); len(own) > 0 {
			return []Exchange{{Role: "assistant", Text: own[0]}}
		}
		return nil
	}
	talk := talk{seen: newest{}, results: results}
	for line := range s.lines(ctx.Err) {
		if talk.add(line, s.options.Subagent); len(talk.sides) > n {
			talk.sides = talk.sides[:n] // the one before is not wanted
			break
		}
	}
	return talk.exchanges()
}

// talk collects a conversation from its end.
type talk struct {
	sides   []side // the newest first
	seen    newest
	results bool // what tools returned is collected too
}

// side is an exchange with its pieces, the newest first.
type side struct {
	role   string
	pieces []string
	size   int
}

func (t *talk) add(line []byte, subagent bool) {
	e := parseRecord(line, subagent)
	if t.seen.has(e) {
		return
	}
	role, pieces := "assistant", []string(nil)
	switch e.kind {
	case opening:
		role, pieces = "user", e.texts
	case assistant:
		pieces = piecesOf(line, e, t.results)
	case result:
		if t.results {
			pieces = piecesOf(line, e, true)
		}
	}
	if len(pieces) == 0 {
		return
	}
	if len(t.sides) == 0 || t.sides[len(t.sides)-1].role != role {
		t.sides = append(t.sides, side{role: role})
	}
	at := &t.sides[len(t.sides)-1]
	for _, p := range slices.Backward(pieces) {
		if at.size < maxExchange {
			p = lastBytes(p, maxExchange-at.size)
			at.pieces = append(at.pieces, p)
			at.size += len(p)
		}
	}
}

func (t *talk) exchanges() []Exchange {
	out := make([]Exchange, 0, len(t.sides))
	for _, s := range slices.Backward(t.sides) {
		slices.Reverse(s.pieces)
		out = append(out, Exchange{Role: s.role, Text: strings.Join(s.pieces, "\n")})
	}
	return out
}

// piecesOf gives the texts, tool uses and tool results of a record of the agent or of a tool, in order.
func piecesOf(line []byte, e entry, results bool) []string {
	var r record
	for c := jsontext.Value(clean(line)).Members(); c.Next(); {
		r.set(c.Key, c.Value)
	}
	switch {
	case r.message != nil:
		content := r.message.Field("content")
		if content == nil {
			content = r.message.Field("parts")
		}
		if _, isText := content.Decode(); isText && e.kind == assistant {
			return e.texts
		}
		var out []string
		for c := content.Elements(); c.Next(); {
			out = append(out, toldBlock(c.Value, results)...)
		}
		return out
	case r.payload != nil && e.kind == result:
		return toolResult(r.payload.Field("output"), false)
	case r.payload != nil && len(e.tools) == 1:
		input := r.payload.Field("arguments")
		if input == nil {
			input = r.payload.Field("input")
		}
		return []string{toolUse(e.tools[0], input)}
	case e.kind == result:
		return nil // a form whose results are not read
	}
	out := slices.Clone(e.texts)
	for _, name := range e.tools {
		out = append(out, toolUse(name, nil))
	}
	return out
}

func toldBlock(v jsontext.Value, results bool) []string {
	var typ, name string
	var text, input, content, call jsontext.Value
	failed := false
	for c := v.Members(); c.Next(); {
		switch string(c.Key) {
		case "type":
			typ = c.Value.Text()
		case "name":
			name = c.Value.Text()
		case "text":
			text = c.Value
		case "input":
			input = c.Value
		case "content":
			content = c.Value
		case "is_error":
			failed = c.Value.IsTrue()
		case "functionCall":
			call = c.Value
		}
	}
	switch {
	case strings.HasSuffix(typ, "tool_use"):
		return []string{toolUse(name, input)}
	case strings.HasSuffix(typ, "tool_result"): // also of a tool that the service itself ran, in the agent's message
		if !results {
			return nil
		}
		return toolResult(content, failed)
	case call.There():
		return []string{toolUse(call.Field("name").Text(), call.Field("args"))}
	case typ == "text", typ == "":
		if s := text.Text(); strings.TrimSpace(s) != "" {
			return []string{s}
		}
	}
	return nil
}

// toolUse says that a tool was used, and for what.
func toolUse(name string, input jsontext.Value) string {
	if s, ok := input.Decode(); ok {
		input = jsontext.Value(s)
	}
	if !input.There() || string(input) == "{}" {
		return "[used " + oneLine(name) + "]"
	}
	return "[used " + oneLine(name) + ": " + firstBytes(oneLine(string(input)), maxToolInput) + "]"
}

// toolResult gives what a tool returned: a text, or blocks of them.
func toolResult(content jsontext.Value, failed bool) []string {
	text := strings.Join(readBlocks(content).texts, "\n")
	if text == "" && !failed {
		return nil
	}
	word := "result"
	if failed {
		word = "failed"
	}
	return []string{"[" + word + ": " + lastBytes(strings.TrimSpace(text), maxToolResult) + "]"}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstBytes is the beginning of a text, up to the end of a character.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lastBytes is the end of a text, from the beginning of a character on.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := len(s) - n
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return "…" + s[from:]
}
