package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsonout"
)

// appendJSON appends the memory as it is kept, one object on one line, without what
// is zero.
func (m *Memory) appendJSON(dst []byte) ([]byte, error) {
	w := jsonout.To(dst)
	w.Begin('{')
	w.OptText("turn", m.Turn)
	w.OptInt("continuations", int64(m.Continuations))
	w.OptInt("total", int64(m.Total))
	w.OptText("progress", m.Progress)
	w.OptInt("same", int64(m.Same))
	optTime(w, "since", m.Since)
	optTime(w, "latest", m.Latest)
	if len(m.Given) > 0 {
		w.Key("given")
		w.Begin('{')
		for _, rule := range slices.Sorted(maps.Keys(m.Given)) {
			w.Key(rule)
			w.Begin('[')
			for _, g := range m.Given[rule] {
				w.Begin('{')
				w.Key("at")
				w.Raw(g.At.UTC().MarshalJSON())
				w.OptText("turn", g.Turn)
				w.End('}')
			}
			w.End(']')
		}
		w.End('}')
	}
	w.End('}')
	return w.Bytes()
}

// optTime writes a time unless it is zero. Local times need the time zones of the
// system, which would be a file more to read.
func optTime(w *jsonout.Writer, name string, t time.Time) {
	if !t.IsZero() {
		w.Key(name)
		w.Raw(t.UTC().MarshalJSON())
	}
}

// parseMemory reads what appendJSON wrote. Fields that it does not know are left out.
func parseMemory(line []byte) (Memory, error) {
	var doc any
	if err := json.Unmarshal(line, &doc); err != nil {
		return Memory{}, err
	}
	f := fields{}
	f.object(doc, "the memory")
	m := Memory{
		Turn: f.text("turn"), Continuations: f.count("continuations"), Total: f.count("total"),
		Progress: f.text("progress"), Same: f.count("same"), Since: f.time("since"), Latest: f.time("latest"),
	}
	given := fields{err: f.err}
	given.object(f.of["given"], "given")
	for rule, list := range given.of {
		times, ok := list.([]any)
		given.expect(ok || list == nil, "a list", rule)
		if m.Given == nil {
			m.Given = map[string][]Given{}
		}
		m.Given[rule] = make([]Given, len(times))
		for i, doc := range times {
			g := fields{err: given.err}
			g.object(doc, rule)
			m.Given[rule][i] = Given{At: g.time("at"), Turn: g.text("turn")}
			given.err = g.err
		}
	}
	if given.err != nil {
		return Memory{}, given.err
	}
	return m, nil
}

// fields reads the fields of a decoded object. Those that are absent or null are
// zero; err is the first one that is not what it should be.
type fields struct {
	of  map[string]any
	err error
}

func (f *fields) expect(ok bool, what, name string) {
	if !ok && f.err == nil {
		f.err = fmt.Errorf("%s is not %s", name, what)
	}
}

func (f *fields) object(v any, name string) {
	of, ok := v.(map[string]any)
	f.expect(ok || v == nil, "an object", name)
	f.of = of
}

func (f *fields) text(name string) string {
	s, ok := f.of[name].(string)
	f.expect(ok || f.of[name] == nil, "text", name)
	return s
}

func (f *fields) count(name string) int {
	n, ok := f.of[name].(float64)
	f.expect((ok && n == float64(int(n))) || f.of[name] == nil, "a whole number", name)
	return int(n)
}

func (f *fields) time(name string) time.Time {
	s := f.text(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	f.expect(err == nil, "a time", name)
	return t
}
