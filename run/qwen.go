package run

import "github.com/ralph-sdk/ralph/host"

// qwenOutput parses -o stream-json, which differs from Claude Code's in the result record: its usage is that of the
// whole session, so messages are counted.
type qwenOutput struct {
	claudeOutput
	last string // the text before the last message, which may be about a failed request
}

type qwenRecord struct {
	Type    string `json:"type"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Denied []permission `json:"permission_denials"`
}

func (o *qwenOutput) Line(line []byte) (string, Outcome) {
	if rec, ok := decode[qwenRecord](line); ok && rec.Type == "result" {
		o.result(rec)
		return "", ""
	}
	before := o.res.Text
	shown, _ := o.claudeOutput.Line(line)
	if o.res.Text != before {
		o.last = before
	}
	return shown, ""
}

func (o *qwenOutput) result(rec qwenRecord) {
	o.ending = ending{said: true, outcome: OK}
	o.denied.read(rec.Denied, permitQwen)
	switch {
	case rec.IsError:
		// The record has no field for the HTTP status.
		o.ending = ending{true, failure(statusIn(rec.Error.Message)), rec.Error.Message}
		if o.res.Text == rec.Error.Message {
			o.res.Text = o.last
		}
	case rec.Result != "":
		o.res.Text = rec.Result
	}
}

func (o *qwenOutput) Result(p Process) Result {
	res := o.res
	res.Tokens, res.Denied = o.spent.total(), o.denied.all
	if p.Exit == 53 || p.Exit == 55 { // limits of turns; of time or tool calls
		o.outcome = TurnLimit
	}
	res.Transcript = p.file(p.configDir(host.Qwen), "projects", slug(o.cwd, p.Dir), "chats", id(res.Session)+".jsonl")
	return o.fill(res, p)
}

// permitQwen returns what permits a plain command. Rules for other tools have other names.
func permitQwen(tool, command string) string {
	if tool != "run_shell_command" || !plainCommand(command) {
		return ""
	}
	return permitIn(host.Qwen, tool+"("+command+")")
}
