package loop

import "github.com/ralph-sdk/ralph/internal/jsonout"

// json is what encoding/json writes for the record, see [rules.Trace.AppendJSON].
func (r *Record) json() ([]byte, error) {
	w := jsonout.To(make([]byte, 0, usualRecord))
	w.Begin('{')
	w.Key("time")
	w.Raw(r.Time.MarshalJSON())
	w.Key("policy")
	w.Text(r.Policy)
	w.OptText("root", r.Root)
	w.OptText("host", r.Host)
	w.Key("event")
	w.Text(r.Event)
	w.OptText("session", r.Session)
	w.OptText("agent", r.Agent)
	w.OptText("turn", r.Turn)
	w.Key("action")
	w.Text(r.Action.String())
	w.OptText("rule", r.Rule)
	w.OptText("at", r.At)
	w.OptText("reason", r.Reason)
	w.OptText("bound", r.Bound)
	w.OptText("skipped", r.Skipped)
	w.OptText("error", r.Error)
	w.Key("applied")
	w.Bool(r.Applied)
	w.Key("row")
	r.Row.write(w)
	w.OptTexts("notices", r.Notices)
	w.OptTexts("notes", r.Notes)
	w.OptTexts("log", r.Log)
	w.OptTexts("effects", r.Effects)
	jsonout.OptList(w, "judges", r.Judges, func(j JudgeRecord) { w.Value(j) })
	w.Key("trace")
	w.Append(r.Trace.AppendJSON)
	if len(r.Calls) > 0 {
		w.Key("calls")
		w.Value(r.Calls)
	}
	if len(r.Repeated) > 0 {
		w.Key("repeated")
		w.Value(r.Repeated)
	}
	w.Key("took_ns")
	w.Int(r.TookNS)
	w.End('}')
	return w.Bytes()
}

// usualRecord is more than most records take, in bytes.
const usualRecord = 8 << 10

func (r *RowRecord) write(w *jsonout.Writer) {
	w.Begin('{')
	w.Key("continuations")
	w.Int(int64(r.Continuations))
	w.Key("total")
	w.Int(int64(r.Total))
	w.OptText("progress", r.Progress)
	w.OptText("before", r.Before)
	w.OptInt("same", int64(r.Same))
	w.OptInt("elapsed_ns", int64(r.Elapsed))
	w.OptInt("step_ns", int64(r.Step))
	w.End('}')
}
