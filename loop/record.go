package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Record is one line of the decision log. Prompts, transcripts, environment values
// and the texts for the agent are not in it unless the loop was made with
// [WithPrivate].
type Record struct {
	Time    time.Time    `json:"time"`
	Policy  string       `json:"policy"`
	Root    string       `json:"root,omitempty"`
	Host    string       `json:"host,omitempty"`
	Event   string       `json:"event"`
	Session string       `json:"session,omitempty"`
	Agent   string       `json:"agent,omitempty"`
	Turn    string       `json:"turn,omitempty"`
	Action  rules.Action `json:"action"`
	Rule    string       `json:"rule,omitempty"`
	At      string       `json:"at,omitempty"` // file:line:col of the rule
	Reason  string       `json:"reason,omitempty"`
	Bound   string       `json:"bound,omitempty"`
	Skipped string       `json:"skipped,omitempty"`
	Error   string       `json:"error,omitempty"`
	Applied bool         `json:"applied"`
	Row     RowRecord    `json:"row"`
	Notices []string     `json:"notices,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	Log     []string     `json:"log,omitempty"`
	Effects []string     `json:"effects,omitempty"`
	Trace   rules.Trace  `json:"trace"`

	// Calls holds what functions answered, by [CallName]: true or false, or a path.
	Calls map[string]any `json:"calls,omitempty"`
	// Repeated tells in how many verdicts rules with unless_repeated had been.
	Repeated map[string]int `json:"repeated,omitempty"`

	TookNS int64 `json:"took_ns"`
}

// RowRecord is the loop memory that a decision was made on.
type RowRecord struct {
	Continuations int    `json:"continuations"`
	Total         int    `json:"total"`
	Progress      string `json:"progress,omitempty"` // by this decision, only known after a continue

	Before  string        `json:"before,omitempty"` // progress at the latest continuation
	Same    int           `json:"same,omitempty"`   // how many latest continuations had it
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
	Step    time.Duration `json:"step_ns,omitempty"`
}

// Record gives the decision as the log keeps it.
func (d *Decision) Record(private bool) Record {
	v := d.Verdict
	r := Record{
		Time: d.Time.UTC(), Policy: d.Policy, Root: d.Root, Host: d.Event.Host, Event: d.Event.Name,
		Session: d.Event.SessionID, Agent: d.Event.AgentID, Turn: d.Event.Turn,
		Action: v.Action, Rule: v.Rule, At: v.Pos.String(), Reason: v.Reason, Bound: v.Bound,
		Skipped: d.Skipped, Applied: d.Applied, Notices: d.Notices, Notes: d.Notes, Log: d.Log, Trace: v.Trace, TookNS: int64(d.Took),
	}
	if d.Err != nil {
		r.Error = d.Err.Error()
	}
	if !private {
		if v.Private || v.Action == rules.Continue {
			r.Reason = hidden(v.Reason)
		}
		r.Notices, r.Notes, r.Log = d.discreet(r.Notices), d.discreet(r.Notes), d.discreet(r.Log)
	}
	if d.gatherer != nil {
		row := d.gatherer.mem.row(d.Time)
		r.Row = RowRecord{
			Continuations: row.Continuations, Total: row.Total, Progress: v.Progress,
			Before: row.Progress, Same: row.Same, Elapsed: row.Elapsed, Step: row.Step,
		}
	}
	if d.noted != nil {
		r.Calls, r.Repeated = d.noted.calls, d.noted.given
	}
	for _, part := range v.Parts {
		for _, e := range part.Effects {
			if part.Private && !private {
				e.Value = hidden(fmt.Sprint(e.Value))
			}
			r.Effects = append(r.Effects, describe(e))
		}
	}
	for _, e := range v.Finally {
		r.Effects = append(r.Effects, "finally "+describe(e))
	}
	return r
}

// discreet leaves out the texts that quote what the log does not keep.
func (d *Decision) discreet(texts []string) []string {
	if len(d.quoted) == 0 {
		return texts
	}
	texts = slices.Clone(texts)
	for i, t := range texts {
		if slices.Contains(d.quoted, t) {
			texts[i] = hidden(t)
		}
	}
	return texts
}

// hidden says how much there is of a text, without showing it.
func hidden(text string) string { return fmt.Sprintf("(%d bytes)", len(text)) }

func describe(e rules.Effect) string {
	switch e.Kind {
	case rules.SetEffect:
		value, err := json.Marshal(e.Value)
		if err != nil {
			value = []byte("?")
		}
		return fmt.Sprintf("set %s %s = %s", e.File, pathText(e.Path), value)
	case rules.PruneEffect:
		return fmt.Sprintf("prune %s older than %s", e.Glob, e.Older)
	case rules.LogEffect:
		return "log"
	}
	return fmt.Sprintf("%s %s", e.Kind, e.File)
}

func pathText(path []any) string {
	s := ""
	for i, step := range path {
		switch step := step.(type) {
		case int:
			s += fmt.Sprintf("[%d]", step)
		default:
			if i > 0 {
				s += "."
			}
			s += fmt.Sprint(step)
		}
	}
	return s
}

// keep appends the decision to the log. Decisions that nobody made, because loops
// are off or the event is not the policy's, are not kept. A log that cannot be
// written is told, and does no harm.
func (l *Loop) keep(d *Decision) {
	if l.writeLog == nil || d.Skipped != "" {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			d.notice(fmt.Sprintf("the decision log: internal error: %v", r))
		}
	}()
	line, err := logLine(d.Record(l.private))
	if err == nil {
		err = l.writeLog(line)
	}
	if err != nil {
		d.notice("the decision is not in the log: " + err.Error())
	}
}

// maxTraced is of how many rules that did not hold the log keeps the operands, the
// latest ones. A policy of a thousand rules would else write more than it decides.
const maxTraced = 200

// logLine makes a line that the log takes. A policy of very many rules loses
// operands of its trace, then all but its end.
func logLine(r Record) ([]byte, error) {
	if early := len(r.Trace.Steps) - maxTraced; early > 0 {
		r.Trace.Steps = slices.Clone(r.Trace.Steps)
		for i := range r.Trace.Steps[:early] {
			if s := &r.Trace.Steps[i]; s.Outcome == rules.No {
				s.Operands = nil
			}
		}
	}
	line, err := json.Marshal(r)
	if err != nil || len(line) <= store.MaxLogLine {
		return line, err
	}
	r.Trace.Warnings = append(slices.Clone(r.Trace.Warnings), "the trace is shortened: it was too long for the log")
	r.Trace.Steps = slices.Clone(r.Trace.Steps)
	for i := range r.Trace.Steps {
		r.Trace.Steps[i].Operands = nil
	}
	if line, err = json.Marshal(r); err != nil || len(line) <= store.MaxLogLine {
		return line, err
	}
	r.Trace.Steps = r.Trace.Steps[max(0, len(r.Trace.Steps)-100):]
	return json.Marshal(r)
}
