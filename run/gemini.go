package run

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/state"
)

// geminiOutput parses -o stream-json. A message arrives in parts.
type geminiOutput struct {
	ending
	res    Result
	denied denials
	text   tail
	new    bool // the next part begins a message
}

type geminiRecord struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Tool    string          `json:"tool_name"`
	Use     string          `json:"tool_id"`
	Args    json.RawMessage `json:"parameters"`
	Message string          `json:"message"`
	Status  string          `json:"status"`
	Error   struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Total count `json:"total_tokens"`
	} `json:"stats"`
}

func (o *geminiOutput) Line(line []byte) (string, Outcome) {
	rec, ok := decode[geminiRecord](line)
	if !ok {
		return "", ""
	}
	switch rec.Type {
	case "init":
		o.res.Session = rec.Session
	case "message":
		if rec.Role != "assistant" {
			o.new = true
			return "", ""
		}
		shown := ""
		if o.new || len(o.text.kept) == 0 {
			shown = firstLine(rec.Content)
			o.text.kept, o.new = o.text.kept[:0], false
		}
		_, _ = o.text.Write([]byte(rec.Content))
		return shown, ""
	case "tool_use":
		o.new = true
		o.denied.begin(rec.Use, useOf(rec.Tool, rec.Args, nil))
		return calling(rec.Tool, rec.Args), ""
	case "tool_result":
		o.denied.end(rec.Use, rec.Error.Type == "policy_violation", rec.Error.Message)
	case "error":
		return rec.Message, ""
	case "result":
		o.res.Tokens = plus(o.res.Tokens, int(rec.Stats.Total))
		o.ending = ending{said: true, outcome: OK}
		if message := rec.Error.Message; rec.Status == "error" {
			status := statusIn(message)
			if strings.HasPrefix(message, "[API Error: ") && strings.Contains(strings.ToUpper(message), `"API_KEY_INVALID"`) {
				status = 401 // the client reports it as 400
			}
			o.ending = ending{true, failure(status, rec.Error.Type), message}
		}
	}
	return "", ""
}

func (o *geminiOutput) Result(p Process) Result {
	res := o.res
	res.Text, res.Denied = string(o.text.end()), o.denied.all
	if o.outcome == "" || o.outcome == Crashed {
		o.byExit(p.Exit)
	}
	if base := cmp.Or(p.getenv("GEMINI_CLI_HOME"), home.Dir(p.getenv)); base != "" && len(res.Session) >= 8 {
		dir := filepath.Join(base, ".gemini")
		res.Transcript = p.file(dir, "tmp", geminiProject(dir, p.Dir), "chats", "session-*-"+id(res.Session[:8])+".jsonl")
	}
	return o.fill(res, p)
}

// byExit sets the outcome from the exit status: the client's own, or the status of the failed request modulo 256.
func (o *geminiOutput) byExit(status int) {
	switch status {
	case 41:
		o.outcome = Auth
	case 53:
		o.outcome = TurnLimit
	case 401 % 256, 402 % 256, 403 % 256, 429 % 256:
		if o.said {
			o.outcome = failure(status + 256)
		}
	}
}

// geminiProject returns the directory of a project's sessions, which a file of the client names.
func geminiProject(config, dir string) string {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	b, err := fs.ReadFile(state.Files(config), "projects.json")
	if err != nil || json.Unmarshal(b, &known) != nil {
		return ""
	}
	name := known.Projects[dir]
	if filepath.Base(name) != name || name == ".." {
		return ""
	}
	return name
}
