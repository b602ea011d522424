package host

import (
	"encoding/hex"
	"hash/fnv"
)

// gemini has events of its own names, and three peculiarities. Its stop_hook_active stays false through continuations
// in which the agent used a tool. Its prompt stays the first one through all of them. And its prompt_response is the
// text of all of them one after another, so a phrase once said would be there for ever.
func gemini() *Host {
	return &Host{
		Name: Gemini,
		recognise: func(in object) bool {
			switch in.text("hook_event_name") {
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
