package rules

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// render writes a text: its parts, each trimmed at the end, with one line end between
// them. Texts never change a decision.
func (ev *evaluation) render(t *text) string {
	if t == nil {
		return ""
	}
	parts := ev.program.compiled(t)
	rendering, at, in := ev.rendering, ev.at, ev.in
	ev.rendering, ev.at, ev.in = true, nil, t // stay where a spent budget ends the evaluation
	w := lineWriter{b: ev.buf[:0]}
	ev.buf = nil // a hole may ask a model, whose question is a text too
	for i := range parts {
		if !ev.applies(&parts[i]) {
			continue
		}
		if len(w.b) > 0 {
			w.b = append(w.b, '\n')
		}
		w.start, w.hole, w.solid = len(w.b), false, false
		whole := ev.passage(&w, parts[i].segs)
		w.b = bytes.TrimRight(w.end(), " \t\r\n") // also the line end before a part that says nothing
		if !whole {
			break
		}
	}
	ev.buf = w.b
	ev.rendering, ev.at, ev.in = rendering, at, in
	return string(ev.buf)
}

// applies reports whether a part of a text is not left out.
func (ev *evaluation) applies(p *passage) bool {
	for _, when := range p.when {
		if when == nil {
			ev.warn(public("the when of a part cannot be compiled"))
			return false
		}
		holds, state, _ := ev.truth(when)
		if state == broken {
			ev.warn(sentencef("a part is left out: %s", ev.why))
		}
		if !holds || state != known {
			return false
		}
	}
	return true
}

// passage writes a part of a text; false if the text is too long. A placeholder that
// cannot be evaluated is written as (?) and reported in the trace.
func (ev *evaluation) passage(w *lineWriter, segs []segment) bool {
	for i := range segs {
		s := &segs[i]
		switch {
		case s.literal != "":
			ev.meter.text(len(s.literal))
			w.literal(s)
		case s.broken:
			ev.warn(public("the hole ${" + s.src + "} cannot be compiled"))
			w.value("(?)")
		default:
			v, state := ev.value(s.hole)
			if state == known {
				ev.quoted = ev.quoted || ev.mark != nil
			} else {
				ev.warn(sentencef("the hole ${%s} is unknown: %s", s.src, ev.why))
				v = "(?)"
			}
			ev.meter.print(v)
			w.value(v)
		}
		if len(w.b) > maxText {
			ev.warn(public("a string is longer than " + strconv.Itoa(maxText) + " bytes and is cut"))
			w.b = append(truncate(w.b, maxText), "…"...)
			return false
		}
	}
	return true
}

// shownText renders a text for the agent or the user. A problem of a fact that it shows is
// not reported beside it.
func (ev *evaluation) shownText(t *text) string {
	ev.goesOut = true
	defer func() { ev.goesOut = false }()
	return ev.render(t)
}

// maxReason bounds a text that an agent gets, in bytes: it would fill its context. Prompts of 100 KB are in use.
const maxReason = 128 << 10

// capped is a text for the agent, cut if it is too long. Its end and a problem say so.
func (ev *evaluation) capped(r *Rule, text string) string {
	if len(text) <= maxReason {
		return text
	}
	note := fmt.Sprintf("\n\n[ralph: the rest is left out. This text has %d bytes, at most %d are sent.]", len(text), maxReason)
	ev.report(public(fmt.Sprintf("rule %s: the text for the agent is cut: it has %d bytes, at most %d are sent", r.Name, len(text), maxReason)))
	return string(truncate([]byte(text[:maxReason]), maxReason-len(note))) + note
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

func (w *lineWriter) literal(s *segment) {
	w.solid = w.solid || s.solid
	w.b = append(w.b, s.literal...)
	if strings.HasSuffix(s.literal, "\n") {
		w.b = w.end()
		w.start, w.hole, w.solid = len(w.b), false, false
	}
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
