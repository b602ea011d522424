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
	talk := talk{results: results}
	for e, r := range s.records(ctx.Err) {
		if talk.add(e, r); len(talk.sides) > n {
			talk.sides = talk.sides[:n] // the one before is not wanted
			break
		}
	}
	return talk.exchanges()
}

// talk collects a conversation from its end.
type talk struct {
	sides   []side // the newest first
	results bool   // what tools returned is collected too
}

// side is an exchange with its pieces, the newest first.
type side struct {
	role   string
	pieces []string
	size   int
}

func (t *talk) add(e entry, r *record) {
	role, pieces := "assistant", []string(nil)
	switch e.kind {
	case opening:
		role, pieces = "user", e.texts
	case assistant:
		pieces = r.pieces(e, t.results)
	case result:
		if t.results {
			pieces = r.pieces(e, true)
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

// pieces are the texts, tool uses and tool results of a record of the agent or of a tool, in order.
func (r *record) pieces(e entry, results bool) []string {
	switch {
	case r.message != nil:
		content := r.messageContent()
		if _, isText := content.Decode(); isText && e.kind == assistant {
			return e.texts
		}
		var out []string
		for c := content.Elements(); c.Next(); {
			out = append(out, readBlock(c.Value).told(results)...)
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

// told is what a conversation shows of a block.
func (b block) told(results bool) []string {
	switch {
	case strings.HasSuffix(b.typ, "tool_use"):
		return []string{toolUse(b.name, b.input)}
	case strings.HasSuffix(b.typ, "tool_result"): // also of a tool that the service itself ran, in the agent's message
		if !results {
			return nil
		}
		return toolResult(b.content, b.failed)
	case b.call.There():
		return []string{toolUse(b.call.Field("name").Text(), b.call.Field("args"))}
	case b.typ == "text", b.typ == "":
		if s := b.text.Text(); strings.TrimSpace(s) != "" {
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
