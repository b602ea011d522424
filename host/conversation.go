package host

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds on what a conversation shows of one use of a tool, in bytes.
const (
	maxToolInput  = 240
	maxToolResult = 400
)

// maxExchange bounds an exchange, in bytes; the end is kept.
const maxExchange = 32 << 10

// Exchange is what one side said and did until the other side replied.
type Exchange struct {
	Role string // "user" for prompts, "assistant" for the agent
	// Text holds the messages in order. Between them, in brackets and on lines of their own, are the uses of tools and,
	// if requested, their results: the beginning of an input, the end of a result. So is [continued by a hook], without
	// the words of the hook; a host that records continuations as prompts has them as the user's.
	Text string
}

// Conversation returns the last n exchanges, oldest first, including those before the current turn, and the prompt that
// the first of them answers. Unlike [Session.Turns] it joins all messages that the agent sent between two prompts and
// shows uses of tools; results adds what the tools returned. A plain text file has one exchange, the agent's.
// Conversation reads the file again, within ctx and the byte budget; it returns fewer exchanges if the file has fewer or
// cannot be read.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	talk := talk{results: results}
	for e := range s.back(ctx.Err) {
		if talk.add(e); talk.begun(n) {
			talk.sides = talk.sides[:len(talk.sides)-1] // the exchange before it was not requested
			break
		}
	}
	return talk.exchanges()
}

// talk collects a conversation from its end.
type talk struct {
	sides   []side // the newest first
	results bool   // also collect results of tools
}

// side is an exchange with its pieces, the newest first.
type side struct {
	role   string
	pieces []string
	size   int
}

// begun reports whether an exchange before the last n, and before the prompt of the first of them, has begun.
func (t *talk) begun(n int) bool {
	return len(t.sides) > n+1 || len(t.sides) == n+1 && t.sides[n].role != "user"
}

func (t *talk) add(e entry) {
	role, pieces := "assistant", []string(nil)
	switch {
	case e.again:
		pieces = []string{"[continued by a hook]"}
	case e.kind == opening:
		role, pieces = "user", e.words(said)
	case e.kind == assistant, e.kind == result && t.results:
		for _, p := range e.all() {
			if text := p.shown(); text != "" && (p.kind != gave || t.results) {
				pieces = append(pieces, text)
			}
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

// shown returns what a conversation shows of a part: its text, its input, or its result.
func (p part) shown() string {
	switch p.kind {
	case said:
		return p.text
	case used:
		input := string(p.value)
		if s, ok := p.value.Decode(); ok {
			input = s
		}
		if input == "" || input == "null" || input == "{}" {
			return "[used " + oneLine(p.text) + "]"
		}
		return "[used " + oneLine(p.text) + ": " + firstBytes(oneLine(input), maxToolInput) + "]"
	}
	text := strings.Join(entry{parts: readContent(p.value).parts}.words(said), "\n")
	switch {
	case p.failed:
		return "[failed: " + lastBytes(strings.TrimSpace(text), maxToolResult) + "]"
	case text == "":
		return ""
	}
	return "[result: " + lastBytes(strings.TrimSpace(text), maxToolResult) + "]"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstBytes returns at most n bytes from the beginning of s, in whole characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lastBytes returns at most n bytes from the end of s, in whole characters.
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
