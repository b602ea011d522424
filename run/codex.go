package run

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
)

func completeCodex(l *cmdline, session string) {
	at, _ := l.find("exec", "e")
	if at < 0 {
		at = min(l.flags, len(l.args))
		l.args = slices.Insert(l.args, at, "exec")
	}
	if at+1 < len(l.args) && slices.Contains([]string{"resume", "fork", "review"}, l.args[at+1]) {
		l.refuse(ownSession, l.args[at+1])
	}
	l.refuse(ownSession, "--last")
	l.refuse(ownPrompt, "-", "--")
	l.args = slices.DeleteFunc(l.args, func(a string) bool { return a == "--json" })
	l.args = append(l.args, "--json") // ends the list of files of --image, too
	if session != "" {
		l.args = append(l.args, "resume", session)
	}
	l.args = append(l.args, "-")
}

// codexOutput parses --json. An item of type error is a warning; a failed turn has a record turn.failed.
type codexOutput struct {
	ending
	res Result
}

type codexRecord struct {
	Type   string `json:"type"`
	Thread string `json:"thread_id"`
	Item   struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Command string          `json:"command"`
		Query   string          `json:"query"`
		Server  string          `json:"server"`
		Tool    string          `json:"tool"`
		Args    json.RawMessage `json:"arguments"`
		Changes []struct {
			Path string `json:"path"`
			Kind string `json:"kind"`
		} `json:"changes"`
	} `json:"item"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage usage `json:"usage"` // of the session; its input includes cached tokens
}

func (o *codexOutput) Line(line []byte) (string, Outcome) {
	rec, ok := decode[codexRecord](line)
	if !ok {
		return "", ""
	}
	switch rec.Type {
	case "thread.started":
		o.res.Session = rec.Thread
	case "turn.started":
		o.ending = ending{}
	case "turn.completed":
		o.ending = ending{said: true, outcome: OK}
		o.res.Used = int(rec.Usage.Input + rec.Usage.Output)
	case "turn.failed":
		o.ending = ending{said: true, outcome: codexFailure(rec.Error.Message), problem: rec.Error.Message}
	case "error":
		o.problem = rec.Message
		return rec.Message, ""
	case "item.started", "item.completed":
		if rec.Type == "item.completed" && rec.Item.Type == "agent_message" {
			o.res.Text = rec.Item.Text
		}
		return codexItem(rec), ""
	}
	return "", ""
}

// codexItem returns an item in a few words.
func codexItem(rec codexRecord) string {
	it := rec.Item
	started := rec.Type == "item.started"
	switch {
	case it.Type == "agent_message":
		return firstLine(it.Text)
	case it.Type == "command_execution" && started:
		return firstLine(it.Command)
	case it.Type == "mcp_tool_call" && started:
		return calling(it.Server+"."+it.Tool, it.Args)
	case it.Type == "web_search" && it.Query != "":
		return "web search " + it.Query
	case it.Type == "file_change" && len(it.Changes) > 0:
		return it.Changes[0].Kind + " " + it.Changes[0].Path
	}
	return ""
}

// codexFailure returns the outcome for the error of a turn. An error has only a message; three failures have fixed
// ones.
func codexFailure(message string) Outcome {
	for begins, outcome := range map[string]Outcome{
		"Codex ran out of room in the model's context window.": ContextOverflow,
		"Quota exceeded. ":            Billing,
		"You’ve hit your usage limit": RateLimited,
	} {
		if strings.HasPrefix(message, begins) {
			return outcome
		}
	}
	return failure(statusIn(message))
}

func (o *codexOutput) Result(p Process) Result {
	res := o.res
	began := p.Start
	if at, ok := timeOf(res.Session); ok {
		began = at
	}
	for _, days := range []int{0, -1, 1} { // the directory has the client's local date
		day := began.AddDate(0, 0, days).Format("2006/01/02")
		res.Transcript = p.file(p.configDir(host.Codex), "sessions", day, "rollout-*-"+id(res.Session)+".jsonl")
		if res.Transcript != "" {
			break
		}
	}
	return o.fill(res, p)
}

// timeOf returns when a session began, from its ID: a UUID of version 7.
func timeOf(session string) (time.Time, bool) {
	digits := strings.ReplaceAll(session, "-", "")
	if len(digits) != 32 || digits[12] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(digits[:12], 16, 64)
	return time.UnixMilli(ms), err == nil
}
