package host

import (
	"encoding/hex"
	"hash/fnv"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// gemini has events of its own names, and three peculiarities. Its stop_hook_active stays false through continuations
// in which the agent used a tool. Its prompt stays the first one through all of them. And its prompt_response is the
// text of all of them one after another, so a phrase once said would be there for ever.
func gemini() *Host {
	return &Host{
		Name: Gemini,
		recognise: func(in object) bool {
			switch in.text(vocab.HookEventName) {
			case "AfterAgent", "BeforeAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool", "AfterTool", "PreCompress":
				return true
			}
			return in.has("prompt_response") || in.within(".gemini")
		},
		refine: func(in object, ev *Event) {
			if ev.TurnID == "" && ev.Prompt != "" {
				ev.Turn = digest(ev.Prompt)
			}
			if ev.Active == FlagFalse {
				ev.LastAssistantMessage = in.text("prompt_response")
			}
		},
		dialect: withContext("BeforeAgent"),
	}
}

// digest names a prompt without keeping its words. It distinguishes turns, it guards nothing, so a quick hash will do.
func digest(prompt string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(prompt)) // a hash never fails to write
	return hex.EncodeToString(h.Sum(nil))
}

// gemini reads a record of Gemini CLI: a message that changes is written again, with the same id. A continuation is
// a user record like a prompt.
func (r *record) gemini() entry {
	b := readBlocks(r.content)
	e := entry{id: r.id, texts: b.texts, rewritten: true}
	switch {
	case r.typ == "gemini":
		e.kind, e.tools = assistant, append(b.tools, names(r.toolCalls)...)
		e.tokens = r.tokens.Field("total").Int()
	case b.result:
		e.kind = result
	case len(b.texts) == 0 && !b.media:
		e.kind = noise
	default:
		e.kind = opening
	}
	return e
}

// geminiFailure reads a record that Gemini CLI shows to the user.
func geminiFailure(typ, text string) *Failure {
	switch {
	case typ == "error":
		return &Failure{Kind: kindOfStatus(statusIn(text)), Text: text}
	case typ == "info" && text == "Request cancelled.":
		return &Failure{Kind: Interrupted, Text: text}
	}
	return nil
}
