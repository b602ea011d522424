package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Qwen is the name of Qwen Code.
const Qwen = "qwen"

// qwen follows Claude Code closely; it uses crons for session_crons, and sends the size of the context. It requires
// trust only if its user enables that.
var qwen = Host{
	Name: Qwen, Title: "Qwen Code",
	Session: []string{"QWEN_CODE"},
	marks: func(in object) bool {
		return in.has("crons") || in.has("context_limit") || in.has("context_usage") || strings.Contains(in.text("prompt_id"), "########")
	},
	dialect: withContext,
	record:  qwenRecord,
	Settings: hookfile.Settings{
		Program: "qwen",
		Dir:     hookfile.Path{Variable: "QWEN_HOME", Name: ".qwen"},
		Project: ".qwen/settings.json", User: "settings.json",
		Here:  true,
		Goal:  "/goal",
		Form:  hookfile.Form{Comments: true},
		Trust: &qwenTrust,
		Cap:   hookfile.Cap{Most: 8},
	},
}

var qwenTrust = hookfile.Trust{
	What:    "Qwen Code does not trust this directory, so it runs no hooks of it",
	Fix:     "start qwen in PROJECT and trust the directory",
	Switch:  "settings.json",
	Folders: hookfile.Path{Variable: "QWEN_CODE_TRUSTED_FOLDERS_PATH", Name: "trustedFolders.json"},
}

// qwenRecord reads the records that only Qwen Code writes: failed requests of the main agent. Its other records are
// Claude Code's.
func qwenRecord(r record) entry {
	switch {
	case r.typ != "system":
		return entry{}
	case r.text("subtype") != "ui_telemetry":
		return entry{kind: noise}
	}
	event := r.get("systemPayload").Field("uiEvent")
	prompt := event.Field("prompt_id").Text()
	if event.Field("event.name").Text() != "qwen-code.api_error" || event.Field("subagent_name").Text() != "" || prompt != "" && !strings.Contains(prompt, "########") {
		return entry{kind: noise} // also a request by the host itself, such as one for a title
	}
	f := &Failure{Text: event.Field("error_message").Text()}
	status := event.Field("status_code")
	if s, ok := status.Decode(); ok {
		status = jsontext.Value(s)
	}
	if f.Kind = kindOfStatus(status.Int()); overflows(event.Field("error_type").Text()) {
		f.Kind = ContextOverflow
	}
	return entry{kind: noise, failed: f}
}
