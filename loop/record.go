package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
)

// maxText is how many bytes of a text are recorded.
const maxText = 4 << 10

// Recorder gets a record of each decision, after it is saved. An error is a line of Decision.Log; the decision stays as it is.
type Recorder func(ctx context.Context, r Record) error

// Record is what the log keeps of a decision. Texts are as they were sent, cut at 4 KiB; of the values of operands, numbers and booleans
// are kept, and of texts and lists the size.
type Record struct {
	Time     time.Time         `json:"time"`
	Session  string            `json:"session,omitempty"`
	Scope    string            `json:"scope,omitempty"`
	Project  string            `json:"project,omitempty"`
	Policy   string            `json:"policy"`
	Event    string            `json:"event"`
	Outcome  rules.Outcome     `json:"outcome"`
	Rule     string            `json:"rule,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Notice   string            `json:"notice,omitempty"`
	Rules    []rules.RuleTrace `json:"rules,omitempty"`
	Facts    []rules.FactTrace `json:"facts,omitempty"`
	Counts   rules.Memory      `json:"counts,omitzero"`
	Progress json.RawMessage   `json:"progress,omitempty"` // {"done": n, "total": n}, if the policy says so
	Took     time.Duration     `json:"took_ns"`
}

// keepRecord hands a decision to the recorder.
func (w *work) keepRecord(ctx context.Context) {
	d, v := &w.answer, &w.verdict
	if w.record == nil || w.ev.Name == prompt && d.Outcome == rules.Idle && d.Note == "" {
		return
	}
	r := Record{
		Time: w.now.UTC(), Session: w.ev.Session, Scope: w.scope, Project: w.config.root, Policy: d.Policy, Event: w.ev.Name,
		Outcome: d.Outcome, Rule: d.Rule, Reason: cut(d.Reason), Notice: cut(d.Notice),
		Counts: v.Memory, Took: time.Since(w.began),
	}
	if v.Total > 0 {
		r.Progress = fmt.Appendf(nil, `{"done":%d,"total":%d}`, v.Done, v.Total)
	}
	if v.Trace != nil {
		shorten(v.Trace)
		r.Rules, r.Facts = v.Trace.Rules, v.Trace.Facts
	}
	err := func() (err error) {
		defer caught(&err)
		return w.record(ctx, r)
	}()
	if err != nil {
		d.Log = append(d.Log, text.Line("the record of this decision could not be kept: "+err.Error()))
	}
}

// shorten makes a trace as it is recorded.
func shorten(t *rules.Trace) {
	for _, r := range t.Rules {
		for i := range r.Operands {
			o := &r.Operands[i]
			o.Text, o.Why = cut(o.Text), cut(text.Clean(o.Why))
			for name, v := range o.Values {
				switch v := v.(type) {
				case nil, bool, int, int64, float64, time.Duration:
				case string:
					o.Values[name] = fmt.Sprintf("a text of %d characters", utf8.RuneCountInString(v))
				case []any:
					o.Values[name] = fmt.Sprintf("a list of %d", len(v))
				default:
					o.Values[name] = "a value"
				}
			}
		}
	}
	for i := range t.Facts {
		f := &t.Facts[i]
		f.Problem, f.Path = cut(text.Clean(f.Problem)), cut(text.Line(f.Path))
	}
}

// cut returns at most maxText bytes of a text.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}
