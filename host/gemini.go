package host

import (
	"encoding/hex"
	"hash/fnv"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Gemini is the name of Gemini CLI.
const Gemini = "gemini"

// gemini has its own event names and three peculiarities. Its stop_hook_active stays false through continuations in
// which the agent used a tool. Its prompt stays the first one through all continuations. Its prompt_response joins the
// text of all of them, so a phrase once said would stay in it.
var gemini = Host{
	Name: Gemini, Title: "Gemini CLI",
	Session: []string{"GEMINI_CLI"},
	marks: func(in object) bool {
		switch in.text(vocab.HookEventName) {
		case "AfterAgent", "BeforeAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool", "AfterTool", "PreCompress":
			return true
		}
		return in.has("prompt_response")
	},
	events: []eventName{
		{Stop, "AfterAgent"}, {UserPromptSubmit, "BeforeAgent"}, {PreCompact, "PreCompress"}, {SubagentStop, ""}, {StopFailure, ""},
	},
	steady: true,
	refine: func(in object, ev *Event) {
		if ev.HostTurn == "" && ev.Prompt != "" {
			ev.Turn = digest(ev.Prompt)
		}
		if active, known := in.flag(vocab.StopHookActive); known && !active {
			ev.LastAssistantMessage = in.text("prompt_response")
		}
	},
	dialect: withContext,
	record:  geminiRecord,
	Settings: hookfile.Settings{
		Program: "gemini",
		Dir:     hookfile.Path{Name: ".gemini"},
		Project: ".gemini/settings.json", User: "settings.json",
		Here:   true,
		Form:   hookfile.Form{Unit: 1000, Comments: true},
		Plugin: hookfile.Plugin{Remove: "gemini extensions uninstall ralph", File: "extensions/ralph/gemini-extension.json"},
		Trust:  &geminiTrust,
	},
}

// geminiTrust requires a trusted directory: in others Gemini CLI runs no hook of the project, and its -p ends at once.
var geminiTrust = hookfile.Trust{
	What:    "Gemini CLI does not trust this directory, so it runs no hooks of it",
	Fix:     "start gemini in PROJECT and trust the directory; for gemini -p, GEMINI_CLI_TRUST_WORKSPACE=true does that for one run",
	Switch:  "settings.json",
	Asks:    true,
	Env:     "GEMINI_CLI_TRUST_WORKSPACE=true",
	Folders: hookfile.Path{Variable: "GEMINI_CLI_TRUSTED_FOLDERS_PATH", Name: "trustedFolders.json"},
}

// digest returns a name for a prompt that does not contain its words. It only distinguishes turns and protects nothing,
// so a fast hash is enough.
func digest(prompt string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(prompt)) // a hash never fails to write
	return hex.EncodeToString(h.Sum(nil))
}

// geminiRecord reads a record of Gemini CLI: a message that changes is written again, with the same id. A continuation
// is a user record, as a prompt is.
func geminiRecord(r record) entry {
	body := r.get("content")
	c := readContent(body)
	e := entry{id: r.text("id"), parts: c.parts, rewritten: true}
	switch {
	case r.typ == "gemini":
		e.kind = assistant
		for t := r.get("toolCalls").Elements(); t.Next(); {
			call := readFields(t.Value, nil)
			ok := call.text("status") == "success" && printedOK(t.Value)
			e.parts = append(e.parts, use(call.get("id"), call.get("name"), call.get("args")), part{kind: gave, id: call.text("id"), ok: ok, failed: !ok})
		}
		e.usage.tokens = r.get("tokens").Field("total").Int()
	case body == nil || r.get("message") != nil:
		return entry{}
	case r.typ == "user" && c.result:
		e.kind = result
	case r.typ == "user" && len(c.parts) == 0 && !c.media:
		e.kind = noise
	case r.typ == "user":
		e.kind = opening
	case (r.typ == "error" || r.typ == "info" || r.typ == "warning") && e.id != "":
		return entry{kind: noise, failed: geminiFailure(r.typ, c.first())}
	default:
		return entry{}
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
