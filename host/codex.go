package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Codex is the name of Codex.
const Codex = "codex"

// codex rejects an answer with an unknown key: the turn then ends, whatever the rest says. It knows the keys of the
// portable form at every event, those of a note only at a prompt.
var codex = Host{
	Name: Codex, Title: "Codex",
	Session: []string{"CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX"},
	marks:   func(in object) bool { return in.has(vocab.TurnID) },
	dialect: withContext,
	record:  codexRecord,
	Settings: hookfile.Settings{
		Program: "codex",
		Dir:     hookfile.Path{Variable: "CODEX_HOME", Name: ".codex"},
		Project: ".codex/hooks.json", User: "hooks.json",
		Starts: []string{".codex/config.toml"},
		Plugin: hookfile.Plugin{Remove: "codex plugin remove ralph@ralph", File: "config.toml", On: codexPluginOn},
		Trust:  &codexTrust,
		Form:   hookfile.Form{Most: map[string]int{SessionEnd: 3}},
	},
}

// codexTrust requires a trusted directory for the project, and a trusted hash for each entry. Codex itself lists the
// hooks that it reads, without starting a session or a hook.
var codexTrust = hookfile.Trust{
	What:  "Codex does not trust this directory, so it reads no hooks of it",
	Fix:   "start codex in PROJECT and trust the directory; codex exec has --trust for that",
	Maybe: "Codex reads hooks only in directories that you trust",
	List:  []string{"codex", "app-server"},
	Ask: []string{
		`{"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "ralph", "version": "1"}}}`,
		`{"method": "initialized"}`,
		`{"id": 2, "method": "hooks/list", "params": {"cwds": [PROJECT]}}`,
	},
	Entry:    "Codex skips the entry until you trust it, and after each change of it",
	EntryFix: "start codex, enter /hooks and trust the entry of ralph",
	Disabled: "the entry is disabled in Codex",
	Enable:   "start codex, enter /hooks and enable the entry of ralph",
}

// codexPluginOn reports whether Codex's configuration enables ralph's plugin, in the form that Codex writes.
func codexPluginOn(src string) bool {
	inside, on := false, false
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			inside = line == `[plugins."ralph@ralph"]`
			on = on || inside
		case inside && strings.TrimSpace(key) == "enabled" && strings.TrimSpace(value) == "false":
			return false
		}
	}
	return on
}

// codexRecord reads a record of Codex: the items of the conversation are payloads of response_item, and an event has
// the size of the context.
func codexRecord(r record) entry {
	e := entry{kind: noise}
	raw := r.get("payload")
	p := readFields(raw, nil)
	typ, role := p.text("type"), p.text("role")
	switch {
	case r.typ == "" || !p.whole:
		return entry{}
	case r.typ == "event_msg" && typ == "token_count":
		info := p.get("info")
		e.usage.tokens = info.Field("last_token_usage").Field("total_tokens").Int()
		e.usage.total = info.Field("total_token_usage").Field("total_tokens").Int()
	case r.typ == "event_msg":
		e.failed = codexFailure(typ, raw)
	case r.typ != "response_item":
	case typ == "message" && role == "assistant":
		e.kind, e.parts = assistant, readContent(p.get("content")).parts
	case typ == "message" && role == "user":
		c := readContent(p.get("content"))
		first := c.first()
		e.parts = c.parts
		if first == "" && !c.media || hasAnyPrefix(first, "<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "<subagent_notification>", "# AGENTS.md instructions") {
			break // the host wrote it in the user's name
		}
		e.kind, e.again = opening, strings.HasPrefix(first, "<hook_prompt")
		e.prompt = !e.again
	case strings.HasSuffix(typ, "_call_output"):
		e.kind = result
		e.results = func() []part {
			output := p.get("output")
			return []part{{kind: gave, id: p.text("call_id"), value: output, ok: codexOK(output)}}
		}
	case strings.HasSuffix(typ, "_call"):
		call := part{kind: used}
		for _, name := range []string{"action", "input", "arguments"} {
			if v := p.get(name); v != nil {
				call = use(p.get("call_id"), p.get("name"), v)
			}
		}
		if call.text = p.text("name"); call.text == "" {
			call.text = strings.TrimSuffix(typ, "_call")
		}
		e.kind, e.parts = assistant, []part{call}
	case typ == "reasoning":
		e.kind = assistant
	}
	return e
}

// codexFailure reads an event of Codex: an aborted turn, the end of one that failed, or an error.
func codexFailure(typ string, payload jsontext.Value) *Failure {
	switch typ {
	case "turn_aborted":
		f := &Failure{Kind: Interrupted, Text: payload.Field("reason").Text()}
		if f.Text == "budget_limited" {
			f.Kind = OverBudget
		}
		return f
	case "task_complete":
		if payload = payload.Field("error"); !payload.There() {
			return nil
		}
	case "error", "stream_error":
	default:
		return nil
	}
	f := &Failure{Text: payload.Field("message").Text(), Kind: Crashed}
	info := payload.Field("codex_error_info")
	code := info.Text()
	status := 0
	for c := info.Members(); c.Next(); {
		code = string(c.Key)
		status = c.Value.Field("http_status_code").Int()
	}
	switch code {
	case "context_window_exceeded":
		f.Kind = ContextOverflow
	case "usage_limit_exceeded":
		f.Kind = RateLimited
	case "unauthorized":
		f.Kind = Auth
	default:
		if status == 0 {
			status = statusIn(f.Text)
		}
		f.Kind = kindOfStatus(status)
	}
	return f
}

// codexOK reports whether the output of a call shows status 0.
func codexOK(output jsontext.Value) bool {
	if s, ok := output.Decode(); ok {
		if status := jsontext.Value(s).Field("metadata").Field("exit_code"); status != nil {
			return string(status) == "0"
		}
		for line := range strings.SplitSeq(s, "\n") {
			line = strings.TrimSpace(line)
			for _, begin := range []string{"Exit code: ", "Process exited with code "} {
				if code, ok := strings.CutPrefix(line, begin); ok {
					return code == "0"
				}
			}
		}
		return false
	}
	return string(output.Field("metadata").Field("exit_code")) == "0"
}

// patched returns the files of a patch in Codex's format.
func patched(patch string) []string {
	var files []string
	for line := range strings.SplitSeq(patch, "\n") {
		for _, begin := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), begin); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}
