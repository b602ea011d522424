package host

import "strings"

// qwen follows Claude Code closely; it has crons for session_crons, and says how full the context is.
func qwen() *Host {
	return &Host{
		Name: Qwen,
		recognise: func(in object) bool {
			return in.has("crons") || in.has("context_limit") || in.has("context_usage") || in.within(".qwen") ||
				strings.Contains(in.text("prompt_id"), "########")
		},
		dialect: withContext(UserPromptSubmit),
	}
}
