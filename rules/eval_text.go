package rules

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// render writes a text. A hole that cannot be evaluated is written as (?) and
// reported in the trace: texts never change a decision.
func (ev *evaluation) render(t *text) string {
	if t == nil {
		return ""
	}
	segs := ev.program.compiled(t)
	telling, at, in := ev.telling, ev.at, ev.in
	ev.telling, ev.at, ev.in = true, nil, t // stay where a spent budget ends the evaluation
	w := lineWriter{b: ev.buf[:0]}
	ev.buf = nil // a hole may ask a model, whose question is a text too
	for i := range segs {
		s := &segs[i]
		switch {
		case s.literal != "":
			ev.meter.text(len(s.literal))
			w.literal(s.literal)
		case s.broken:
			ev.warn("the hole ${" + s.src + "} cannot be compiled")
			w.value("(?)")
		default:
			ev.quoted = ev.quoted || s.hole.private()
			v, state := ev.value(s.hole)
			if state != known {
				ev.warn("the hole ${" + s.src + "} is unknown: " + ev.why)
				v = "(?)"
			}
			ev.meter.print(v)
			w.value(v)
		}
		if len(w.b) > maxText {
			ev.warn("a text is longer than " + strconv.Itoa(maxText) + " bytes and is cut")
			w.b = append(truncate(w.b, maxText), "…"...)
			break
		}
	}
	ev.buf = w.end()
	ev.telling, ev.at, ev.in = telling, at, in
	return string(bytes.TrimRight(ev.buf, " \t\r\n"))
}

// truncate cuts b to at most n bytes and tears no character apart.
func truncate(b []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// lineWriter drops lines that held only holes which rendered to nothing.
type lineWriter struct {
	b     []byte
	start int  // of the line
	hole  bool // the line had a hole
	solid bool // the line has something to show
}

func (w *lineWriter) literal(s string) {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			break
		}
		w.text(s[:i])
		w.newline()
		s = s[i+1:]
	}
	w.text(s)
}

func (w *lineWriter) text(s string) {
	w.solid = w.solid || strings.TrimSpace(s) != ""
	w.b = append(w.b, s...)
}

func (w *lineWriter) newline() {
	if w.hole && !w.solid {
		w.b = w.b[:w.start]
	} else {
		w.b = append(w.b, '\n')
	}
	w.start, w.hole, w.solid = len(w.b), false, false
}

func (w *lineWriter) value(v any) {
	before := len(w.b)
	w.b = appendDisplay(w.b, v)
	w.hole = true
	w.solid = w.solid || len(w.b) > before
}

func (w *lineWriter) end() []byte {
	if w.hole && !w.solid {
		w.b = w.b[:w.start]
	}
	return w.b
}
