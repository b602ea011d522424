package run

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/state"
)

// Gemini is the adapter of Gemini CLI. A rate limit that the client waits for itself ends as [Timeout].
func Gemini() Adapter { return gemini{} }

type gemini struct{}

func (gemini) Name() string     { return host.Gemini }
func (gemini) Host() string     { return host.Gemini }
func (gemini) Reports() Reports { return Reports{Tokens: true} }

func (g gemini) Command(i Invocation) (Command, error) {
	l := newCmdline(g.Name(), i.Args, "gemini-cli")
	l.noPrompt("-p", "--prompt")
	l.refuse(ownPrompt, "-i", "--prompt-interactive", "--acp", "--experimental-acp", "--")
	l.refuse(ownSession, "-r", "--resume", "--session-id", "--session-file")
	l.need("stream-json", "--output-format", "-o")
	if i.Session != "" {
		l.args = append(l.args, "--resume", i.Session)
	}
	return l.command(i.Prompt)
}

func (gemini) Output() Output { return &geminiOutput{text: tail{max: maxText}} }

// geminiOutput reads -o stream-json. A message comes in parts.
type geminiOutput struct {
	ending
	res  Result
	text tail
	new  bool // the next part begins a message
}

type geminiRecord struct {
	Type    string          `json:"type"`
	Session string          `json:"session_id"`
	Role    string          `json:"role"`
	Content string          `json:"content"`
	Tool    string          `json:"tool_name"`
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
		return calling(rec.Tool, rec.Args), ""
	case "error":
		return rec.Message, ""
	case "result":
		o.res.Tokens = plus(o.res.Tokens, int(rec.Stats.Total))
		o.ending = ending{said: true, outcome: OK}
		if rec.Status == "error" {
			o.ending = ending{true, geminiFailure(rec.Error.Type, rec.Error.Message), rec.Error.Message}
		}
	}
	return "", ""
}

// geminiFailure is what an error means: its type, or the server's answer, which it has whole.
func geminiFailure(name, message string) Outcome {
	switch name {
	case "FatalAuthenticationError":
		return Auth
	case "FatalTurnLimitedError":
		return TurnLimit
	}
	inner, ok := strings.CutPrefix(message, "[API Error: ")
	if !ok {
		return Crashed
	}
	var answer struct {
		Error struct {
			Code    int `json:"code"`
			Details []struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	_ = json.NewDecoder(strings.NewReader(inner)).Decode(&answer)
	for _, d := range answer.Error.Details {
		if strings.EqualFold(d.Reason, "api_key_invalid") { // a 400
			return Auth
		}
	}
	return byStatus(answer.Error.Code)
}

func (o *geminiOutput) Result(p Process) Result {
	res := o.res
	res.Text = string(o.text.end())
	if o.outcome == "" || o.outcome == Crashed {
		o.byExit(p.Exit)
	}
	if home := p.configDir("GEMINI_CLI_HOME", ""); home != "" && len(res.Session) >= 8 {
		dir := filepath.Join(home, ".gemini")
		res.Transcript = p.file(dir, "tmp", geminiProject(dir, p.Dir), "chats", "session-*-"+id(res.Session[:8])+".jsonl")
	}
	return o.fill(res, p)
}

// byExit reads the exit status: one of the client's own, or the status of the failed request modulo 256.
func (o *geminiOutput) byExit(status int) {
	switch status {
	case 41:
		o.outcome = Auth
	case 53:
		o.outcome = TurnLimit
	case 401 % 256, 402 % 256, 403 % 256, 429 % 256:
		if o.said {
			o.outcome = byStatus(status + 256)
		}
	}
}

// geminiProject is the folder of a project's sessions, which a file of the client names.
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
