package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/rules"
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
func (l *Loop) keepRecord(ctx context.Context, w *work, d *made, began time.Time) {
	if l.record == nil {
		return
	}
	v := d.verdict
	r := Record{
		Time: w.now, Session: w.ev.Session, Scope: l.scope, Project: l.root, Policy: d.Policy, Event: w.ev.Name,
		Outcome: d.Outcome, Rule: d.Rule, Reason: cut(d.Reason), Notice: cut(d.Notice),
		Counts: v.Memory, Took: time.Since(began),
	}
	if v.Total > 0 {
		r.Progress = fmt.Appendf(nil, `{"done":%d,"total":%d}`, v.Done, v.Total)
	}
	if v.Trace != nil {
		r.Rules, r.Facts = shortRules(v.Trace.Rules), shortFacts(v.Trace.Facts)
	}
	if _, err := guarded(func() (any, error) { return nil, l.record(ctx, r) }); err != nil {
		d.Log = append(d.Log, text.Line("the record of this decision could not be kept: "+err.Error()))
	}
}

func shortRules(list []rules.RuleTrace) []rules.RuleTrace {
	out := make([]rules.RuleTrace, len(list))
	for i, r := range list {
		operands := make([]rules.OperandTrace, len(r.Operands))
		for j, o := range r.Operands {
			values := make(map[string]any, len(o.Values))
			for name, v := range o.Values {
				values[name] = short(v)
			}
			o.Text, o.Why, o.Values = cut(o.Text), cut(text.Clean(o.Why)), values
			operands[j] = o
		}
		r.Operands = operands
		out[i] = r
	}
	return out
}

func shortFacts(list []rules.FactTrace) []rules.FactTrace {
	out := make([]rules.FactTrace, len(list))
	for i, f := range list {
		f.Problem, f.Path = cut(text.Clean(f.Problem)), cut(text.Line(f.Path))
		out[i] = f
	}
	return out
}

// short returns a value as it is recorded.
func short(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int64, float64, time.Duration:
		return v
	case string:
		return fmt.Sprintf("a text of %d characters", utf8.RuneCountInString(v))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return "a value"
}

// cut returns at most maxText bytes of a text.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}
