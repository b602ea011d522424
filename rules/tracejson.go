package rules

import "github.com/ralph-sdk/ralph/internal/jsonout"

// AppendJSON appends what encoding/json writes for the trace, without studying its
// type first, as a process that writes only one of them would do in vain. The error
// is that of a value that JSON cannot hold.
func (t Trace) AppendJSON(dst []byte) ([]byte, error) {
	w := jsonout.To(dst)
	w.Begin('{')
	if t.When != nil {
		w.Key("when")
		t.When.write(w)
	}
	w.Key("steps")
	if t.Steps == nil {
		w.Value(nil)
	} else {
		w.Begin('[')
		for i := range t.Steps {
			t.Steps[i].write(w)
		}
		w.End(']')
	}
	jsonout.OptList(w, "facts", t.Facts, func(f FactRead) { f.write(w) })
	jsonout.OptList(w, "inputs", t.Inputs, func(in Input) { in.write(w) })
	w.OptTexts("warnings", t.Warnings)
	w.End('}')
	return w.Bytes()
}

func (s *Step) write(w *jsonout.Writer) {
	w.Begin('{')
	w.Key("rule")
	w.Text(s.Rule)
	w.Key("outcome")
	w.Text(s.Outcome.String())
	w.OptText("because", s.Because)
	jsonout.OptList(w, "operands", s.Operands, func(o OperandStep) { o.write(w) })
	w.Key("pos")
	w.Begin('{')
	w.Key("file")
	w.Text(s.Pos.File)
	w.Key("line")
	w.Int(int64(s.Pos.Line))
	w.Key("col")
	w.Int(int64(s.Pos.Col))
	w.End('}')
	w.OptInt("took_ns", int64(s.Took))
	w.End('}')
}

func (o *OperandStep) write(w *jsonout.Writer) {
	w.Begin('{')
	w.Key("text")
	w.Text(o.Text)
	w.OptValue("value", o.Value)
	w.OptBool("unknown", o.Unknown)
	w.OptText("problem", o.Problem)
	jsonout.OptList(w, "reads", o.Reads, func(r Read) { r.write(w) })
	w.End('}')
}

func (r *Read) write(w *jsonout.Writer) {
	w.Begin('{')
	w.Key("name")
	w.Text(r.Name)
	w.OptValue("value", r.Value)
	w.OptText("state", r.State)
	w.End('}')
}

func (f *FactRead) write(w *jsonout.Writer) {
	w.Begin('{')
	w.Key("name")
	w.Text(f.Name)
	w.Key("source")
	w.Text(f.Source)
	w.Key("status")
	w.Text(f.Status.String())
	w.OptBool("defaulted", f.Defaulted)
	w.OptText("path", f.Path)
	w.OptText("problem", f.Problem)
	w.Key("took_ns")
	w.Int(int64(f.Took))
	w.End('}')
}

func (in *Input) write(w *jsonout.Writer) {
	w.Begin('{')
	w.Key("name")
	w.Text(in.Name)
	w.OptValue("value", in.Value)
	w.OptBool("cut", in.Cut)
	w.OptBool("told", in.Told)
	w.End('}')
}
