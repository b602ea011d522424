package run

import (
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
)

func completeClaude(l *cmdline, session string) {
	if at, _ := l.find("-p", "--print"); at >= 0 && at+1 < len(l.args) && !strings.HasPrefix(l.args[at+1], "-") {
		l.refusePrompt(l.args[at+1])
	}
	l.refuse(ownPrompt, "--", "--input-format")
	l.refuse(ownSession, "-c", "--continue", "-r", "--resume", "--session-id", "--from-pr", "--teleport")
	l.refuse("the run waits for its end", "--bg", "--background")
	l.ask("-p", "--print")
	l.need("stream-json", "--output-format")
	l.ask("--verbose")
	if session != "" {
		l.args = append(l.args, "--resume", session)
	}
}

// claudeOutput parses --output-format stream-json. A run with background tasks has several result records: the last has
// the outcome, and each has the usage since the one before. Their totals would count a resumed session twice.
type claudeOutput struct {
	ending
	res    Result
	denied denials
	cwd    string
	reason string // the client's name for the failure of the last message
	spent  spent  // since the last result record
}

type claudeRecord struct {
	Type    string  `json:"type"`
	Subtype string  `json:"subtype"`
	Session string  `json:"session_id"`
	Cwd     string  `json:"cwd"`
	Parent  string  `json:"parent_tool_use_id"` // the tool use of the subagent that sent the message
	Message message `json:"message"`
	Error   string  `json:"error"` // of a message about a failed request, and of api_retry
	Attempt int     `json:"attempt"`
	Limit   struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"` // seconds
		Windows  map[string]struct {
			Used float64 `json:"utilization"` // 1 is all
		} `json:"unifiedWindows"`
	} `json:"rate_limit_info"`

	IsError  bool                   `json:"is_error"`
	Terminal string                 `json:"terminal_reason"`
	Status   int                    `json:"api_error_status"`
	Result   string                 `json:"result"`
	Errors   []string               `json:"errors"`
	Total    *float64               `json:"total_cost_usd"`
	Usage    usage                  `json:"usage"`
	Since    map[string]claudeUsage `json:"model_usage_since_last_result"`
	Denied   []permission           `json:"permission_denials"`
}

// claudeUsage is the usage of one model.
type claudeUsage struct {
	Input       count   `json:"inputTokens"`
	Output      count   `json:"outputTokens"`
	CacheRead   count   `json:"cacheReadInputTokens"`
	CacheCreate count   `json:"cacheCreationInputTokens"`
	Cost        float64 `json:"costUSD"`
}

func (o *claudeOutput) Line(line []byte) (string, Outcome) {
	rec, ok := decode[claudeRecord](line)
	if !ok {
		return "", ""
	}
	if rec.Session != "" {
		o.res.Session = rec.Session
	}
	switch rec.Type {
	case "system":
		return o.system(rec, line)
	case "rate_limit_event":
		if rec.Limit.Status == "rejected" && rec.Limit.ResetsAt > 0 {
			o.res.ResetsAt = time.Unix(int64(rec.Limit.ResetsAt), 0)
		}
		for _, w := range rec.Limit.Windows {
			o.res.Window = max(o.res.Window, 100*w.Used)
		}
	case "assistant":
		return o.message(rec), ""
	case "user":
		o.spent.next()
	case "result":
		o.result(rec)
	}
	return "", ""
}

func (o *claudeOutput) system(rec claudeRecord, line []byte) (string, Outcome) {
	if rec.Cwd != "" {
		o.cwd = rec.Cwd
	}
	switch rec.Subtype {
	case "permission_denied":
		denied, _ := decode[struct {
			ID  string `json:"tool_use_id"`
			Why string `json:"message"`
		}](line)
		o.denied.begin(denied.ID, Denial{Why: denied.Why})
	case "api_retry":
		// The first retry may use a renewed token.
		if end := failure(0, rec.Error); rec.Attempt > 1 && (end == Auth || end == Billing) {
			o.problem = "the server refuses the client: " + rec.Error
			return rec.Error, end
		}
		return "the request is tried again: " + rec.Error, ""
	}
	return "", ""
}

func (o *claudeOutput) message(rec claudeRecord) string {
	o.spent.message(rec.Message)
	text, shown := rec.Message.read()
	switch {
	case rec.Error != "":
		o.reason, o.problem = rec.Error, text
	case rec.Parent == "":
		o.reason = ""
		if text != "" {
			o.res.Text = text
		}
	}
	return shown
}

func (o *claudeOutput) result(rec claudeRecord) {
	o.spent = spent{}
	o.denied.read(rec.Denied, permitClaude)
	cost := 0.0
	if rec.Since == nil { // earlier versions
		o.res.Tokens = plus(o.res.Tokens, rec.Usage.sum())
		if rec.Total != nil {
			cost = *rec.Total
			o.res.Cost = nil // that of the whole process
		}
	}
	for _, u := range rec.Since {
		o.res.Tokens = plus(o.res.Tokens, int(u.Input+u.Output+u.CacheRead+u.CacheCreate))
		cost += u.Cost
	}
	if o.res.Cost != nil {
		cost += *o.res.Cost
	}
	o.res.Cost = &cost

	o.said, o.outcome, o.problem = true, OK, ""
	if !rec.IsError {
		if rec.Result != "" {
			o.res.Text = rec.Result
		}
		return
	}
	// The subtype is "success" even if a request failed.
	o.outcome, o.problem = failure(rec.Status, rec.Subtype, rec.Terminal, o.reason), rec.Result
	if len(rec.Errors) > 0 {
		o.problem = strings.Join(rec.Errors, "; ")
	}
}

func (o *claudeOutput) Result(p Process) Result {
	res := o.res
	res.Tokens = plus(res.Tokens, o.spent.total()) // an interrupted iteration has no result record for them
	if !o.said && o.reason != "" {
		o.outcome = failure(0, o.reason)
	}
	res.Denied = o.denied.all
	res.Transcript = p.file(p.configDir(host.ClaudeCode), "projects", slug(o.cwd, p.Dir), id(res.Session)+".jsonl")
	return o.fill(res, p)
}

// permitClaude returns what permits a use: its command, or the tool.
func permitClaude(tool, command string) string {
	if tool == "Bash" {
		tool += "(" + command + ")"
	}
	return permitIn(host.ClaudeCode, tool)
}
