package run

import (
	"regexp"
	"strconv"

	"github.com/ralph-sdk/ralph/host"
)

// Qwen is the adapter of Qwen Code. A rate limit that the client waits for itself ends as [Timeout].
func Qwen() Adapter { return qwen{} }

type qwen struct{}

func (qwen) Name() string     { return host.Qwen }
func (qwen) Host() string     { return host.Qwen }
func (qwen) Reports() Reports { return Reports{Tokens: true} }

func (q qwen) Command(i Invocation) (Command, error) {
	l := newCmdline(q.Name(), i.Args, "qwen-code")
	l.noPrompt("-p", "--prompt")
	l.refuse(ownPrompt, "-i", "--prompt-interactive", "--input-format", "--acp", "--")
	l.refuse(ownSession, "-c", "--continue", "-r", "--resume", "--session-id")
	l.need("stream-json", "--output-format", "-o")
	if i.Session != "" {
		l.args = append(l.args, "--resume", i.Session)
	}
	return l.command(i.Prompt)
}

func (qwen) Output() Output { return &qwenOutput{} }

// qwenOutput reads -o stream-json, which is like Claude Code's. The usage of its result record is that of the whole
// session, so messages are counted.
type qwenOutput struct {
	ending
	res   Result
	cwd   string
	last  string // the text before that of the last message, which may stand for a failed request
	spent spent
}

type qwenRecord struct {
	Type    string  `json:"type"`
	Subtype string  `json:"subtype"`
	Session string  `json:"session_id"`
	Cwd     string  `json:"cwd"`
	Parent  string  `json:"parent_tool_use_id"`
	Message message `json:"message"`
	IsError bool    `json:"is_error"`
	Result  string  `json:"result"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (o *qwenOutput) Line(line []byte) (string, Outcome) {
	rec, ok := decode[qwenRecord](line)
	if !ok {
		return "", ""
	}
	if rec.Session != "" {
		o.res.Session = rec.Session
	}
	switch rec.Type {
	case "system":
		if rec.Cwd != "" {
			o.cwd = rec.Cwd
		}
	case "user":
		o.spent.next()
	case "assistant":
		o.spent.message(rec.Message)
		text, shown := rec.Message.read()
		if text != "" && rec.Parent == "" {
			o.last, o.res.Text = o.res.Text, text
		}
		return shown, ""
	case "result":
		o.ending = ending{said: true, outcome: OK}
		if !rec.IsError {
			if rec.Result != "" {
				o.res.Text = rec.Result
			}
			break
		}
		o.ending = ending{true, qwenFailure(rec.Error.Message), rec.Error.Message}
		if o.res.Text == rec.Error.Message {
			o.res.Text = o.last
		}
	}
	return "", ""
}

// qwenFailure is what the error of a result means. It has no field for the status of the request.
func qwenFailure(message string) Outcome {
	if m := regexp.MustCompile(`^\[API Error: ([1-5][0-9][0-9])\b`).FindStringSubmatch(message); m != nil {
		status, _ := strconv.Atoi(m[1])
		return byStatus(status)
	}
	return Crashed
}

func (o *qwenOutput) Result(p Process) Result {
	res := o.res
	res.Tokens = o.spent.total()
	if p.Exit == 53 || p.Exit == 55 { // turns; time or tool calls
		o.outcome = TurnLimit
	}
	res.Transcript = p.file(p.configDir("QWEN_HOME", ".qwen"), "projects", slug(o.cwd, p.Dir), "chats", id(res.Session)+".jsonl")
	return o.fill(res, p)
}
